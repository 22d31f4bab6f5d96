# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Two pools of scenario node-tuning whose nodes reboot, and what enable_gpus.yml says about them."""

from __future__ import annotations

import typing as t

from integration.playbook import Run, TaskResult

Data = dict[str, t.Any]
GPUS: t.Final = {"training": 8, "inference": 1}


def pool(name: str) -> Data:
    selector = {"accelerators.openshift/pool": name}
    existing = {"node_selector": selector, "expected": {"nvidia.com/gpu": GPUS[name]}}
    return {
        "name": name,
        "existing": existing,
        "tuning": {"profile": "accelerator", "kernel_arguments": ["iommu=pt"], "reboot": "planned"},
    }


def assert_that_inference_is_validated(run: Run) -> None:
    (validated,) = [one["workload"]["nodes"] for one in run.tasks if one.result.get("workload")]
    assert [(one["name"], one["pool"], one["validated"]) for one in validated] == [("gpu-2", "inference", 1)]


def failed_stack(run: Run) -> TaskResult:
    """Return the task that waited for the drivers, and failed for the pool without tuning."""
    (found,) = [one for one in run.tasks if one.result.get("code") and "special_resource" in one.result]
    return found
