# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""special_resource, backend nicclusterpolicy, on bare metal with Ethernet and InfiniBand adapters."""

from __future__ import annotations

import typing as t

import pytest
from cluster import Cluster, must_get
from integration.direct import before_the_operator, judge
from integration.patience import until
from integration.playbook import Playbook
from integration.twelve_steps import Case, Walks
from integration.wire import Audit

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
FEWER: t.Final[Data] = {
    "ofed_driver": {},
    "rdma_shared_device_plugin": {"resources": [{"name": "rdma_a", "hca_max": 10}]},
}
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


def test_without_the_operator_the_first_stage_says_so(cluster: Cluster) -> None:
    before_the_operator(cluster, "nvidia-network-operator", **WANTED | {"wait_timeout": 10})


FEWER_POOLS: t.Final = [one | {"expected": {"rdma/rdma_a": 10}} for one in (ETHERNET, INFINIBAND)]
STEPS: t.Final = Case(
    "special_resource",
    WANTED,
    WANTED | {"nic_cluster_policy": FEWER, "pools": FEWER_POOLS},
    {"backend": BACKEND, "state": "absent"},
)


def test_twelve_steps(walks: Walks) -> None:
    walks.check(STEPS, in_process=True)


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
    assert found["lines"] == [f"ready: {', '.join(STAGES)}"]
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
    assert found["special_resource"]["lines"][-1] == "device plugin, allocatable wait for driver"
    # The broken node is now outside the pools, and the NicClusterPolicy still waits for it.
    assert not other.get("failed"), other
    assert pools(other) == {"infiniband": True}
    assert [one["name"] for one in other["special_resource"]["others"]] == ["worker-1"]
    assert "for nodes outside the pools alone: worker-1" in other["warnings"][0]
    healed = playbook.module("special_resource", **WANTED)
    assert not healed.failed, healed.result


def test_a_node_without_the_label_is_told_to_have_it(cluster: Cluster, playbook: Playbook) -> None:
    found = playbook.module(
        "special_resource",
        **WANTED
        | {"pools": [ETHERNET, {"name": "plain", "node_selector": {"node-role.kubernetes.io/master": ""}}]},
    )
    assert found["code"] == "NIC-LABEL"
    assert "0200 misses InfiniBand" in found["remedy"]


def test_ready_although_a_node_offers_nothing(cluster: Cluster) -> None:
    """Give the plugin selectors that match no device: the operator does not check and says ready."""
    only = {
        "ofed_driver": {},
        "rdma_shared_device_plugin": {"resources": [{"name": "rdma_a", "device_ids": ["ffff"]}]},
    }
    found = judge(cluster, **WANTED | {"nic_cluster_policy": only, "pools": [ETHERNET], "grace": 3})
    assert (found["code"], found["special_resource"]["state"]) == ("NIC-ALLOC", "ready")
    assert behind(found) == {"allocatable": ("failed", "")}
    assert "it offers 0 of 63 rdma/rdma_a" in found["special_resource"]["lines"][-1]
    assert "device_ids" in found["remedy"]
    healed = judge(cluster, **WANTED)
    assert not healed.get("failed"), healed


def test_ready_although_a_node_may_have_no_pod(cluster: Cluster) -> None:
    """Taint a node: a DaemonSet does not count nodes whose taints it does not tolerate."""
    taint = {"key": "example.com/maintenance", "value": "disks", "effect": "NoSchedule"}
    cluster.client.patch("v1", "nodes", "worker-2", None, {"spec": {"taints": [taint]}})
    try:
        found = judge(cluster, **WANTED | {"wait_timeout": 2})
    finally:
        cluster.client.patch("v1", "nodes", "worker-2", None, {"spec": {"taints": None}})
    assert (found["code"], found["special_resource"]["state"]) == ("NIC-TAINT", "ready")
    assert behind(found) == {"driver": ("pending", "")}
    assert [one["node"] for one in stage(found, "driver")["nodes"]] == ["worker-2"]
    assert pools(found) == {"ethernet": True, "infiniband": False}


def create_theirs(cluster: Cluster) -> None:
    """Create a policy that is not ours, with an older driver."""
    driver = {"image": "doca-driver", "repository": "nvcr.io/nvidia/mellanox", "version": "doca3.4.0"}
    policy = {"apiVersion": API, "kind": "NicClusterPolicy", "metadata": {"name": NAME}}
    cluster.client.create({**policy, "spec": {"ofedDriver": driver}})


def test_somebody_elses_policy_is_reported_then_taken(
    cluster: Cluster, playbook: Playbook, audit: Audit
) -> None:
    removed = playbook.module("special_resource", backend=BACKEND, state="absent")
    assert not removed.failed, removed.result
    create_theirs(cluster)
    driver: Data = WANTED | {"nic_cluster_policy": {"ofed_driver": {}}, "pools": [ETHERNET, INFINIBAND]}
    reported = playbook.module("special_resource", **driver)
    assert (reported.changed, audit.writes(reported)) == (False, [])
    assert [one["path"] for one in reported["special_resource"]["differs"]] == ["spec.ofedDriver.version"]
    # The operator replaces a driver only with autoUpgrade, which the policy gets only in the last task.
    sandbox = cluster.needs_sandbox()
    faults.add(sandbox, "nicclusterpolicy_lies", {})
    taken = playbook.module("special_resource", **driver, adopt="take")
    faults.clear(sandbox, "nicclusterpolicy_lies", {})
    assert (taken.changed, taken["code"], taken["special_resource"]["state"]) == (
        True,
        "NIC-DRV-OUTDATED",
        "ready",
    )
    assert {one["state"] for one in taken["special_resource"]["components"]} == {"ready"}
    assert behind(taken) == {"driver": ("failed", "")}
    assert stage(taken, "driver")["since"]
    assert "autoUpgrade: true" in taken["remedy"]
    upgraded = playbook.module(
        "special_resource",
        **driver | {"nic_cluster_policy": {"ofed_driver": {"upgrade_policy": {"autoUpgrade": True}}}},
        adopt="take",
    )
    assert not upgraded.failed, upgraded.result
    assert not any(node["spec"].get("unschedulable") for node in cluster.client.list("v1", "nodes"))
    kept = playbook.module("special_resource", backend=BACKEND, state="absent")
    assert (kept.changed, kept.failed) == (False, False)
    live = must_get(cluster.client, API, "nicclusterpolicies", NAME)
    assert live["spec"]["ofedDriver"]["version"].startswith("doca3.5.0")
    assert "app.kubernetes.io/managed-by" not in (live["metadata"].get("labels") or {})
    cluster.client.delete(API, "nicclusterpolicies", NAME)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"name": "mine"}, "the operator ignores every NicClusterPolicy but"),
        (
            {"nic_cluster_policy": {"nv_ipam": {}, "sriov_device_plugin": {"resources": [{"name": "a-b"}]}}},
            "resources[0].name",
        ),
        ({"mig": {"strategy": "single"}}, "mig belongs to backend"),
    ],
)
def test_bad_input_sends_no_request(playbook: Playbook, audit: Audit, options: Data, said: str) -> None:
    found = playbook.module("special_resource", **WANTED | options)
    assert found.failed
    assert said in found["msg"]
    assert audit.of(found) == []


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
