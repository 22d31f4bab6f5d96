# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""special_resource, backend nicclusterpolicy, on bare metal with Ethernet and InfiniBand adapters."""

from __future__ import annotations

import typing as t

import pytest
from cluster import Cluster, must_get
from integration.direct import judge
from integration.patience import until
from integration.playbook import Playbook

from openshift_sandbox import faults

Data = dict[str, t.Any]
SCENARIO: t.Final = "rdma"
pytestmark = pytest.mark.long("network adapters beside the GPUs, which only some clusters ask for")
OPERATORS: t.Final = {"nfd": "openshift-nfd", "nvidia-network-operator": "nvidia-network-operator"}

BACKEND: t.Final = "nicclusterpolicy"
API: t.Final = "mellanox.com/v1alpha1"
NAME: t.Final = "nic-cluster-policy"
ETHERNET: t.Final[Data] = {
    "name": "ethernet",
    "node_selector": {"rdma": "ethernet"},
    "expected": {"rdma/rdma_a": 63},
}
INFINIBAND: t.Final[Data] = {
    "name": "infiniband",
    "node_selector": {"rdma": "infiniband"},
    "expected": {"rdma/rdma_a": 63},
}
NICS: t.Final[Data] = {"ofed_driver": {}, "rdma_shared_device_plugin": {"resources": [{"name": "rdma_a"}]}}
WANTED: t.Final[Data] = {
    "backend": BACKEND,
    "nic_cluster_policy": NICS,
    "pools": [ETHERNET, INFINIBAND],
    "grace": 5,
    "wait_timeout": 90,
}


STAGES: t.Final = [
    "catalogue",
    "install plan",
    "csv",
    "crd",
    "nfd labels",
    "driver",
    "device plugin",
    "secondary",
    "allocatable",
]


def stage(found: t.Any, name: str) -> Data:
    return next(one for one in found["special_resource"]["stages"] if one["name"] == name)


def behind(found: t.Any) -> dict[str, tuple[str, str]]:
    """Return verdict and cause of each stage that is not ready."""
    return {
        one["name"]: (one["verdict"], one["consequence_of"])
        for one in found["special_resource"]["stages"]
        if one["verdict"] != "ready"
    }


def pools(found: t.Any) -> dict[str, bool]:
    return {one["name"]: one["ready"] for one in found["special_resource"]["pools"]}


def test_what_is_returned(cluster: Cluster, playbook: Playbook) -> None:
    made = playbook.module("special_resource", **WANTED)
    assert not made.failed, made.result
    found = made["special_resource"]
    assert (found["state"], found["reason"], found["rebuild"]) == ("ready", "AllComponentsReady", [])
    assert {one["name"]: one["state"] for one in found["components"]} == {
        "OFED": "ready",
        "RDMA-device-plugin": "ready",
    }
    assert [(one["pool"], one["allocatable"], one["driver_loaded"]) for one in found["nodes"]] == [
        ("ethernet", {"rdma/rdma_a": 63}, True),
        ("infiniband", {"rdma/rdma_a": 63}, True),
    ]
    assert [(one["name"], one["verdict"]) for one in found["stages"]] == [(name, "ready") for name in STAGES]
    assert found["table"] == [f"ready: {', '.join(STAGES)}"]
    assert pools(made) == {"ethernet": True, "infiniband": True}
    spec = must_get(cluster.client, API, "nicclusterpolicies", NAME)["spec"]
    assert spec["ofedDriver"]["repository"] == "nvcr.io/nvidia/mellanox"


def test_a_driver_that_is_not_built_is_named_with_its_log(cluster: Cluster, playbook: Playbook) -> None:
    """Break the driver build on one node while the NicClusterPolicy says ready."""
    sandbox = cluster.needs_sandbox()
    removed = playbook.module("special_resource", backend=BACKEND, state="absent")
    assert not removed.failed, removed.result
    faults.add(sandbox, "nic_driver_build", {"node": "worker-1"})
    faults.add(sandbox, "nicclusterpolicy_lies", {})
    try:
        found = playbook.module("special_resource", **WANTED)
        faults.clear(sandbox, "nicclusterpolicy_lies", {})
        until(
            lambda: must_get(cluster.client, API, "nicclusterpolicies", NAME)["status"]["state"] != "ready",
            "the policy says so now",
        )
        other = judge(cluster, **WANTED | {"pools": [INFINIBAND]})
    finally:
        faults.clear(sandbox, "nic_driver_build", {})
        faults.clear(sandbox, "nicclusterpolicy_lies", {})
    assert (found["code"], found["special_resource"]["state"]) == ("NIC-DRV-BUILD", "ready")
    assert "worker-1" in found["msg"]
    assert ".driver-ready" in found["msg"]
    assert "startup_probe" in found["remedy"]
    assert behind(found) == {
        "driver": ("failed", ""),
        "device plugin": ("waiting", "driver"),
        "allocatable": ("waiting", "driver"),
    }
    assert [
        (one["node"], one["verdict"]) for one in stage(found, "driver")["nodes"] if one["verdict"] == "failed"
    ] == [("worker-1", "failed")]
    assert stage(found, "csv")["since"]
    assert found["special_resource"]["table"][-1] == "device plugin, allocatable wait for driver"
    # The broken node is now outside the pools, and the NicClusterPolicy still waits for it.
    assert not other.get("failed"), other
    assert pools(other) == {"infiniband": True}
    assert [one["name"] for one in other["special_resource"]["others"]] == ["worker-1"]
    assert "for nodes outside the pools alone: worker-1" in other["warnings"][0]
    healed = playbook.module("special_resource", **WANTED)
    assert not healed.failed, healed.result


