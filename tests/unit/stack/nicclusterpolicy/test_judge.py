# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Judge the stack of network adapters: a ready policy proves nothing."""

from __future__ import annotations

import pytest
from unit.stack.nicclusterpolicy.builders import (
    POOL,
    Data,
    crashing,
    node,
    offering,
    pod,
    stages,
    tainted,
    unlabelled,
    verdict,
    world,
)

from ansible_collections.accelerators.openshift.plugins.module_utils._stack.nicclusterpolicy import (
    judge as nic_judge,
    node as nic_node,
)


def test_all_is_well() -> None:
    assert verdict(world()).is_ready


# The policy says ready in each of them.
@pytest.mark.parametrize(
    ("changes", "code", "said"),
    [
        ({"nodes": [unlabelled()]}, "NIC-LABEL", "pci-15b3.present is missing"),
        ({"daemonsets": []}, "NIC-DRV", "no NIC driver's DaemonSet is made for its kernel"),
        ({"pods": [pod("mofed", False)]}, "NIC-DRV", "the NIC driver is not Ready"),
        ({"pods": [crashing(), pod("rdma-shared-dp-ds")]}, "NIC-DRV-CRASH", "CrashLoopBackOff"),
        ({"nodes": [node(**{nic_node.UPGRADE: "cordon-required"})]}, "NIC-UPG", "cordon-required"),
        ({"pods": [pod("mofed")]}, "NIC-OPERAND", "rdma-shared-dp-ds has no pod"),
        ({"nodes": [offering(0)]}, "NIC-ALLOC", "offers 0 of at least 1 rdma/rdma_a"),
        ({"nodes": [tainted()]}, "NIC-TAINT", "dedicated:NoSchedule"),
        ({"nodes": []}, "GPU-NODES", "0 of 1"),
        ({"policies": []}, "NIC-STATE", "not there yet"),
    ],
)
def test_a_ready_policy_proves_nothing(changes: dict[str, list[Data]], code: str, said: str) -> None:
    found = verdict(world(**changes), grace=60)
    assert (found.verdict, found.code) == ("pending", code)
    assert said in found.message


def outdated(*, automatic: bool, state: str = "") -> dict[str, list[Data]]:
    """A NIC driver's pod of an older revision, on a node with this state of the upgrade."""
    owner = {"kind": "DaemonSet", "name": "mofed", "uid": "mofed"}
    newest = {"labels": {"controller-revision-hash": "new"}, "ownerReferences": [owner]}
    found = world(revisions=[{"metadata": newest, "revision": 2}])
    found["policies"][0]["spec"]["ofedDriver"]["upgradePolicy"] = {"autoUpgrade": automatic}
    if state:
        found["nodes"] = [node(**{nic_node.UPGRADE: state})]
    return found


@pytest.mark.parametrize(
    ("snapshot", "code", "remedy"),
    [
        (outdated(automatic=False), "NIC-DRV-OUTDATED", "Set ofed_driver.upgrade_policy to"),
        (outdated(automatic=True), "NIC-UPG", "oc logs"),
        (outdated(automatic=True, state="pod-restart-required"), "NIC-UPG", "oc adm drain"),
        (outdated(automatic=True, state="upgrade-failed"), "NIC-UPG", "oc get pdb -A"),
        (world(nodes=[node(**{nic_node.UPGRADE: "upgrade-failed"})]), "NIC-UPG", "oc get pods"),
    ],
)
def test_an_old_driver_waits_for_its_upgrade_unless_there_is_none(
    snapshot: dict[str, list[Data]], code: str, remedy: str
) -> None:
    found = verdict(snapshot, grace=60)
    assert (found.code, remedy in found.remedy) == (code, True)
    if code == "NIC-DRV-OUTDATED":
        assert "upgrade-required" not in found.remedy


def test_a_pools_expectation_is_exact() -> None:
    assert verdict(world(), pools=[POOL | {"expected": {"rdma/rdma_a": 63, "nvidia.com/gpu": 8}}]).is_ready
    assert "63 of 64" in verdict(world(), pools=[POOL | {"expected": {"rdma/rdma_a": 64}}]).message


