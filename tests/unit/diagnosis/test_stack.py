# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The findings of a stack as troubles: their layer, and that a status is a consequence."""

from __future__ import annotations

import copy
import datetime

import pytest
from unit.stack.builders import FIXTURE, POOL, pod, unready

from ansible_collections.accelerators.openshift.plugins.module_utils._diagnosis import (
    model,
    seen as reads,
    stack,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._stack import stages


@pytest.mark.parametrize(
    ("code", "stage", "layer"),
    [
        ("GPU-DRV-CRASH", stages.DRIVER, model.DRIVER),
        ("GPU-MIG-FAILED", stages.ALLOCATABLE, model.SHARING),
        ("GPU-ALLOC", stages.ALLOCATABLE, model.PLUGIN),
        ("NIC-DRV-CRASH", stages.DRIVER, model.NIC),
        ("GPU-NODE-NOT-READY", stages.LABELS, model.NODE),
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


def test_a_policy_beside_the_oldest_is_told_and_may_go() -> None:
    seen = copy.deepcopy(FIXTURE)
    made = "2026-11-02T00:00:00Z"
    seen["policies"][0]["metadata"]["creationTimestamp"] = "2026-11-01T00:00:00Z"
    seen["policies"].append({"metadata": {"name": "second", "creationTimestamp": made}, "spec": {}})
    [found] = stack.stacks(model.Seen(objects=seen, pools=[POOL]), "nvidia-gpu-operator", {}, lambda: 0.0)
    [ignored] = stack.troubles(found)
    assert (ignored.code, ignored.since) == ("GPU-CP-IGNORED", made)
    assert ignored.remedy == "Run `oc delete clusterpolicy second`. No pod ends: the operator ignores it."


def test_a_lost_gpu_of_a_node_that_could_be_cut_is_found_without_pools() -> None:
    seen = copy.deepcopy(FIXTURE)
    live = seen["nodes"][0]
    live["metadata"]["labels"] |= {"nvidia.com/mig.capable": "true", "nvidia.com/mig.strategy": "single"}
    live["status"]["capacity"] = {"nvidia.com/gpu": "4"}
    live["status"]["allocatable"]["nvidia.com/gpu"] = "3"
    pools = reads.pools_of(seen["nodes"])
    [found] = stack.stacks(model.Seen(objects=seen, pools=pools), "nvidia-gpu-operator", {}, lambda: 0.0)
    [short] = stack.troubles(found)
    assert (short.layer, short.code) == ("device plugin", "GPU-ALLOC")
    assert "3 of 4" in short.message


def at_work(label: str, value: str, minutes: int) -> tuple[list[model.Trouble], str]:
    """Return the troubles a while after something wrote the label, and the moment."""
    seen, moment = copy.deepcopy(FIXTURE), "2026-11-02T00:00:00Z"
    live = seen["nodes"][0]["metadata"]
    live["labels"][label] = value
    fields: dict[str, object] = {"f:metadata": {"f:labels": {f"f:{label}": {}}}}
    live["managedFields"] = [{"manager": "gpu-operator", "time": moment, "fieldsV1": fields}]
    [found] = stack.stacks(model.Seen(objects=seen, pools=[POOL]), "nvidia-gpu-operator", {}, lambda: 0.0)
    now = datetime.datetime.fromisoformat(moment).timestamp() + 60 * minutes
    return stack.troubles(found, now), moment


@pytest.mark.parametrize(
    ("label", "value", "code", "limit"),
    [
        ("nvidia.com/gpu-driver-upgrade-state", "upgrade-required", "GPU-UPG-RUNNING", 60),
        ("nvidia.com/mig.config.state", "pending", "GPU-MIG-RUNNING", 15),
    ],
)
def test_what_stands_still_for_long_does_not_end_by_itself(
    label: str, value: str, code: str, limit: int
) -> None:
    [going], _moment = at_work(label, value, limit - 1)
    assert (going.code, going.is_busy) == (code, True)
    [stuck], moment = at_work(label, value, limit + 1)
    assert (stuck.code, stuck.is_busy, stuck.since) == (code, False, moment)


def test_an_upgrade_that_waits_for_jobs_may_take_days() -> None:
    [going], _moment = at_work("nvidia.com/gpu-driver-upgrade-state", "wait-for-jobs-required", 9999)
    assert going.is_busy


@pytest.mark.parametrize(("start", "limit"), [("nvidia-driver", 900), ("nvidia-container-toolkit", 60)])
def test_a_pod_may_take_its_time_to_start(start: str, limit: int) -> None:
    seen, began = copy.deepcopy(FIXTURE), "2026-11-02T00:00:00Z"
    unready(pod(seen, start))
    pod(seen, start)["status"]["conditions"][0]["lastTransitionTime"] = began
    [found] = stack.stacks(model.Seen(objects=seen, pools=[POOL]), "nvidia-gpu-operator", {}, lambda: 0.0)
    begun = datetime.datetime.fromisoformat(began).timestamp()
    busy = [
        next(one.is_busy for one in stack.troubles(found, begun + late)) for late in (limit - 1, limit + 1)
    ]
    assert busy == [True, False]


def test_what_only_waits_explains_the_status() -> None:
    seen = copy.deepcopy(FIXTURE)
    unready(pod(seen, "nvidia-container-toolkit"))
    error = {"type": "Error", "status": "True", "message": "states not ready: [state-container-toolkit]"}
    seen["policies"][0]["status"] = {
        "state": "notReady",
        "conditions": [{"type": "Ready", "status": "False"}, error],
    }
    [found] = stack.stacks(model.Seen(objects=seen, pools=[POOL]), "nvidia-gpu-operator", {}, lambda: 0.0)
    by_code = {one.code: one.cause for one in stack.troubles(found)}
    assert by_code == {"GPU-OPERAND": "", "GPU-CP-OPERAND": "toolkit"}
