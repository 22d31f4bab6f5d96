"""Steps of the gate for new nodes, on an API server in memory."""

from __future__ import annotations

import json
import typing as t

import pytest
from unit.fake_server import FakeServer
from unit.workload.builders import params
from unit.workload.test_steps import World

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import NotReadyError
from ansible_collections.accelerators.openshift.plugins.module_utils._core.ownership import POOL
from ansible_collections.accelerators.openshift.plugins.module_utils._nodes import startup
from ansible_collections.accelerators.openshift.plugins.module_utils._nodes.taints import STARTUP_TAINT
from ansible_collections.accelerators.openshift.plugins.module_utils._workload import (
    gate,
    namespace,
    removal_steps,
    steps,
)

IMAGE: t.Final = "quay.io/openshift-release-dev/ocp-v4.0-art-dev@sha256:0a"
KINDS: t.Final = (
    *("ImageStream", "Role", "RoleBinding", "ClusterRole", "ClusterRoleBinding", "MachineSet"),
    *namespace.KINDS,
)
PLACES: t.Final = ("gpu-validation", "openshift-machine-api")


class Gated(World):
    """A cluster whose nodes gpu-0 and gpu-1 are of the pool a; gpu-0 is new and closed."""

    def __init__(self) -> None:
        super().__init__()
        self.server.served |= FakeServer(*KINDS).served
        tags = [{"tag": "latest", "items": [{"dockerImageReference": IMAGE}]}]
        stream = {"metadata": {"name": "cli", "namespace": "openshift"}, "status": {"tags": tags}}
        self.server.put({"apiVersion": "image.openshift.io/v1", "kind": "ImageStream", **stream})
        place = {"name": "m0", "namespace": "openshift-machine-api"}
        machine = {"metadata": place, "spec": {"taints": [dict(STARTUP_TAINT)]}}
        self.server.put({"apiVersion": "machine.openshift.io/v1beta1", "kind": "Machine", **machine})
        for name in ("a", "b"):
            metadata = {"name": name, "namespace": "openshift-machine-api", "labels": {POOL: name}}
            machine_set = {"apiVersion": "machine.openshift.io/v1beta1", "kind": "MachineSet"}
            self.server.put({**machine_set, "metadata": metadata})
        for node in self.of("nodes"):
            node["metadata"]["labels"][POOL] = "a"
        node = self.node()
        node["metadata"]["annotations"] = {startup.LINK: "openshift-machine-api/m0"}
        node["spec"] = {"taints": [dict(STARTUP_TAINT)]}
        failed = {"type": startup.CONDITION, "status": "False", "reason": "Failed", "message": "x"}
        node["status"]["conditions"] = [failed]

    def of(self, plural: str) -> list[dict[str, t.Any]]:
        return [one for key, one in self.server.objects.items() if key[1] == plural]

    def node(self) -> dict[str, t.Any]:
        return next(one for one in self.of("nodes") if one["metadata"]["name"] == "gpu-0")

    def data(self) -> dict[str, str]:
        maps = [one for one in self.of("configmaps") if one["metadata"]["name"] == gate.NAME]
        return maps[0]["data"] if maps else {}

    def gate_objects(self) -> list[str]:
        return sorted(key[1] for key in self.server.objects if key[3] == gate.NAME)


def pool(name: str = "a", is_gated: bool = True, **more: t.Any) -> dict[str, t.Any]:
    expected = {"nvidia.com/gpu": 1}
    return {
        "name": name,
        "node_selector": {POOL: name},
        "expected": expected,
        "min_nodes": 0,
        **({"gate": True} if is_gated else {}),
        **more,
    }


def test_a_run_brings_the_gate_with_least_rights_and_writes_it_once() -> None:
    world = Gated()
    steps.present(world.api(), params(pools=[pool()], node_selector=None))
    assert world.gate_objects() == [
        *("clusterrolebindings", "clusterroles", "configmaps", "cronjobs"),
        *("rolebindings", "rolebindings", "roles", "roles", "serviceaccounts"),
    ]
    rights = {
        (one["metadata"].get("namespace", ""), resource): rule["verbs"]
        for one in [*world.of("roles"), *world.of("clusterroles")]
        for rule in one["rules"]
        for resource in rule["resources"]
    }
    assert rights == {
        ("gpu-validation", "pods"): ["get", "list", "create", "delete"],
        ("gpu-validation", "pods/log"): ["get"],
        ("openshift-machine-api", "machines"): ["get", "patch"],
        ("", "nodes"): ["get", "list", "patch"],
        ("", "nodes/status"): ["get", "patch"],
    }
    (cron,) = world.of("cronjobs")
    spec = cron["spec"]["jobTemplate"]["spec"]["template"]["spec"]
    assert spec["containers"][0]["image"] == IMAGE
    assert (cron["spec"]["concurrencyPolicy"], spec["serviceAccountName"]) == ("Forbid", gate.NAME)
    before = len(world.server.writes())
    steps.present(world.api(), params(pools=[pool()], node_selector=None))
    assert len(world.server.writes()) == before


