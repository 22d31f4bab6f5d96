# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The service accounts of rbac.yml: each playbook works with its own, and stops without one of its rights."""

from __future__ import annotations

import stat
import typing as t
from pathlib import Path

import pytest
import yaml
from cluster import ROOT, Cluster, must_get
from documents import rights
from integration.credentials import namespaces
from integration.playbook import Playbook, Run
from integration.test_secrecy import files_with
from integration.wire import Audit

from ansible_collections.accelerators.openshift.plugins.module_utils._access import token as access_token

RBAC: t.Final = "rbac.authorization.k8s.io/v1"
HOME: t.Final = "accelerators-openshift"
POOLS: t.Final = f"-e @{ROOT / 'examples/demo.yml'}"
TEAMS: t.Final[dict[str, t.Any]] = {"gpu_rbac_namespaces": {"quota": ["team-a"]}}
Variables = dict[str, t.Any]


def name_of(playbook: str) -> str:
    return f"accelerators-openshift-{playbook.replace('_', '-')}"


class Accounts:
    """Runs each playbook with nothing but the token of its service account."""

    def __init__(self, cluster: Cluster, playbook: Playbook, folder: Path) -> None:
        self.cluster, self.playbook, self.folder = cluster, playbook, folder

    def kubeconfig(self, name: str) -> Path:
        """Write a kubeconfig with a token of the account, and return its path."""
        path = f"/api/v1/namespaces/{HOME}/serviceaccounts/{name_of(name)}/token"
        body = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}}
        status, answer = self.cluster.client.request("POST", path, body)
        assert status == 201, answer
        admin = yaml.safe_load(self.cluster.kubeconfig.read_text())
        user = {"name": "account", "user": {"token": answer["status"]["token"]}}
        context = {"cluster": admin["clusters"][0]["name"], "user": "account"}
        own = {"users": [user], "contexts": [{"name": "c", "context": context}], "current-context": "c"}
        found = self.folder / f"{name}.kubeconfig"
        found.write_text(yaml.safe_dump(admin | own))
        return found

    def run(self, name: str, as_of: str = "", **variables: t.Any) -> Run:
        """Run a playbook as the account of its name, or of another playbook."""
        connection = {"kubeconfig": str(self.kubeconfig(as_of or name))}
        pools = "" if "gpu_pools" in variables else POOLS
        return self.playbook.playbook(name, pools, gpu_cluster_connection=connection, **variables)


@pytest.fixture(scope="module")
def accounts(
    cluster: Cluster, playbook: Playbook, tmp_path_factory: pytest.TempPathFactory
) -> t.Iterator[Accounts]:
    """Give the rights. At the end take them away, and the namespaces, which `absent` leaves to the user."""
    with namespaces.taken_away(cluster):
        run = playbook.playbook("rbac", **TEAMS)
        assert run.rc == 0, run.output[-4000:]
        yield Accounts(cluster, playbook, tmp_path_factory.mktemp("accounts"))
        gone = playbook.playbook("rbac", gpu_rbac_state="absent")
        assert gone.rc == 0, gone.output[-4000:]


def test_a_second_run_sends_no_write(accounts: Accounts, playbook: Playbook, audit: Audit) -> None:
    task = playbook.module("access_grant", namespaces=TEAMS["gpu_rbac_namespaces"])
    assert (task.failed, task.changed) == (False, False)
    assert audit.writes(task) == []
    lists = [one for one in audit.of(task) if one.verb != "create"]
    assert [one.resource.partition(".")[0] for one in lists] == [
        "clusterrolebindings",
        "rolebindings",
        "clusterroles",
        "serviceaccounts",
        "namespaces",
    ]


def test_the_manifests_of_the_tarball_are_what_the_cluster_has(accounts: Accounts, cluster: Cluster) -> None:
    for page in rights.pages().values():
        for role in yaml.safe_load(page)["items"]:
            live = must_get(cluster.client, RBAC, "clusterroles", role["metadata"]["name"])
            assert live["rules"] == role["rules"]


def test_a_wrong_subject_is_refused_by_its_path(accounts: Accounts, playbook: Playbook, audit: Audit) -> None:
    run = playbook.playbook("rbac", gpu_rbac_subjects=[{"kind": "Group", "name": "system:authenticated"}])
    assert run.rc != 0
    assert run.failure["message"].startswith("gpu_rbac_subjects[0].name is system:authenticated")
    assert audit.writes(*run.tasks) == []


