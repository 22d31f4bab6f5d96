# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Rollout: pools, nodes and budgets that stop it, pods that it ends."""

from __future__ import annotations

import pytest

from ansible_collections.accelerators.openshift.plugins.module_utils._core.objects import KubeObject
from ansible_collections.accelerators.openshift.plugins.module_utils._core.ownership import POOL
from ansible_collections.accelerators.openshift.plugins.module_utils._core.run import Run
from ansible_collections.accelerators.openshift.plugins.module_utils._tuning import paused
from ansible_collections.accelerators.openshift.plugins.module_utils._tuning.machine_config import ROLLOUT
from ansible_collections.accelerators.openshift.plugins.module_utils._update import rollout
from ansible_collections.accelerators.openshift.plugins.module_utils._update.check import worst
from ansible_collections.accelerators.openshift.plugins.module_utils._upgrade import node_driver


def pool(paused: bool = False, machines: int = 3, **conditions: str) -> KubeObject:
    listed = [{"type": kind, "status": status, "message": "because"} for kind, status in conditions.items()]
    return {
        "metadata": {"name": "worker"},
        "spec": {"paused": paused},
        "status": {"machineCount": machines, "conditions": listed},
    }


@pytest.mark.parametrize(
    ("live", "verdict"),
    [
        (pool(), "ok"),
        (pool(paused=True), "blocking"),
        (pool(paused=True, machines=0), "ok"),
        (pool(Updating="True"), "blocking"),
        (pool(NodeDegraded="True"), "blocking"),
        (pool(Updated="True", Degraded="False"), "ok"),
    ],
)
def test_machine_config_pools(live: KubeObject, verdict: str) -> None:
    assert worst(rollout.pools([live])) == verdict


def test_a_pool_that_waits_for_the_update_by_our_hand_stops_nothing() -> None:
    live = pool(paused=True)
    live["metadata"]["annotations"] = {paused.UPDATE: "4.22.9"}
    assert worst(rollout.pools([live])) == "ok"


def test_a_pool_that_a_killed_tuning_left_is_named_with_its_run() -> None:
    live = pool(paused=True)
    live["metadata"] |= {"annotations": {ROLLOUT: "root|bastion|boot|4711|9|"}, "labels": {POOL: "training"}}
    (found,) = rollout.pools([live])
    assert found.verdict == "blocking"
    assert "by the run of root@bastion (pid 4711)" in found.message
    assert "accelerators.openshift.tune_nodes -e @FILE" in found.remedy


def pod(
    name: str, owner: str = "ReplicaSet", gpu: bool = False, data: bool = False, node: str = "gpu-0"
) -> KubeObject:
    limits = {"nvidia.com/gpu": "1"} if gpu else {}
    metadata = {
        "name": name,
        "namespace": "n",
        **({"ownerReferences": [{"kind": owner, "controller": True}]} if owner else {}),
    }
    spec = {
        "nodeName": node,
        "containers": [{"resources": {"limits": limits}}],
        "volumes": [{"emptyDir": {}}] if data else [],
    }
    return {"metadata": metadata, "spec": spec, "status": {"phase": "Running"}}


def budget(allowed: int, expected: int, desired: int) -> KubeObject:
    status = {
        "disruptionsAllowed": allowed,
        "expectedPods": expected,
        "desiredHealthy": desired,
        "currentHealthy": expected,
    }
    return {"metadata": {"name": "b", "namespace": "n"}, "spec": {}, "status": status}


@pytest.mark.parametrize(
    ("live", "pods", "verdict"),
    [
        (budget(1, 2, 1), [pod("a")], "ok"),
        (budget(0, 1, 1), [pod("a")], "blocking"),
        (budget(0, 1, 1), [], "ok"),
        (budget(0, 1, 1), [pod("a", node="")], "ok"),
        (budget(0, 3, 2), [pod("a")], "warning"),
        (budget(0, 0, 1), [pod("a")], "ok"),
    ],
)
def test_disruption_budgets(live: KubeObject, pods: list[KubeObject], verdict: str) -> None:
    assert worst(rollout.budgets([live], lambda _budget: pods)) == verdict


def test_what_a_drain_by_the_machine_config_operator_ends() -> None:
    check = rollout.workloads(
        [pod("job", gpu=True, data=True), pod("alone", owner=""), pod("set", owner="DaemonSet", gpu=True)]
    )
    assert check.verdict == "warning"
    assert check.evidence == (
        "n/alone on gpu-0: has no owner that creates it again",
        "n/job on gpu-0: emptyDir",
        "n/job on gpu-0: uses GPUs",
    )
    assert rollout.workloads([pod("web"), pod("set", owner="DaemonSet", gpu=True)]).verdict == "ok"


@pytest.mark.parametrize(
    ("selector", "expected"),
    [
        (None, None),
        ({}, ""),
        ({"matchLabels": {"b": "2", "a": "1"}}, "a=1,b=2"),
        (
            {
                "matchExpressions": [
                    {"key": "a", "operator": "In", "values": ["1", "2"]},
                    {"key": "b", "operator": "DoesNotExist"},
                ]
            },
            "a in (1,2),!b",
        ),
    ],
)
def test_a_budgets_selector_as_a_query(selector: KubeObject | None, expected: str | None) -> None:
    assert rollout.selector({"spec": {} if selector is None else {"selector": selector}}) == expected


def test_gpu_nodes_that_somebody_is_at_work_on() -> None:
    node: KubeObject = {
        "metadata": {"name": "gpu-0", "labels": {"nvidia.com/gpu-driver-upgrade-state": "upgrade-failed"}},
        "spec": {"unschedulable": True},
    }
    check = rollout.nodes([node])
    assert (check.verdict, check.evidence) == (
        "warning",
        ("gpu-0 is cordoned", "gpu-0: the driver upgrade is at upgrade-failed"),
    )
    assert rollout.nodes([{"metadata": {"name": "a"}, "spec": {}}]).verdict == "ok"


def test_a_node_that_a_driver_upgrade_of_ours_holds_back_names_the_run() -> None:
    meta: KubeObject = node_driver.hold(Run("jo", "bastion", "m", 4711, "1"))["metadata"]
    check = rollout.nodes([{"metadata": {"name": "gpu-0", **meta}, "spec": {}}])
    assert check.evidence[0].startswith("gpu-0: the driver upgrade of jo@bastion (pid 4711) since 20")
    assert "gpu_upgrade_action=resume" in check.remedy