def test_a_driver_that_a_node_policy_brings(cluster: Cluster, playbook: Playbook) -> None:
    """The plugin of the cluster's policy waits for a driver that another object brings to its nodes."""
    removed = playbook.module("special_resource", backend=BACKEND, state="absent")
    assert not removed.failed, removed.result
    driver = {"image": "doca-driver", "repository": "nvcr.io/nvidia/mellanox"}
    theirs: Data = {
        "apiVersion": API,
        "kind": "NicNodePolicy",
        "metadata": {"name": "ib"},
        "spec": {"nodeSelector": {"rdma": "infiniband"}, "ofedDriver": driver},
    }
    cluster.client.apply(theirs)
    plugin = {key: NICS[key] for key in ("rdma_shared_device_plugin",)}
    wanted = WANTED | {"nic_cluster_policy": plugin, "pools": [INFINIBAND]}
    try:
        refused = playbook.module("special_resource", **WANTED)
        written = cluster.client.get(API, "nicclusterpolicies", NAME)
        broken = playbook.module("special_resource", **wanted)
        cluster.client.apply(
            theirs | {"spec": theirs["spec"] | {"ofedDriver": driver | {"version": "doca3.5"}}}
        )
        made = playbook.module("special_resource", **wanted)
        again = playbook.module("special_resource", **wanted)
    finally:
        playbook.module("special_resource", backend=BACKEND, state="absent")
        cluster.client.delete(API, "nicnodepolicies", "ib")
    assert (refused["code"], written) == ("NIC-TWICE", None)
    assert "nic_cluster_policy.ofed_driver: NicNodePolicy ib has ofedDriver" in refused["msg"]
    assert broken["code"] == "NIC-STATE"
    assert "NicNodePolicy ib is not ready: state error: " in broken["msg"]
    assert "version is required" in broken["msg"]
    assert not made.failed, made.result
    found = made["special_resource"]
    assert [(one["pool"], one["driver_loaded"]) for one in found["nodes"]] == [("infiniband", True)]
    assert "OFED" in {one["name"] for one in found["components"]}
    assert (again["changed"], again["special_resource"]["ends"]) == (False, [])


def test_the_role_in_the_whole_chain(cluster: Cluster, playbook: Playbook) -> None:
    """Run the role with the installed operator, then remove both; this test must be the file's last."""
    assert not playbook.module("special_resource", backend=BACKEND, state="absent").failed
    ethernet = {"node_selector": {"rdma": "ethernet"}, "expected": {"nvidia.com/gpu": 4}}
    plan = [{"name": "ethernet", "existing": ethernet}]
    given: Data = {
        "gpu_pools": plan,
        "nvidia_network_operator_nic_cluster_policy": NICS,
        "nvidia_network_operator_grace": 5,
    }
    made = playbook.playbook("enable_gpus", "--tags", "nvidia_network_operator", **given)
    assert (made.rc, made.changed) == (0, 1), made.output[-3000:]
    again = playbook.playbook("enable_gpus", "--tags", "nvidia_network_operator", **given)
    assert (again.rc, again.changed) == (0, 0), again.output[-3000:]
    infiniband = {"node_selector": {"rdma": "infiniband"}, "expected": {"nvidia.com/gpu": 8}}

    def offered() -> bool:
        (node,) = cluster.client.list("v1", "nodes", labels="rdma=infiniband")
        return any(key.startswith("rdma/") for key in node["status"]["allocatable"])

    until(offered, "the node in no pool offers its devices")
    kept = playbook.playbook("remove_gpus", "--tags", "nvidia_network_operator", **given)
    assert (kept.rc, kept.changed) == (0, 0), kept.output[-3000:]
    (shown,) = [one["msg"] for one in kept.tasks if one.name.startswith("Show what goes, what stays")]
    assert "1 node in no pool of this removal" in " ".join(shown)
    given["gpu_pools"] = [*plan, {"name": "infiniband", "existing": infiniband}]
    removed = playbook.playbook("remove_gpus", "--tags", "nvidia_network_operator", **given)
    assert (removed.rc, removed.changed) == (0, 2), removed.output[-3000:]
    assert cluster.client.list(API, "nicclusterpolicies") == []
    subscriptions = ("operators.coreos.com/v1alpha1", "subscriptions", "nvidia-network-operator")
    assert cluster.client.list(*subscriptions) == []