def test_a_run_opens_a_node_that_passes_and_its_machine_first() -> None:
    world = Gated()
    steps.present(world.api(), params(pools=[pool()], node_selector=None))
    assert world.node()["spec"]["taints"] == []
    (machine,) = world.of("machines")
    assert machine["spec"]["taints"] == []
    (condition,) = world.node()["status"]["conditions"]
    assert condition["status"] == "True", "a health check must not replace a node that passed"
    patched = [path.rpartition("/")[2] for method, path in world.server.writes() if method == "PATCH"]
    assert patched.index("m0") < patched.index("gpu-0")


def test_a_closed_node_is_validated_though_it_passed_before() -> None:
    world = Gated()
    steps.present(world.api(), params(pools=[pool()], node_selector=None))
    world.node()["spec"]["taints"] = [dict(STARTUP_TAINT)]
    again = steps.present(world.api(), params(pools=[pool()], node_selector=None))
    assert again["workload"]["due"] == ["gpu-0"]
    assert world.node()["spec"]["taints"] == []


def test_pools_of_another_run_keep_their_gate_and_a_pool_without_one_leaves_it() -> None:
    world = Gated()
    steps.present(world.api(), params(pools=[pool(), pool("b")], node_selector=None))
    steps.present(world.api(), params(pools=[pool(is_gated=False)], node_selector=None))
    assert {key.partition(".")[0] for key in world.data()} == {"b", "gate"}
    steps.present(world.api(), params(pools=[pool("b", is_gated=False)], node_selector=None))
    assert world.gate_objects() == []


def test_a_pool_that_was_removed_leaves_the_gate_with_the_next_run() -> None:
    world = Gated()
    steps.present(world.api(), params(pools=[pool(), pool("b")], node_selector=None))
    gone = next(key for key in world.server.objects if key[1] == "machinesets" and key[3] == "b")
    del world.server.objects[gone]
    steps.present(world.api(), params(pools=[pool()], node_selector=None))
    assert {key.partition(".")[0] for key in world.data()} == {"a", "gate"}


def test_nodes_of_two_instance_types_have_an_entry_each() -> None:
    world, kind = Gated(), "node.kubernetes.io/instance-type"
    small = pool(node_selector={POOL: "a", kind: "small"}, programs=["vectoradd", "matmul"])
    large = pool(node_selector={POOL: "a", kind: "large"}, expected={"nvidia.com/gpu": 8})
    steps.present(world.api(), params(pools=[small, large], node_selector=None))
    data = world.data()
    assert (data["a.0.devices"], data["a.1.devices"]) == ("nvidia.com/gpu 1\n", "nvidia.com/gpu 8\n")
    assert data["a.1.selector"] == f"{POOL}=a,{kind}=large"
    limits = [
        json.loads(data[f"a.1.{file}"])["spec"]["containers"][0]["resources"]["limits"]["nvidia.com/gpu"]
        for file in ("pod", "share")
    ]
    assert list(map(int, limits)) == [8, 1], "a device plugin that shares may refuse two"
    assert "a.2.selector" not in data


def test_a_cluster_that_names_no_image_is_told() -> None:
    world = Gated()
    world.of("imagestreams")[0]["status"] = {}
    with pytest.raises(NotReadyError) as caught:
        steps.present(world.api(), params(pools=[pool()], node_selector=None))
    assert caught.value.code == "WORK-GATE-IMAGE"
    steps.present(world.api(), params(pools=[pool()], node_selector=None, gate_image="mirror/cli:1"))
    (cron,) = world.of("cronjobs")
    assert cron["spec"]["jobTemplate"]["spec"]["template"]["spec"]["containers"][0]["image"] == "mirror/cli:1"


def test_a_removal_takes_all_of_it_and_leaves_the_gate_of_other_pools() -> None:
    world = Gated()
    pools = [pool(), pool("b")]
    steps.present(world.api(), params(pools=pools, node_selector=None))
    removal_steps.absent(world.api(), params(pools=[pools[1]], node_selector=None))
    assert {key.partition(".")[0] for key in world.data()} == {"a", "gate"}
    removal_steps.absent(world.api(), params(pools=[pools[0]], node_selector=None))
    assert world.gate_objects() == []


def test_a_gate_of_others_stays() -> None:
    world = Gated()
    steps.present(world.api(), params(pools=[pool()], node_selector=None))
    for one in world.of("clusterroles"):
        one["metadata"]["labels"] = {}
        one["metadata"].pop("managedFields", None)
    removal_steps.absent(world.api(), params(pools=[pool()], node_selector=None))
    assert world.gate_objects() == ["clusterroles"]