def test_an_account_may_not_give_rights_away(accounts: Accounts, audit: Audit) -> None:
    run = accounts.run("rbac", as_of="enable_gpus")
    assert run.rc != 0
    assert run.failure["code"] == "API-RIGHTS"
    assert f"system:serviceaccount:{HOME}:{name_of('enable_gpus')}" in run.failure["message"]
    assert audit.writes(*run.tasks) == []


def test_a_playbook_with_the_account_of_another_stops_before_its_first_write(
    accounts: Accounts, audit: Audit
) -> None:
    run = accounts.run("remove_pool", as_of="tune_nodes", gpu_pool="demo")
    assert run.failure["code"] == "API-RIGHTS"
    assert audit.writes(*run.tasks) == []


@pytest.mark.parametrize("form", ["kubeconfig", "awx"])
def test_a_token_is_in_its_file_and_nowhere_else(
    accounts: Accounts, playbook: Playbook, audit: Audit, tmp_path: Path, form: str
) -> None:
    path = tmp_path / "remove.json"
    asked = {
        "gpu_rbac_playbooks": ["remove_pool"],
        "gpu_rbac_token_playbook": "remove_pool",
        "gpu_rbac_token_file": str(path),
        "gpu_rbac_token_format": form,
    }
    run = playbook.playbook("rbac", "-vvv --diff", **asked)
    assert (run.rc, run.changed) == (0, 1), run.output[-4000:]
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    token = access_token.read(path.read_text())
    assert token not in run.output
    assert files_with(token, playbook.directory, tmp_path) == [str(path)]
    assert token not in str([one.event for one in audit.of(*run.tasks)])
    given = yaml.safe_load(path.read_text())
    if form == "awx":
        authority = tmp_path / "ca.crt"
        authority.write_text(given["ssl_ca_cert"])
        connection = {"host": given["host"], "api_key": token, "ca_cert": str(authority)}
    else:
        connection = {"kubeconfig": str(path)}
    done = playbook.playbook("remove_pool", "--check", gpu_cluster_connection=connection, gpu_pool="nobody")
    assert done.rc == 0, done.output[-4000:]
    again = playbook.playbook("rbac", **asked)
    assert (again.rc, again.changed) == (0, 0), again.output[-4000:]
    assert access_token.read(path.read_text()) == token


def tuned_pools() -> list[Variables]:
    found = yaml.safe_load((ROOT / "examples/demo.yml").read_text())["gpu_pools"]
    return [{**one, "tuning": {"profile": "accelerator"}} for one in found]


def forbidden(run: Run, audit: Audit) -> set[tuple[str, str]]:
    """Return verb and resource of each request that RBAC refused; a quota refuses some pods on purpose."""
    decision = "authorization.k8s.io/decision"
    asked = audit.of(*run.tasks)
    assert {one.event["annotations"][decision] for one in asked} >= {"allow"}
    return {(one.verb, one.resource) for one in asked if one.event["annotations"][decision] == "forbid"}


@pytest.mark.long("runs eleven playbooks; the unit tests of the table hold each row")
def test_each_playbook_works_with_its_own_account(accounts: Accounts, cluster: Cluster, audit: Audit) -> None:
    busy = {"gpu_on_busy": "drain"}
    day: list[tuple[str, str, Variables]] = [
        ("enable_gpus", "", {}),
        ("plan", "enable_gpus", {}),
        ("drift", "", {}),
        ("mirror", "", {"gpu_mirror_fail_on": "never"}),
        ("tune_nodes", "", {"gpu_pools": tuned_pools()}),
        ("preflight_update", "", {"gpu_update_version": "4.20.99", "gpu_update_fail_on": "never"}),
        ("resize_pool", "", {"gpu_pool": "demo", "gpu_replicas": 1, **busy}),
        ("repair_node", "", {}),
        ("replace_node", "", busy),
        ("remove_pool", "", {"gpu_pool": "demo", **busy}),
        ("remove_gpus", "", {"gpu_node_pool_on_busy": "drain"}),
        ("remove_gpus", "", {}),
    ]
    for name, as_of, variables in day:
        if name in ("replace_node", "repair_node"):
            machines = cluster.client.list(
                "machine.openshift.io/v1beta1", "machines", "openshift-machine-api"
            )
            ours = [one["metadata"]["name"] for one in machines if "demo" in one["metadata"]["name"]]
            variables = {**variables, "gpu_node": ours[0]}
        run = accounts.run(name, as_of=as_of, **variables)
        assert run.rc == 0, f"{name}: {run.output[-4000:]}"
        assert forbidden(run, audit) == set(), name
    assert audit.writes(*run.tasks) == []
