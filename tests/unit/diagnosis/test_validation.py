# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Layer validation: closed nodes, and a validator that finds no free GPU."""

from __future__ import annotations

import pytest
from unit.diagnosis.seen_builders import GPU, LONG_AGO, NOW, Object, obj, pod, seen

from ansible_collections.accelerators.openshift.plugins.module_utils._diagnosis import model, validation
from ansible_collections.accelerators.openshift.plugins.module_utils._diagnosis.model import Seen, Trouble
from ansible_collections.accelerators.openshift.plugins.module_utils._nodes.taints import (
    FAILED,
    STARTUP_TAINT,
    UNSCHEDULABLE,
)

GATE = "accelerators.openshift/GPUValidated"


def judged(found: Seen) -> list[Trouble]:
    return list(validation.judge(found))


def the(found: Seen) -> Trouble:
    (trouble,) = judged(found)
    return trouble


def node(*taints: Object, conditions: tuple[Object, ...] = (), made: str = LONG_AGO) -> Object:
    allocatable = {"nvidia.com/gpu": "2"}
    found = obj(
        "gpu-0", spec={"taints": [*taints]}, status={"conditions": [*conditions], "allocatable": allocatable}
    )
    found["metadata"]["creationTimestamp"] = made
    return found


def test_a_cluster_that_works() -> None:
    assert judged(seen()) == []
    assert validation.more(seen()) == {}


def test_the_gate_says_why_a_node_stays_closed() -> None:
    said = {"type": GATE, "status": "False", "message": "it offers 1 of 2", "lastTransitionTime": NOW}
    trouble = the(seen(nodes=[node(STARTUP_TAINT, conditions=(said,))]))
    assert (trouble.code, trouble.node, trouble.since) == ("NODE-GATED", "gpu-0", NOW)
    assert "it offers 1 of 2" in trouble.message


def test_a_new_node_waits_for_its_validation() -> None:
    found = seen(nodes=[node(STARTUP_TAINT, made=NOW)])
    assert judged(found) == []
    assert list(validation.notes(found)) == [
        "new nodes are closed to pods until their GPUs have passed: gpu-0"
    ]


def test_a_node_that_nobody_validates() -> None:
    trouble = the(seen(nodes=[node(STARTUP_TAINT)]))
    assert (trouble.code, trouble.since) == ("WORK-GATE-DOWN", LONG_AGO)


def test_a_node_that_failed() -> None:
    taint = {"key": FAILED, "value": "dcgm", "effect": "NoSchedule", "timeAdded": NOW}
    trouble = the(seen(nodes=[node(taint)]))
    assert (trouble.code, trouble.since) == ("NODE-QUARANTINED", NOW)
    assert "did not pass dcgm" in trouble.message
    assert "repair_node.yml -e gpu_node=gpu-0" in trouble.remedy


@pytest.mark.parametrize(("purpose", "number"), [("validation", 1), ("admin", 0), ("", 0)])
def test_only_a_cordon_of_the_validation_counts(purpose: str, number: int) -> None:
    cordoned = node({"key": UNSCHEDULABLE, "effect": "NoSchedule", "timeAdded": NOW})
    cordoned["spec"]["unschedulable"] = True
    cordoned["metadata"]["annotations"] = {"accelerators.openshift/cordoned": purpose}
    assert len(judged(seen(nodes=[cordoned]))) == number


def validator(phase: str, message: str) -> Object:
    return pod("nvidia-cuda-validator-x", GPU, False, phase=phase, message=message)


def holder(gpus: int) -> Object:
    found = pod("train-0", "team-a", phase="Running")
    found["spec"]["containers"] = [{"name": "main", "resources": {"limits": {"nvidia.com/gpu": str(gpus)}}}]
    return found


@pytest.mark.parametrize(("gpus", "number"), [(2, 1), (1, 0)])
def test_busy_gpus_are_no_fault_of_the_installation(gpus: int, number: int) -> None:
    said = "Allocate failed: Requested: 1, Available: 0, which is unexpected"
    found = seen(nodes=[node()], pods=[validator("Failed", said)])
    assert validation.more(found)["pods on gpu-0"].fields == "spec.nodeName=gpu-0"
    found.objects["pods on gpu-0"] = [holder(gpus)]
    troubles = judged(found)
    assert len(troubles) == number
    for trouble in troubles:
        assert (trouble.code, trouble.is_busy) == ("GPU-VAL-BUSY", True)
        assert trouble.evidence == (
            f"Pod {GPU}/nvidia-cuda-validator-x: {said}",
            "Namespace team-a holds {'nvidia.com/gpu': 2}",
        )
        stack = model.trouble(model.VALIDATION, "GPU-OPERAND", "Node gpu-0", node="gpu-0")
        assert [one.cause for one in model.with_causes([trouble, stack])] == ["", "validation"]
