"""Removal of validations on an API server in memory: what is deleted, and what stays."""

from __future__ import annotations

import typing as t

import pytest
from unit.engine import api_on
from unit.fake_server import FakeServer
from unit.workload.builders import params
from unit.workload.test_steps import OURS, THEIRS, World

from ansible_collections.accelerators.openshift.plugins.module_utils._core.objects import KubeObject
from ansible_collections.accelerators.openshift.plugins.module_utils._core.ownership import (
    MANAGED_BY,
    pool_label,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._workload import (
    fingerprints,
    namespace,
    removal_steps,
    steps,
)


class Used(World):
    """A cluster on which a validation has run."""

    def __init__(self) -> None:
        super().__init__()
        more = FakeServer(*namespace.KINDS)
        self.server.served |= more.served
        steps.present(self.api(), params())
        self.server.requests.clear()

    def put(self, kind: str, name: str, api_version: str = "v1", **metadata: t.Any) -> None:
        place = {"name": name, "namespace": "gpu-validation", **metadata}
        self.server.put({"apiVersion": api_version, "kind": kind, "metadata": place})

    def left(self) -> list[str]:
        return sorted(f"{key[1]} {key[3]}" for key in self.server.objects if key[1] not in USUAL)


USUAL: t.Final = ("nodes", "serviceaccounts")


def test_a_namespace_of_validations_alone_is_deleted() -> None:
    world = Used()
    world.put("ConfigMap", "kube-root-ca.crt")
    api = world.api()
    removal_steps.absent(api, params())
    assert "namespaces gpu-validation" not in world.left()
    assert api.warnings == []


def test_the_priority_class_of_idle_nodes_goes_with_the_namespace() -> None:
    world = Used()
    steps.present(world.api(), params(idle=True))
    assert "priorityclasses gpu-idle" in world.left()
    removal_steps.absent(world.api(), params())
    assert "priorityclasses gpu-idle" not in world.left()


@pytest.mark.parametrize(
    ("kind", "api_version"),
    [("Deployment", "apps/v1"), ("Secret", "v1"), ("PersistentVolumeClaim", "v1"), ("CronJob", "batch/v1")],
)
def test_a_namespace_that_holds_anything_of_others_stays(kind: str, api_version: str) -> None:
    world = Used()
    world.put(kind, "theirs", api_version)
    api = world.api()
    removal_steps.absent(api, params())
    assert "namespaces gpu-validation" in world.left()
    assert not any(one.startswith("configmaps") for one in world.left()), "the fingerprints are ours"
    (warning,) = api.warnings
    assert f"({kind} theirs)" in warning


def test_nodes_of_a_pool_that_stays_keep_the_namespace_and_their_fingerprints() -> None:
    world = Used()
    for key, one in world.server.objects.items():
        if key[1] == "nodes":
            one["metadata"]["labels"]["pool"] = "b" if key[3] == "gpu-1" else "a"
    api = world.api()
    removal_steps.absent(api, params(node_selector=None, pools=[{"node_selector": {"pool": "a"}}]))
    assert world.left() == ["configmaps gpu-validation-fingerprints", "namespaces gpu-validation"]
    assert api.warnings == [
        "Namespace gpu-validation stays, because it remembers the validation of 1 node in no pool of this "
        "removal (gpu-1)."
    ]
    again = steps.present(world.api(), params(node_selector={"pool": "b"}))
    assert again["workload"]["due"] == []
    assert steps.present(world.api(check_mode=True), params())["workload"]["due"] == ["gpu-0"]


@pytest.mark.parametrize("gone", ["gpu-0", "gpu-1"])
def test_the_removal_of_the_last_pool_with_nodes_deletes_the_namespace(gone: str) -> None:
    world = Used()
    (key,) = [key for key in world.server.objects if key[1] == "nodes" and key[3] == gone]
    del world.server.objects[key]
    removal_steps.absent(world.api(), params(node_selector=None, pools=[{"node_selector": {"pool": "a"}}]))
    assert "namespaces gpu-validation" not in world.left()


def test_a_node_of_the_pool_that_its_validation_does_not_select_goes_with_the_pool() -> None:
    world = Used()
    for key, one in world.server.objects.items():
        if key[1] == "nodes":
            one["metadata"]["labels"] |= pool_label("training") | {"type": key[3]}
    pool = {"name": "training", "node_selector": {"pool": "a", "type": "gpu-0"}}
    removal_steps.absent(world.api(), params(node_selector=None, pools=[pool]))
    assert "namespaces gpu-validation" not in world.left()


def test_a_file_without_validations_keeps_those_of_others_and_a_task_without_pools_keeps_none() -> None:
    world = Used()
    removal_steps.absent(world.api(), params(node_selector=None, pools=[]))
    assert world.left() == ["configmaps gpu-validation-fingerprints", "namespaces gpu-validation"]
    removal_steps.absent(world.api(), params(node_selector=None, pools=None))
    assert "namespaces gpu-validation" not in world.left()


def test_the_proofs_of_the_pools_of_the_task_are_forgotten() -> None:
    world = Used()
    data = {"training": "1", "inference": "2"}
    world.api().apply(fingerprints.proofs("gpu-validation", data))
    pool = {"name": "training", "node_selector": {"pool": "none"}}
    removal_steps.absent(world.api(), params(node_selector=None, pools=[pool]))
    (left,) = [one for key, one in world.server.objects.items() if key[3] == fingerprints.PROOFS]
    assert left["data"] == {"inference": "2"}
    world.server.requests.clear()
    removal_steps.absent(world.api(), params(node_selector=None, pools=[pool]))
    assert world.server.writes() == []


def test_the_proofs_go_with_the_last_validation() -> None:
    world = Used()
    world.api().apply(fingerprints.proofs("gpu-validation", {}))
    world.put("Secret", "theirs")
    removal_steps.absent(world.api(), params())
    assert "configmaps gpu-sharing-proof" not in world.left()


def test_a_namespace_with_pods_of_a_run_that_lives_stays_with_them() -> None:
    world = Used()
    world.leave("theirs", THEIRS)
    world.leave("left", OURS)
    api = world.api()
    removal_steps.absent(api, params())
    assert world.left() == ["namespaces gpu-validation", "pods theirs"]
    assert "Pod theirs of the validation of eva@laptop" in api.warnings[0]


def test_a_team_namespace_with_the_old_label_survives_and_keeps_its_quota() -> None:
    world = Used()
    labels = {"labels": MANAGED_BY}
    team: KubeObject = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "team-a", **labels}}
    world.server.put(team)
    world.server.put(
        {
            "apiVersion": "v1",
            "kind": "ResourceQuota",
            "metadata": {"name": "gpu-quota", "namespace": "team-a", **labels},
        }
    )
    removal_steps.absent(world.api(), params(namespace="team-a"))
    assert {"namespaces team-a", "resourcequotas gpu-quota"} <= set(world.left())
    world.server.requests.clear()
    steps.present(world.api(check_mode=True), params(namespace="team-a"))
    assert "PATCH" not in [
        method for method, path, _query in world.server.requests if path.endswith("team-a")
    ]


def test_a_namespace_that_does_not_exist_costs_one_request() -> None:
    server = FakeServer("Namespace", "Pod")
    removal_steps.absent(api_on(server), params())
    assert [method for method, _path, _query in server.requests] == ["GET"]
