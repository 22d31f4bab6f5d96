# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Judge the stack of a ClusterPolicy: what is ready, and every way in which `ready` was seen to lie."""

from __future__ import annotations

import copy
import typing as t

import pytest
from unit.stack.builders import POOL, Snapshot, node, pod, some_params
from unit.stack.clusterpolicy.troubles import (
    Clock,
    conflict,
    crash,
    fewer_devices,
    fewer_nodes,
    gone,
    ignored,
    judge,
    labels_missing,
    left_by_mig,
    lose_label,
    no_daemonset,
    no_devices,
    no_gpu_nodes,
    no_image,
    no_pod,
    no_tag,
    node_down,
    not_cut,
    not_ready_pod,
    not_rolled_out,
    nvidia_driver,
    of_the_other_stack,
    often_restarted,
    old_driver,
    old_pod,
    opted_out,
    paused,
    plugin_crash,
    refused_by_the_kubelet,
    repartitioned,
    repartitioned_again,
    rolling,
    stale_label,
    status,
    still_building,
    stopped_for_mig,
    taint,
    unwanted,
    upgrade_failed,
    upgrading,
    waits_for_tolerations,
    withdrawn,
    without_plugin,
)

from ansible_collections.accelerators.openshift.plugins.module_utils._stack.clusterpolicy import (
    judge as clusterpolicy_judge,
    result as clusterpolicy_result,
)


def test_a_stack_that_works(seen: Snapshot) -> None:
    verdict = judge(seen)
    assert (verdict.verdict, verdict.reason) == ("ready", "Reconciled")
    assert verdict.message == "Every node runs every operand and offers what its pool promises."
    facts = clusterpolicy_result.summarize(seen, "gpu-cluster-policy", [POOL])
    assert (facts["state"], facts["reason"], facts["driver_version"]) == ("ready", "Reconciled", "595.91.07")
    (entry,) = facts["nodes"]
    assert entry["expected"] == entry["allocatable"] == {"nvidia.com/gpu": 4}
    assert [one["name"] for one in entry["operands"]][:4] == [
        "driver",
        "container-toolkit",
        "operator-validator",
        "device-plugin",
    ]
    assert all(one["ready"] for one in entry["operands"])