def test_a_gpu_driver_that_is_older_than_the_nic_driver() -> None:
    new, old = pod("mofed"), pod("gpu")
    new["metadata"] |= {"labels": {nic_node.DRIVER: ""}, "creationTimestamp": "2026-11-21T10:00:00Z"}
    old["metadata"]["creationTimestamp"] = "2026-11-21T09:00:00Z"
    assert nic_judge.outlived({"n1", "n2"}, [new], [old]) == ["n1"]
    assert nic_judge.outlived({"n1"}, [pod("mofed")], [old]) == [], "no NIC driver runs there"
    old["metadata"]["creationTimestamp"] = "2026-11-21T11:00:00Z"
    assert nic_judge.outlived({"n1"}, [new], [old]) == []


def test_what_the_operator_still_runs_is_left() -> None:
    assert nic_judge.judge_gone({"daemonsets": []}).reason == "Gone"
    left = nic_judge.judge_gone(world())
    assert (left.code, left.reason, left.is_ready) == ("GPU-LEFT", "Leaving", False)
    assert left.message.startswith("DaemonSets ")
    assert "mofed, rdma-shared-dp-ds" in left.message


def node_policy(**selector: str) -> Data:
    return {
        "kind": "NicNodePolicy",
        "metadata": {"name": "ib", "uid": "nnp", "generation": 1},
        "spec": {"ofedDriver": {"image": "doca-driver", "version": "doca3.6.0"}, "nodeSelector": selector},
        "status": {"state": "ready"},
    }


def of_nodes(**status: str) -> dict[str, list[Data]]:
    """A driver that a NicNodePolicy brings to the node, beside the plugin of the cluster's policy."""
    found = world(node_policies=[node_policy(pool="ib")])
    found["node_policies"][0]["status"] |= status
    del found["policies"][0]["spec"]["ofedDriver"]
    found["daemonsets"][0]["metadata"]["ownerReferences"] = [
        {"kind": "NicNodePolicy", "name": "ib", "uid": "nnp"}
    ]
    return found


def test_the_driver_of_a_node_policy_is_judged_as_that_of_the_clusters_policy() -> None:
    assert verdict(of_nodes()).is_ready
    broken = verdict({**of_nodes(), "pods": [crashing(), pod("rdma-shared-dp-ds")]}, grace=60)
    assert broken.code == "NIC-DRV-CRASH"
    absent = verdict({**of_nodes(), "daemonsets": of_nodes()["daemonsets"][1:]}, grace=60)
    assert "no NIC driver's DaemonSet is made for its kernel" in absent.message
    elsewhere = verdict({**of_nodes(), "node_policies": [node_policy(pool="other")]})
    assert elsewhere.is_ready, "no policy has a driver for this node"


def test_a_node_policy_that_is_not_ready_is_named() -> None:
    found = verdict(of_nodes(state="error", reason="policies overlap on nodes: n1"))
    assert (found.verdict, found.code) == ("pending", "NIC-STATE")
    assert found.message == ("NicNodePolicy ib is not ready: state error: policies overlap on nodes: n1.")
    old = of_nodes()
    old["daemonsets"][0]["spec"]["template"]["spec"]["containers"] = [
        {"name": "mofed-container", "image": "nvcr.io/nvidia/mellanox/doca-driver:doca3.5.0"}
    ]
    assert "NicNodePolicy ib is not ready: it is not applied yet to mofed" in verdict(old).message


NEWER: Data = {
    "metadata": {
        "labels": {"controller-revision-hash": "b"},
        "ownerReferences": [{"kind": "DaemonSet", "uid": "mofed"}],
    },
    "revision": 2,
}


BEHIND: Data = {"device plugin": ("waiting", "driver"), "allocatable": ("waiting", "driver")}


def test_ready_before_the_new_version_reached_its_daemonset() -> None:
    """The operator compares no generations."""
    old = world()
    old["daemonsets"][0]["spec"]["template"]["spec"]["containers"] = [
        {"name": "mofed-container", "image": "nvcr.io/nvidia/mellanox/doca-driver:doca3.4.0"}
    ]
    assert "version doca3.5.0" in verdict(old).message
    driver = old["daemonsets"][0]
    named = [{**driver, "metadata": driver["metadata"] | {"name": f"mofed-{number}"}} for number in range(4)]
    assert verdict(old | {"daemonsets": [*old["daemonsets"], *named]}).message.count("(version") == 3
    assert [verdict(one).reason for one in (old, world(policies=[]))] == ["Rollout", "NoPolicy"]
    assert stages(old) == {"crd": ("pending", "")}
