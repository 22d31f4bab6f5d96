# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Login with user name and password: one login a task, as that user; every task revokes its token."""

from __future__ import annotations

import socket
import time
import typing as t

import pytest
from cluster import Cluster
from integration.oauth_login import OAuth
from integration.patience import SECONDS, at_best, until
from integration.playbook import Data, Playbook
from integration.wire import Audit

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import (
    ApiError,
    CredentialsError,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._frame import module
from ansible_collections.accelerators.openshift.plugins.module_utils._kube import credentials_package
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.kinds import known
from openshift_sandbox.client import Client

REMEMBERED: t.Final = 10.0  # seconds for which an API server caches a token's review
MAP: t.Final = {
    "apiVersion": "v1",
    "kind": "ConfigMap",
    "metadata": {"name": "login", "namespace": "default"},
    "data": {"a": "b"},
}
HELD: t.Final = {"name": "login-held", "namespace": "default"}
NODES: t.Final = "query('accelerators.openshift.gpu_nodes', 'none', **credentials)"


@pytest.fixture(scope="module")
def oauth(cluster: Cluster) -> OAuth:
    return OAuth(cluster.needs_sandbox())


@pytest.fixture
def held(cluster: Cluster) -> t.Iterator[Data]:
    """Create an object of the collection whose finalizer holds its deletion up; yield its manifest."""
    marks = {
        "labels": {"app.kubernetes.io/managed-by": "accelerators.openshift"},
        "finalizers": ["accelerators.test/hold"],
    }
    as_ours = Client(cluster.kubeconfig, "accelerators.openshift")
    as_ours.create({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {**HELD, **marks}})
    yield {"apiVersion": "v1", "kind": "ConfigMap", "metadata": HELD}
    cluster.client.patch(
        "v1", "configmaps", HELD["name"], HELD["namespace"], {"metadata": {"finalizers": None}}
    )


def manifests(obj: Data, **more: t.Any) -> Data:
    return {"accelerators.openshift.manifests": {"objects": [obj], **more}}


def test_the_endpoint_is_like_the_real_one(oauth: OAuth) -> None:
    assert oauth.log_in(password="wrong") == 401
    assert oauth.log_in(password="") == 401
    token = str(oauth.log_in("developer"))
    assert token.startswith("sha256~")
    # The API server itself must accept the token, not only the endpoint in front of it.
    answer = oauth.request("GET", "/api/v1/nodes", token, oauth.sandbox.url)
    assert (answer.status, 'User \\"developer\\" cannot list' in answer.data.decode()) == (403, True)
    assert oauth.log_out(token) == 200
    assert oauth.log_out(token) == 401
    refused = "a revoked token that is no longer believed"
    assert until(
        lambda: oauth.request("GET", "/api/v1/nodes", token, oauth.sandbox.url).status == 401,
        refused,
        REMEMBERED + SECONDS,
    )


def test_every_task_logs_in_as_the_user_and_leaves_no_token(
    oauth: OAuth, playbook: Playbook, audit: Audit, cluster: Cluster, held: Data, in_process: bool
) -> None:
    run = playbook.tasks(
        manifests(MAP),
        {**manifests({**MAP, "kind": "Nonsense"}), "ignore_errors": True},
        {**manifests(held, state="absent", wait_timeout=2), "ignore_errors": True},
        manifests(MAP, state="absent"),
        in_process=in_process,
        defaults={**oauth.options()},
    )
    assert run.rc == 0, run.output
    written, unknown, waited, removed = run.tasks
    assert (written.changed, removed.changed) == (True, True)
    assert (unknown.failed, unknown["code"]) == (True, "API-KIND-NOT-SERVED"), unknown.result
    assert (waited.failed, waited["code"]) == (True, "WAIT-DELETE"), waited.result
    assert not any(task.result.get("warnings") for task in run.tasks)
    assert {request.user for task in run.tasks for request in audit.of(task)} == {"kube:admin"}
    assert cluster.client.get("v1", "configmaps", "login", "default") is None
    assert oauth.others() == []


def test_a_lookup_leaves_no_token(oauth: OAuth, playbook: Playbook) -> None:
    debug = {
        "ansible.builtin.debug": {"msg": "{{ " + NODES + " }}"},
        "vars": {"credentials": oauth.options()},
    }
    run = playbook.tasks(debug)
    assert (run.rc, run.tasks[-1]["msg"]) == (0, []), run.output
    assert oauth.others() == []


def test_from_the_environment(
    oauth: OAuth, playbook: Playbook, audit: Audit, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = oauth.options()
    for name in ("host", "username", "password"):
        monkeypatch.setenv(f"K8S_AUTH_{name.upper()}", options[name])
    run = playbook.tasks(
        manifests(MAP),
        manifests(MAP, state="absent"),
        defaults={"ca_cert": options["ca_cert"]},
    )
    assert run.rc == 0, run.output
    assert {request.user for task in run.tasks for request in audit.of(task)} == {"kube:admin"}
    assert oauth.others() == []


def test_a_wrong_password_is_told_without_it(oauth: OAuth, playbook: Playbook) -> None:
    run = playbook.tasks(manifests(MAP), defaults={**oauth.options(), "password": "pass-that-is-wrong"})
    assert run.failure["code"] == "CRED-LOGIN"
    assert "did not accept the user kubeadmin" in run.failure["message"]
    assert run.failure["remedy"] == "Check username and password."
    assert "pass-that-is-wrong" not in run.output


def test_who_may_nothing_is_told_so_and_leaves_no_token(oauth: OAuth, playbook: Playbook) -> None:
    run = playbook.tasks(manifests(MAP), defaults={**oauth.options("developer")})
    assert run.failure["code"] == "API-FORBIDDEN"
    assert 'User "developer" cannot' in run.failure["message"]
    assert oauth.others("developer") == []


def test_an_api_server_without_a_login(oauth: OAuth, playbook: Playbook) -> None:
    run = playbook.tasks(manifests(MAP), defaults={**oauth.options(), "host": oauth.sandbox.url})
    assert run.failure["code"] == "CRED-NO-PASSWORD"
    assert "cannot log in with a password" in run.failure["message"]


@pytest.mark.parametrize("patience", [30.0, 1.5])
def test_an_endpoint_that_is_silent_is_not_waited_for_beyond_the_tasks_time(
    monkeypatch: pytest.MonkeyPatch, patience: float
) -> None:
    """Limit the last of several tries to the task's time too."""
    monkeypatch.setattr(credentials_package, "_LOGIN_SECONDS", patience)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        params = {
            "host": f"https://127.0.0.1:{silent.getsockname()[1]}",
            "username": "joe",
            "password": "pass-of-joe",
            "wait_timeout": 2,
        }

        def taken() -> float:
            started = time.monotonic()
            with pytest.raises(ApiError) as caught:
                module.connect(params, "login").list(known("Node"))
            assert caught.value.code == "API-UNREACHABLE"
            return time.monotonic() - started

        assert at_best(taken, 3) <= 3


def test_an_authority_that_did_not_sign_the_endpoint(oauth: OAuth) -> None:
    api = module.connect({**oauth.options(), "ca_cert": "", "wait_timeout": 20}, "login")
    with pytest.raises(CredentialsError, match="cannot be trusted") as caught:
        api.list(known("Node"))
    assert caught.value.code == "API-TLS-INGRESS"