CASES = [
    (
        lose_label,
        "GPU-NFD-EMPTY",
        "pending",
        "failed",
        "no label feature.node.kubernetes.io/pci-10de.present",
    ),
    (no_gpu_nodes, "GPU-NFD-EMPTY", "pending", "failed", "reason NoGPUNodes"),
    (labels_missing, "GPU-NFD-EMPTY", "pending", "failed", "reason NFDLabelsMissing"),
    (
        taint,
        "GPU-TAINT",
        "failed",
        "failed",
        "gpu-0: taint dedicated=ml:NoSchedule is not tolerated by 8 operands",
    ),
    (waits_for_tolerations, "GPU-TAINT", "pending", "pending", "do not have the policy's tolerations yet"),
    (ignored, "GPU-CP-IGNORED", "failed", "failed", "older is there first"),
    (conflict, "GPU-CP-CONFLICT", "failed", "failed", "conflicting GPUCluster resource"),
    (
        crash,
        "GPU-DRV-CRASH",
        "pending",
        "failed",
        (
            "container nvidia-driver-ctr of pod nvidia-driver-daemonset-9.8.20260801-0-x4h94 is "
            "in CrashLoopBackOff"
        ),
    ),
    (often_restarted, "GPU-DRV-CRASH", "pending", "failed", "restarts: 3"),
    (plugin_crash, "GPU-OPERAND-CRASH", "pending", "failed", "device-plugin"),
    (no_image, "GPU-IMAGE", "pending", "failed", "manifest unknown"),
    (not_ready_pod, "GPU-OPERAND", "pending", "pending", "dcgm-exporter is not Ready"),
    (no_pod, "GPU-OPERAND", "pending", "pending", "gpu-feature-discovery has no pod"),
    (old_pod, "GPU-DRV-OUTDATED", "pending", "pending", "of the driver is of an older revision"),
    (rolling, "GPU-OPERAND", "pending", "pending", "older revision"),
    (no_daemonset, "GPU-OPERAND-LACKING", "pending", "failed", "its labels require dcgm,"),
    (no_tag, "GPU-DTK-STREAM", "pending", "failed", "has no tag 9.8.20260801-0"),
    (stale_label, "GPU-NFD-KERNEL", "pending", "failed", "contradicts its osImage"),
    (fewer_devices, "GPU-ALLOC", "pending", "failed", "offers nvidia.com/gpu 3 of 4"),
    (no_devices, "GPU-ALLOC", "pending", "failed", "offers nvidia.com/gpu 0 of 4"),
    (still_building, "GPU-OPERAND", "pending", "pending", "driver is not Ready"),
    (repartitioned, "GPU-MIG-RUNNING", "pending", "pending", "is being repartitioned"),
    (stopped_for_mig, "GPU-MIG-RUNNING", "pending", "pending", "is being repartitioned"),
    (left_by_mig, "GPU-PAUSED", "pending", "failed", "still keeps dcgm, device-plugin away"),
    (
        repartitioned_again,
        "GPU-MIG-RUNNING",
        "pending",
        "pending",
        "is being repartitioned (all-1g.5gb: pending)",
    ),
    (not_cut, "GPU-MIG-FAILED", "failed", "failed", "could not be repartitioned (all-9g.5gb: failed)"),
    (
        withdrawn,
        "GPU-ALLOC",
        "pending",
        "failed",
        "offers nvidia.com/gpu 3 of 4 (4 GPUs are in the node, 1 of them withdrawn)",
    ),
    (paused, "GPU-PAUSED", "pending", "failed", "still keeps dcgm, device-plugin away"),
    (of_the_other_stack, "GPU-MODE", "pending", "failed", "is left over from a GPUCluster"),
    (
        without_plugin,
        "GPU-OPTED-OUT",
        "pending",
        "failed",
        "label nvidia.com/gpu.deploy.device-plugin=false keeps device-plugin away",
    ),
    (
        unwanted,
        "GPU-OPERAND-UNWANTED",
        "pending",
        "failed",
        "DaemonSet nvidia-dcgm-exporter selects it and wants no pod anywhere (0 desired)",
    ),
    (
        refused_by_the_kubelet,
        "GPU-VAL-BUSY",
        "pending",
        "pending",
        "was refused by the node (UnexpectedAdmissionError)",
    ),
    (upgrading, "GPU-UPG-RUNNING", "pending", "pending", "pod-restart-required"),
    (upgrade_failed, "GPU-UPG-FAILED", "failed", "failed", "the driver upgrade failed"),
    (node_down, "GPU-NODE-NOT-READY", "pending", "pending", "the node is not Ready"),
    (opted_out, "GPU-OPTED-OUT", "pending", "failed", "keeps every operand away"),
    (
        not_rolled_out,
        "GPU-CP-NOT-READY",
        "pending",
        "pending",
        "is not applied yet to container-toolkit (tolerations)",
    ),
    (
        old_driver,
        "GPU-CP-NOT-READY",
        "pending",
        "pending",
        "is not applied yet to driver (version 600.10.01)",
    ),
    (gone, "GPU-CP-ABSENT", "pending", "pending", "not there yet"),
    (fewer_nodes, "GPU-NODES", "pending", "pending", "Pool training has 0 of 1 nodes"),
]


@pytest.mark.parametrize(
    ("change", "code", "first", "later", "words"), CASES, ids=[case[0].__name__ for case in CASES]
)
def test_a_policy_that_lies(
    seen: Snapshot, change: t.Callable[[Snapshot], None], code: str, first: str, later: str, words: str
) -> None:
    change(seen)
    early, late = judge(seen), judge(seen, after=61)
    assert (early.code, early.verdict, late.code, late.verdict) == (code, first, code, later)
    assert words in f"{early.message} {' '.join(early.details)}"
    assert early.remedy


@pytest.mark.parametrize(("number", "more"), [(1, ""), (3, ""), (4, " and 1 more")])
def test_the_first_three_operands_that_the_policy_has_not_reached_are_named(
    seen: Snapshot, number: int, more: str
) -> None:
    for name in ("container-toolkit-daemonset", "dcgm", "dcgm-exporter", "mig-manager")[:number]:
        (one,) = [one for one in seen["daemonsets"] if one["metadata"]["name"] == f"nvidia-{name}"]
        one["spec"]["template"]["spec"]["tolerations"] = []
    (found,) = clusterpolicy_judge.judge_rollout(seen["policies"][0], seen["daemonsets"])
    late = [f"{name} (tolerations)" for name in ("container-toolkit", "dcgm", "dcgm-exporter")[:number]]
    assert found.message == (
        f"ClusterPolicy gpu-cluster-policy is not ready: it is not applied yet to {', '.join(late)}{more}."
    )


def test_a_policy_that_is_not_there_is_the_reason(seen: Snapshot) -> None:
    gone(seen)
    assert judge(seen).reason == "NoPolicy"


def test_zero_nodes_are_fine_for_a_pool_that_may_be_empty(seen: Snapshot) -> None:
    fewer_nodes(seen)
    assert judge(seen, after=300, min_replicas=0).is_ready


