# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Steps of gpu_pull_secret on a server in memory: look up first, replace in place, show nothing."""

from __future__ import annotations

import json
import typing as t
from pathlib import Path

import pytest
from unit.engine import api_on
from unit.fake_server import status
from unit.pull_secret.builders import (
    DRIVER,
    NEW,
    OLD,
    SPACE,
    Registry,
    auths,
    params,
    pod,
    policy,
    secret,
    text,
)

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import AcceleratorError
from ansible_collections.accelerators.openshift.plugins.module_utils._pull_secret import docker_config
from ansible_collections.accelerators.openshift.plugins.module_utils._pull_secret.steps import CHECK, ensure

SECRETS: t.Final = f"/api/v1/namespaces/{SPACE}/secrets"


def content(server: Registry, name: str = "ngc") -> t.Any:
    return docker_config.read((server.secret(name) or {"data": {}})["data"])


def failed(server: Registry, **options: t.Any) -> AcceleratorError:
    with pytest.raises(AcceleratorError) as raised:
        ensure(api_on(server), params(**options))
    assert OLD not in str(raised.value.to_result())
    assert NEW not in str(raised.value.to_result())
    return raised.value


def test_the_new_one_is_tried_and_then_replaces_the_old_one() -> None:
    server = Registry(policy(), secret(OLD), pod())
    api = api_on(server)
    found = ensure(api, params())
    assert content(server) == auths(NEW)
    assert server.seen == {NEW}, "the old Secret is still there and must not answer for the new one"
    assert server.secret(CHECK) is None
    assert server.writes() == [
        ("POST", SECRETS),
        ("DELETE", f"{SECRETS}/{CHECK}"),
        ("PATCH", f"{SECRETS}/ngc"),
    ]
    (entry,) = found["pull_secrets"]
    assert (entry["action"], entry["verified"], entry["unverified"]) == ("replace", [DRIVER], [])
    assert entry["fields"] == ["ClusterPolicy gpu-cluster-policy: spec.driver.imagePullSecrets"]
    (change,) = api.changes
    assert change.after == {"registries": ["nvcr.io"], "content": "the new one"}
    assert OLD not in str(found)


def test_the_second_run_writes_nothing() -> None:
    server = Registry(policy(), secret(NEW), pod())
    api = api_on(server)
    assert ensure(api, params())["pull_secrets"][0]["action"] == "keep"
    assert (server.writes(), api.changes, api.kept) == ([], [], [f"Secret {SPACE}/ngc"])


def test_check_mode_writes_nothing_and_says_so() -> None:
    server = Registry(policy(), secret(OLD), pod())
    api = api_on(server, check_mode=True)
    found = ensure(api, params())["pull_secrets"][0]
    assert (found["action"], found["unverified"][0]["why"]) == (
        "replace",
        "check mode writes no Secret to look the images up with",
    )
    assert (server.writes(), len(api.changes), content(server)) == ([], 1, auths(OLD))


def test_what_a_registry_refuses_replaces_nothing() -> None:
    server = Registry(policy(), secret(OLD), pod(), password="of-the-registry")
    error = failed(server)
    assert (error.code, error.layer) == ("PULL-REFUSED", "registry")
    assert DRIVER in error.message
    assert (content(server), server.secret(CHECK)) == (auths(OLD), None)


def test_no_answer_is_a_warning() -> None:
    server = Registry(policy(), secret(OLD), pod(), looks_up=False)
    api = api_on(server)
    ensure(api, params())
    assert content(server) == auths(NEW)
    assert "it is not known whether the new pull secret can pull" in api.warnings[0]


def test_service_accounts_that_nobody_may_see_are_left_out() -> None:
    server = Registry(policy(), secret(OLD), pod())
    denied = status(403, "Forbidden", 'serviceaccounts is forbidden: User "u" cannot list resource')
    asked = server.request
    server.request = lambda method, url, *rest, **more: (
        denied.copy() if "serviceaccounts" in url else asked(method, url, *rest, **more)
    )
    api = api_on(server)
    ensure(api, params())
    assert content(server) == auths(NEW)
    assert f"only service accounts of {SPACE} name are left out" in str(api.warnings)


def test_what_a_killed_run_left_is_replaced() -> None:
    label = {"app.kubernetes.io/managed-by": "accelerators.openshift"}
    server = Registry(policy(), secret(OLD), pod(), secret("of-a-killed-run", name=CHECK, labels=label))
    ensure(api_on(server), params())
    assert (server.secret(CHECK), content(server)) == (None, auths(NEW))


def test_a_secret_that_is_missing_is_created() -> None:
    server = Registry(policy(), pod(waiting="ImagePullBackOff"))
    found = ensure(api_on(server), params())["pull_secrets"][0]
    assert (found["action"], found["waiting"], content(server)) == ("create", ["driver-1"], auths(NEW))


def test_a_file_is_read_on_the_controller(tmp_path: Path) -> None:
    file = tmp_path / "login.json"
    file.write_text(text(NEW))
    server = Registry(policy(), secret(OLD), pod())
    ensure(api_on(server), params(content=None, path=str(file)))
    assert content(server) == auths(NEW)


def test_a_file_that_is_missing_is_named(tmp_path: Path) -> None:
    error = failed(Registry(), content=None, path=str(tmp_path / "none.json"))
    assert (error.code, "none.json cannot be read: No such file" in error.message) == ("PULL-CONFIG", True)


REFUSED: t.Final = [
    ("PULL-NONE", [policy(driver={})], {}),
    ("PULL-UNKNOWN", [policy(), secret(OLD)], {"names": ["other"]}),
    ("PULL-DROPS", [policy(), secret(OLD, "nvcr.io", "quay.io"), pod()], {}),
    ("PULL-REGISTRY", [policy(), secret(OLD), pod()], {"content": text(NEW, "quay.io"), "drop": True}),
    ("PULL-REGISTRY", [policy(), pod()], {"content": text(NEW, "quay.io")}),
    ("PULL-TYPE", [policy(), secret(OLD) | {"type": "Opaque"}, pod()], {}),
    ("PULL-OWNER", [policy(), secret(OLD, labels={"argocd.argoproj.io/instance": "a"})], {}),
    ("PULL-CONFIG", [policy(), secret(OLD)], {"content": f"{{'auths': {NEW}}}"}),
    ("PULL-CONFIG", [policy(), secret(OLD)], {"content": json.dumps({"auths": {"nvcr.io": {}}})}),
]


@pytest.mark.parametrize(("code", "objects", "options"), REFUSED, ids=[one[0] for one in REFUSED])
def test_it_refuses_before_its_first_write(code: str, objects: list[t.Any], options: t.Any) -> None:
    server = Registry(*objects)
    error = failed(server, **options)
    assert (error.code, server.writes()) == (code, [])
    assert error.remedy


def test_a_registry_may_be_dropped_if_nothing_comes_from_it() -> None:
    server = Registry(policy(), secret(OLD, "nvcr.io", "quay.io"), pod())
    found = ensure(api_on(server), params(drop=True))["pull_secrets"][0]
    assert (found["dropped"], content(server)) == (["quay.io"], auths(NEW))


def test_one_of_several_is_chosen() -> None:
    both = policy(driver={"imagePullSecrets": ["ngc"]}, toolkit={"imagePullSecrets": ["mirror"]})
    server = Registry(both, secret(OLD), secret(OLD, "quay.io", name="mirror"), pod())
    ensure(api_on(server), params(names=[f"{SPACE}/ngc"]))
    assert (content(server), content(server, "mirror")) == (auths(NEW), auths(OLD, "quay.io"))
