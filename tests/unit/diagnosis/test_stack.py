# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The findings of a stack as troubles: their layer, and that a status is a consequence."""

from __future__ import annotations

import copy

import pytest
from unit.stack.builders import FIXTURE, POOL, pod, unready

from ansible_collections.accelerators.openshift.plugins.module_utils._diagnosis import model, stack
from ansible_collections.accelerators.openshift.plugins.module_utils._stack import stages


@pytest.mark.parametrize(
    ("code", "stage", "layer"),
    [
        ("GPU-DRV-CRASH", stages.DRIVER, model.DRIVER),
        ("GPU-MIG-FAILED", stages.ALLOCATABLE, model.SHARING),
        ("GPU-ALLOC", stages.ALLOCATABLE, model.PLUGIN),
        ("NIC-DRV-CRASH", stages.DRIVER, model.NIC),
        ("GPU-NODE-NOTREADY", stages.LABELS, model.NODE),
        ("GPU-NFD-LABELS", stages.LABELS, model.NFD),
        ("GPU-CP-RECONCILE", stages.CRD, model.OPERATORS),
    ],
)
def test_the_layer_of_a_finding(code: str, stage: str, layer: str) -> None:
    found = stages.Finding("pending", code=code, stage=stage)
    assert stack.layer_of(found) == layer


def test_the_status_of_the_policy_is_a_consequence() -> None:
    seen = copy.deepcopy(FIXTURE)
    driver = pod(seen, "nvidia-driver")
    unready(driver)
    driver["status"]["containerStatuses"] = [
        {"name": "c", "ready": False, "restartCount": 9, "state": {"waiting": {"reason": "CrashLoopBackOff"}}}
    ]
    seen["policies"][0]["status"] = {
        "state": "notReady",
        "conditions": [
            {"type": "Ready", "status": "False"},
            {"type": "Error", "status": "True", "message": "states not ready: [state-driver]"},
        ],
    }
    [found] = stack.stacks(model.Seen(objects=seen, pools=[POOL]), "nvidia-gpu-operator", {}, lambda: 0.0)
    by_code = {one.code: one.cause for one in stack.troubles(found)}
    assert by_code["GPU-DRV-CRASH"] == ""
    assert by_code["GPU-CP-OPERAND"] == "driver"


def test_a_cluster_without_a_stack_has_none() -> None:
    assert stack.stacks(model.Seen(), "nvidia-gpu-operator", {}, lambda: 0.0) == []


@pytest.mark.parametrize(("loaded", "expected"), [(2, []), (1, [("driver", "Module x/fpga")])])
def test_a_module_that_is_not_loaded_everywhere(loaded: int, expected: list[tuple[str, str]]) -> None:
    numbers = {"desiredNumber": 2, "availableNumber": loaded, "nodesMatchingSelectorNumber": 2}
    module = {
        "metadata": {"name": "fpga", "namespace": "x"},
        "spec": {"moduleLoader": {"container": {}}},
        "status": {"moduleLoader": numbers},
    }
    found = stack.modules(model.Seen(objects={"modules": [module]}))
    assert [(one.layer, one.about) for one in found] == expected