def test_devices_that_a_running_plugin_withholds_are_not_waited_for(seen: Snapshot) -> None:
    no_devices(seen)
    pod(seen, "nvidia-operator-validator")["status"]["conditions"] = [{"type": "Ready", "status": "False"}]
    status(
        seen,
        "notReady",
        "",
        "OperandNotReady",
        "ClusterPolicy is not ready; states not ready: [state-operator-validation]",
    )
    assert judge(seen, after=59).verdict == "pending"
    late = judge(seen, after=61)
    assert (late.verdict, late.code) == ("failed", "GPU-ALLOC")
    assert "offers nvidia.com/gpu 0 of 4" in late.message


def test_an_upgrade_may_take_the_devices_away_for_long(seen: Snapshot) -> None:
    no_devices(seen)
    upgrading(seen)
    assert judge(seen, after=600).verdict == "pending"


def test_devices_are_waited_for_only_while_the_operator_is_at_work(seen: Snapshot) -> None:
    no_devices(seen)
    pod(seen, "nvidia-device-plugin")["status"]["conditions"] = [{"type": "Ready", "status": "False"}]
    late = judge(seen, after=61)
    assert (late.verdict, late.code) == ("failed", "GPU-ALLOC")
    not_rolled_out(seen)
    assert judge(seen, after=61).verdict == "pending"


def test_a_driver_that_runs_needs_no_toolkit(seen: Snapshot) -> None:
    seen["streams"] = []
    assert judge(seen).is_ready


def test_switched_off_operands_are_not_missed(seen: Snapshot) -> None:
    no_daemonset(seen)
    seen["policies"][0]["spec"]["dcgm"]["enabled"] = False
    assert judge(seen).is_ready


def test_one_operand_is_off_unless_it_is_switched_on(seen: Snapshot) -> None:
    seen["daemonsets"] = [
        one for one in seen["daemonsets"] if one["metadata"]["name"] != "nvidia-node-status-exporter"
    ]
    assert judge(seen).code == "GPU-OPERAND-LACKING"
    del seen["policies"][0]["spec"]["nodeStatusExporter"]
    assert judge(seen).is_ready


def test_nodes_of_other_people_do_not_matter(seen: Snapshot) -> None:
    other = copy.deepcopy(node(seen))
    other["metadata"] |= {"name": "foreign", "labels": {"nvidia.com/gpu.deploy.driver": "true"}}
    other["status"] = {}
    seen["nodes"].append(other)
    assert judge(seen).is_ready


def test_a_trouble_that_passes_starts_anew(seen: Snapshot) -> None:
    clock, well = Clock(), copy.deepcopy(seen)
    judging = clusterpolicy_judge.Judge(some_params(name="gpu-cluster-policy", grace=60, pools=[POOL]), clock)
    crash(seen)
    for now, snapshot, expected in (
        (0, seen, "pending"),
        (50, seen, "pending"),
        (55, well, "ready"),
        (70, seen, "pending"),
        (129, seen, "pending"),
        (130, seen, "failed"),
    ):
        clock.now = now
        assert judging(snapshot).verdict == expected
    assert judging.looks == 6


def test_devices_without_a_promise_are_those_that_feature_discovery_counted(seen: Snapshot) -> None:
    assert judge(seen, expected={}).is_ready
    fewer_devices(seen)
    assert judge(seen, expected={}).code == "GPU-ALLOC"


@pytest.mark.parametrize(
    ("key", "value"), [("nvidia.com/device-plugin.config", "gpu-a"), ("nvidia.com/gpu.replicas", "2")]
)
def test_a_plugin_that_may_keep_an_old_profile_is_to_start_again(
    seen: Snapshot, key: str, value: str
) -> None:
    fewer_devices(seen)
    assert "oc delete pod" not in judge(seen).remedy
    seen["nodes"][0]["metadata"]["labels"][key] = value
    assert judge(seen).remedy.startswith(
        "Run `oc delete pod -n nvidia-gpu-operator -l 'app in (nvidia-device-plugin-daemonset,"
        "gpu-feature-discovery)' --field-selector spec.nodeName=gpu-0`: "
    )


def test_a_driver_that_was_switched_off_and_stays_is_told_and_is_final_when_it_lasts(seen: Snapshot) -> None:
    nvidia_driver(seen, switched=False)
    first, last = judge(copy.deepcopy(seen)), judge(seen, after=61)
    assert (first.verdict, last.verdict, last.code) == ("pending", "failed", "GPU-NVD-LEFT")
    assert "NVIDIADriver training, which is switched off" in last.message
    nvidia_driver(seen, switched=True)
    assert judge(seen).code != "GPU-NVD-LEFT"
