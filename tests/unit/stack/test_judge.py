# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What all judges share: a line for each node, and when nothing of a stack is left."""

from __future__ import annotations

import typing as t
from dataclasses import replace

import pytest
from unit.stack.builders import POOL, Snapshot, node
from unit.stack.clusterpolicy.troubles import (
    Clock,
    crash,
    judge,
    lose_label,
    no_daemonset,
    no_devices,
    no_image,
    plugin_crash,
    status,
)

from ansible_collections.accelerators.openshift.plugins.module_utils._core.codes.registry import CODES
from ansible_collections.accelerators.openshift.plugins.module_utils._core.readiness import worst
from ansible_collections.accelerators.openshift.plugins.module_utils._stack import judge as stack_judge
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.backend import OPTIONS, choose
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.clusterpolicy import (
    judge as clusterpolicy_judge,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.dra import judge as dra_judge
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.judge import (
    ROLLOUT,
    GoOn,
    hold_for_others,
    judge_gone,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.kmm import judge as kmm_judge
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.nicclusterpolicy import (
    judge as nic_judge,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.nvidiadriver import (
    judge as nvidiadriver_judge,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.stages import Finding


def test_consequences_stand_in_one_line(seen: Snapshot) -> None:
    for one in seen["pods"]:
        one["status"]["conditions"] = [{"type": "Ready", "status": "False"}]
    assert judge(seen).details == ("gpu-0: driver is not Ready, 6 operands wait for it",)


def test_a_node_has_one_line_that_changes_only_with_what_it_waits_for(seen: Snapshot) -> None:
    """What was not made yet and what is not Ready yet both wait for the driver.

    The exporter that waits for nobody does not count.
    """
    node(seen)["metadata"]["name"] = "gpu-0.example.com"
    for one in seen["pods"]:
        one["spec"]["nodeName"] = "gpu-0.example.com"
        one["status"]["conditions"] = [{"type": "Ready", "status": "False"}]
    no_devices(seen)
    status(seen, "notReady", "OperandNotReady")
    expected = ("gpu-0…: driver is not Ready, 6 operands wait for it; nvidia.com/gpu 0 of 4",)
    assert judge(seen).details == expected
    no_daemonset(seen)
    assert judge(seen).details == expected
    next(one for one in seen["pods"] if "node-status-exporter" in one["metadata"]["name"])["status"][
        "conditions"
    ] = [{"type": "Ready", "status": "True"}]
    assert judge(seen).details == expected


def test_every_code_that_may_pass_is_registered() -> None:
    judges = (clusterpolicy_judge, dra_judge, nic_judge, nvidiadriver_judge)
    found = {code for of_stack in judges for code in of_stack.PASSING} | set(clusterpolicy_judge.DOUBTFUL)
    found |= {*stack_judge.SLOW, *stack_judge.OF_OPERANDS}
    assert found | {*kmm_judge._PASSING, *kmm_judge._LAST, *kmm_judge._OF_CODE} <= set(CODES)


def test_the_package_of_each_operator_is_asked_for() -> None:
    found = {kmm_judge.PACKAGE, *(one.CHAIN.package for one in (clusterpolicy_judge, dra_judge, nic_judge))}
    assert clusterpolicy_judge.RDMA_CHAIN.package == clusterpolicy_judge.CHAIN.package
    assert found == {"gpu-operator", "nvidia-network-operator", "kernel-module-management"}


# Stage -> pods whose logs say why it is not ready.
LOGS: t.Final = [
    (clusterpolicy_judge, "crd", "gpu-operator-6c"),
    (clusterpolicy_judge, "nfd labels", "gpu-operator-6c"),
    (clusterpolicy_judge, "driver", "nvidia-driver-x nvidia-gpu-driver-x nvidia-vgpu-manager-x"),
    (clusterpolicy_judge, "driver", "nvidia-vfio-manager-x"),
    (clusterpolicy_judge, "gpudirect", "nvidia-driver-daemonset-9 nvidia-gpu-driver-rhel9"),
    (clusterpolicy_judge, "toolkit", "nvidia-container-toolkit-daemonset-x"),
    (clusterpolicy_judge, "device plugin", "nvidia-device-plugin-x nvidia-sandbox-device-plugin-x"),
    (clusterpolicy_judge, "validator", "nvidia-operator-validator-x nvidia-sandbox-validator-x"),
    (clusterpolicy_judge, "metrics", "nvidia-dcgm-exporter-x"),
    (clusterpolicy_judge, "allocatable", "nvidia-mig-manager-x nvidia-vgpu-device-manager-x"),
    (clusterpolicy_judge, "validator", "nvidia-device-plugin-x nvidia-vfio-manager-x"),
    (clusterpolicy_judge, "allocatable", "nvidia-device-plugin-x"),
    (dra_judge, "crd", "gpu-operator-6c"),
    (dra_judge, "dra driver", "nvidia-dra-driver-kubelet-plugin-x"),
    (dra_judge, "allocatable", "nvidia-dra-driver-kubelet-plugin-x"),
    (dra_judge, "nfd labels", "gpu-operator-6c"),
    (dra_judge, "driver", "nvidia-gpu-driver-rhel9"),
    (dra_judge, "validator", "nvidia-dra-validator-x nvidia-dra-driver-kubelet-plugin-x"),
    (dra_judge, "metrics", "nvidia-dcgm-exporter-dra-x"),
    (nic_judge, "crd", "nvidia-network-operator-controller-manager-x"),
    (nic_judge, "nfd labels", "nvidia-network-operator-controller-manager-x"),
    (nic_judge, "driver", "mofed-rhcos4-x"),
    (nic_judge, "device plugin", "rdma-shared-dp-ds-x network-operator-sriov-device-plugin-x"),
    (nic_judge, "allocatable", "rdma-shared-dp-ds-x network-operator-sriov-device-plugin-x"),
    (nic_judge, "secondary", "nv-ipam-node-x nic-feature-discovery-ds-x"),
]


@pytest.mark.parametrize(("judge", "stage", "pods"), LOGS)
def test_pods_whose_logs_say_why_a_stage_is_not_ready(judge: t.Any, stage: str, pods: str) -> None:
    assert [pod for pod in pods.split() if not pod.startswith(judge.PODS[stage])] == []


def test_absence_means_no_operand_and_no_pod(seen: Snapshot) -> None:
    assert judge_gone({"daemonsets": [], "pods": []}).reason == "Gone"
    left = judge_gone({"daemonsets": [], "pods": seen["pods"]})
    assert (left.code, left.reason) == ("GPU-LEFT", "Leaving")
    gone = [judge_gone({"daemonsets": [], "pods": seen["pods"][:number]}) for number in (5, 6)]
    five = ", ".join(f"pod/{one['metadata']['name']}" for one in seen["pods"][:5])
    assert [verdict.details for verdict in gone] == [(f"5 left: {five}",), (f"6 left: {five}, …",)]
    assert judge_gone(seen).message.startswith("Operands ")
    assert not judge_gone({"daemonsets": seen["daemonsets"], "pods": []}).is_ready
    theirs = {"metadata": {"name": "theirs"}, "spec": {"template": {"spec": {}}}}
    assert judge_gone({"daemonsets": [theirs], "pods": []}).is_ready


def asked(**more: t.Any) -> dict[str, t.Any]:
    """Options as a user gives them who sets only these."""
    given = {"backend": "clusterpolicy", "state": "present", "pools": [POOL], "spec": {}}
    return dict.fromkeys(OPTIONS) | given | more


def verdict_after(seen: Snapshot, seconds: float, **more: t.Any) -> str:
    clock = Clock()
    judging = clusterpolicy_judge.Judge(choose(asked(**more))[1], clock)
    judging(seen)
    clock.now = seconds
    return judging(seen).verdict


@pytest.mark.parametrize("change", [crash, plugin_crash, no_image])
def test_a_crash_and_an_image_have_five_minutes_unless_a_time_is_set(
    seen: Snapshot, change: t.Callable[[Snapshot], None]
) -> None:
    change(seen)
    assert [verdict_after(seen, seconds) for seconds in (299, 300)] == ["pending", "failed"]
    assert verdict_after(seen, 5, grace=5) == "failed"


def test_a_label_has_a_minute(seen: Snapshot) -> None:
    lose_label(seen)
    assert [verdict_after(seen, seconds) for seconds in (59, 60)] == ["pending", "failed"]


def test_tolerations_with_the_same_meaning_are_the_same() -> None:
    plain = {"key": "a", "effect": "NoSchedule"}
    assert clusterpolicy_judge._plain(plain) == clusterpolicy_judge._plain({**plain, "operator": "Equal"})
    assert clusterpolicy_judge._plain(plain) != clusterpolicy_judge._plain({"key": "a"})


FAILED: t.Final = Finding("failed", "Crash", "Node a-0: driver crashes.", "GPU-DRV-CRASH", pool="a")
LATE: t.Final = Finding("pending", "Starts", "Node b-0: driver starts.", "GPU-OPERAND", pool="b")
SHARED: t.Final = Finding("failed", "Gone", "The operator is gone.", "GPU-CP-ABSENT")
STATUS: t.Final = Finding("pending", "NotReady", "It is notReady.", "GPU-CP-NOT-READY", waits=True)
AT_WORK: t.Final = Finding("pending", ROLLOUT, "The operator is at work.", "GPU-CP-NOT-READY")


@pytest.mark.parametrize("open_now", [LATE, AT_WORK])
def test_a_failed_pool_waits_for_those_that_are_not_ready_yet(open_now: Finding) -> None:
    found = [FAILED, open_now, STATUS]
    verdict = hold_for_others(worst(found), found)
    assert (verdict.verdict, verdict.code) == ("pending", open_now.code)
    assert verdict.message == f"{open_now.message} Failed already: pool a."


UPDATING: t.Final = Finding("pending", "Updating", "Node g-0 is updated.", "GPU-NODE-UPDATING", pool="g")


@pytest.mark.parametrize("open_now", [LATE, AT_WORK])
def test_a_pool_that_was_given_up_waits_for_those_that_are_not_ready_yet(open_now: Finding) -> None:
    found = [UPDATING, open_now]
    verdict = hold_for_others(worst(found), found, given_up=["g"])
    assert (verdict.verdict, verdict.code) == ("pending", open_now.code)


def test_a_pool_that_was_given_up_does_not_delay_the_end() -> None:
    found = [STATUS, UPDATING]
    assert hold_for_others(worst(found), found) == worst(found)
    verdict = hold_for_others(worst(found), found, given_up=["g"])
    assert (verdict.verdict, verdict.code) == ("failed", "GPU-NODE-UPDATING")
    both = [FAILED, UPDATING]
    assert hold_for_others(worst(both), both, given_up=["g"]) == worst(both)


def test_the_others_have_to_be_ready_for_a_while_before_a_pool_that_was_given_up_ends_the_wait() -> None:
    now = [0.0]
    go_on = GoOn(["g"], 5.0, lambda: now[0])

    def verdict(*findings: Finding) -> str:
        return go_on(worst(findings), findings).verdict

    assert verdict(UPDATING) == "pending"
    now[0] = 4.0
    assert verdict(UPDATING, LATE) == "pending"
    now[0] = 6.0
    assert verdict(UPDATING) == "pending"
    now[0] = 11.0
    assert verdict(UPDATING) == "failed"


def test_a_pool_that_was_given_up_and_is_ready_counts_as_ready() -> None:
    found = [replace(UPDATING, verdict="ready")]
    assert hold_for_others(worst(found), found, given_up=["g"]).is_ready


@pytest.mark.parametrize(
    "found",
    [[FAILED, STATUS], [FAILED, replace(LATE, verdict="failed")], [FAILED, LATE, SHARED], [LATE], []],
    ids=["the others are ready", "all have failed", "a failure of no pool", "none has failed", "ready"],
)
def test_any_other_verdict_stays(found: list[Finding]) -> None:
    assert hold_for_others(worst(found), found) == worst(found)


def test_a_pool_whose_nodes_wait_behind_the_failed_one_is_not_waited_for() -> None:
    found = [FAILED, replace(LATE, node="b-0"), STATUS]
    assert hold_for_others(worst(found), found, blocked={"b-0"}) == worst(found)
    assert hold_for_others(worst(found), found, blocked={"b-1"}).verdict == "pending"
