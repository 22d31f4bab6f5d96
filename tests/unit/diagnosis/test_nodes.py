# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The layer of nodes: what the kubelet says, who cordoned a node, and what keeps NFD away."""

from __future__ import annotations

import typing as t

import pytest
from unit import managed
from unit.diagnosis.builders import (
    RUN,
    ago,
    calls,
    cordoned,
    found_in,
    leased,
    machine,
    node,
    result,
    roots,
    saw,
)

from ansible_collections.accelerators.openshift.plugins.module_utils._diagnosis import nodes
from ansible_collections.accelerators.openshift.plugins.module_utils._nodes import cordons, sentinel

OURS: t.Final = {cordons.MARK: cordons.FOR_DRIVER, cordons.RUN: RUN}
AWAY: t.Final = {"key": "team", "value": "a", "effect": "NoExecute"}


def test_a_node_whose_kubelet_is_down() -> None:
    one = machine("Running", nodeRef={"name": "n1"})
    one["spec"]["providerID"] = "aws:///us-east-2a/i-0123"
    (found,) = found_in(saw(nodes=[node(ready="Unknown", since=900)], machines=[one]))
    assert (found.code, found.pool, found.since) == ("GPU-NODE-NOT-READY", "train", ago(900))
    assert found.message == "Node n1 is not Ready: container runtime is down."
    assert found.evidence == (f"Node n1: the kubelet was last heard at {ago(50)}",)
    assert "`oc describe node n1`" in found.remedy
    assert "--instance-id i-0123" in found.remedy


def test_a_new_node_is_busy() -> None:
    assert result(saw(nodes=[node(ready="False", age=120)]))["diagnosis"]["healthy"]
    assert roots(saw(nodes=[node(ready="False", age=900)]))


@pytest.mark.parametrize(
    ("kind", "code"), [("DiskPressure", "GPU-NODE-DISK"), ("MemoryPressure", "GPU-NODE-PRESSURE")]
)
def test_a_node_under_pressure(kind: str, code: str) -> None:
    one = node()
    more = {"type": kind, "status": "True", "message": "too full", "lastTransitionTime": ago(70)}
    one["status"]["conditions"].append(more)
    (found,) = found_in(saw(nodes=[one]))
    assert (found.code, found.since) == (code, ago(70))
    assert found.message == f"Node n1 has {kind}: too full."
    assert "`oc describe node n1`" in found.remedy


@pytest.mark.parametrize(
    "lease", [[], [leased("other", 1)], [leased(RUN, 150)]], ids=["none", "other", "old"]
)
def test_a_cordon_that_a_killed_run_left(lease: list[dict[str, t.Any]]) -> None:
    one = cordoned(annotations=OURS)
    assert nodes.more(saw(nodes=[one])) == {nodes.LEASE: nodes.LEASE_QUERY}
    (found,) = found_in(saw(nodes=[one], lease=lease))
    assert (found.code, found.since) == ("NODE-LEFT", ago(7200))
    assert f"since {ago(7200)} by the run of root@bastion (pid 4711)" in found.message
    command = "ansible-playbook accelerators.openshift.upgrade_driver -e @FILE -e gpu_upgrade_action=resume"
    assert f"`{command}`" in found.remedy
    assert "`oc adm uncordon n1`" in found.remedy


@pytest.mark.parametrize(
    ("one", "more", "who"),
    [
        (cordoned(annotations=OURS), {"lease": [leased(RUN, 100)]}, "the run of root@bastion (pid 4711)"),
        (cordoned(annotations=OURS), {"unread": ["lease"]}, "the run of root@bastion (pid 4711)"),
        (
            cordoned(annotations={cordons.MARK: cordons.FOR_ADMIN, cordons.RUN: RUN}),
            {},
            "the run of root@bastion (pid 4711)",
        ),
        (
            cordoned(managedFields=[managed.entry("kubectl-cordon", {"unschedulable": True})]),
            {},
            "kubectl-cordon",
        ),
        (
            cordoned({"key": "ToBeDeletedByClusterAutoscaler", "effect": "NoSchedule"}),
            {},
            "the cluster autoscaler, which removes the node",
        ),
        (cordoned(), {}, "somebody whom the node does not name"),
    ],
    ids=[
        "a run that works",
        "a lease that may not be read",
        "drained by us",
        "an administrator",
        "scaler",
        "?",
    ],
)
def test_a_cordon_is_a_note(one: dict[str, t.Any], more: dict[str, t.Any], who: str) -> None:
    seen = saw(nodes=[one], **more)
    assert not found_in(seen)
    assert result(seen)["diagnosis"]["notes"] == [f"1 GPU node cordoned by {who} since {ago(7200)}: n1."]


def test_a_node_that_nvsentinel_holds() -> None:
    one = cordoned()
    one["metadata"]["labels"][sentinel.STATE] = "quarantined"
    (note,) = result(saw(nodes=[one]))["diagnosis"]["notes"]
    assert "NVSentinel (label dgxc.nvidia.com/nvsentinel-state=quarantined)" in note


def test_cordons_of_one_hand_are_one_note() -> None:
    many = [cordoned(name=f"n{one}") for one in range(40)]
    (note,) = result(saw(nodes=many))["diagnosis"]["notes"]
    assert note.startswith("40 GPU nodes cordoned by somebody")
    assert note.endswith("n0, n1, n2, n3, n4, ….")


@pytest.mark.parametrize(
    ("state", "noted"), [("drain-required", False), ("upgrade-failed", False), ("upgrade-required", True)]
)
def test_the_driver_upgrade_speaks_of_its_own_cordons(state: str, noted: bool) -> None:
    one = cordoned()
    one["metadata"]["labels"]["nvidia.com/gpu-driver-upgrade-state"] = state
    assert bool(result(saw(nodes=[one]))["diagnosis"]["notes"]) == noted


def test_a_reboot_of_a_run_that_works_is_busy() -> None:
    one = cordoned(annotations=OURS, ready="Unknown", since=90)
    assert result(saw(nodes=[one], lease=[leased(RUN, 5)]))["diagnosis"]["healthy"]
    codes = [code for code, _about in roots(saw(nodes=[one], lease=[leased(RUN, 900)]))]
    assert codes == ["GPU-NODE-NOT-READY", "NODE-LEFT"]


def worker(*tolerations: dict[str, t.Any]) -> dict[str, t.Any]:
    spec = {"tolerations": [{"operator": "Exists", "effect": "NoSchedule"}, *tolerations]}
    return {"metadata": {"name": "nfd-worker"}, "spec": {"template": {"spec": spec}}}


def bare(**more: t.Any) -> dict[str, t.Any]:
    one = node(**more)
    one["metadata"]["labels"] = {"accelerators.openshift/pool": "train"}
    return one


def test_a_taint_that_keeps_nfd_away() -> None:
    one = bare(spec={"taints": [AWAY]})
    (found,) = found_in(saw(nodes=[one], nfd_daemonsets=[worker()]))
    assert (found.code, found.node, found.pool) == ("NFD-TAINT", "n1", "train")
    assert "team=a:NoExecute" in found.message
    tolerant = worker({"key": "team", "operator": "Exists"})
    assert not found_in(saw(nodes=[one], nfd_daemonsets=[tolerant]))
    assert not found_in(saw(nodes=[node(spec={"taints": [AWAY]})], nfd_daemonsets=[worker()])), (
        "it has labels"
    )


@pytest.mark.parametrize(("age", "healthy"), [(100, True), (1e5, False)])
def test_a_gpu_node_that_nfd_has_not_labelled(age: float, healthy: bool) -> None:
    seen = saw(nodes=[node()], nodes_without_labels=[bare(name="n9", age=age)], nfd_daemonsets=[worker()])
    assert [(one.layer, one.code, one.node) for one in found_in(seen)] == [("nfd", "GPU-NFD-EMPTY", "n9")]
    assert result(seen)["diagnosis"]["healthy"] == healthy
    assert not found_in(saw(nodes=[node()], nodes_without_labels=[bare(name="n9")])), "no NFD is there"


def test_a_pool_without_nodes() -> None:
    seen = saw(nodes=[node()], machines=[machine("Running", nodeRef={"name": "n1"})], size=2)
    assert roots(seen) == [("GPU-NODES", "Pool train")]
    (found,) = found_in(seen)
    assert found.evidence[0] == "pool train: 1 of 2 nodes match accelerators.openshift/pool=train"
    assert "machine m1: Running, node n1" in found.evidence
    assert not found_in(saw(nodes=[node()], size=1))


def test_ten_times_the_nodes_in_trouble_are_ten_times_the_work() -> None:
    def work(number: int) -> int:
        many = [cordoned(name=f"n{one}", ready="False", annotations=OURS) for one in range(number)]
        seen = saw(nodes=many, lease=[leased("other", 1)])
        return calls(lambda: told.append(len([*nodes.judge(seen), *nodes.notes(seen)])))

    told: list[int] = []
    assert work(1000) < 11 * work(100)
    assert told == [2000, 200]
