# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Validation of idle nodes: which pods gave way to work, and on how many nodes it may run at a time."""

from __future__ import annotations

import dataclasses
import typing as t

from .._core import conditions
from .._core.errors import InputError
from .._core.objects import KubeObject, name
from .._core.ownership import MANAGED_BY
from .._policy.schema import IDLE
from .options import GpuWorkloadParams

# The scheduler sets it before it deletes a pod for another one; so do evictions and taints.
_TARGET: t.Final = "DisruptionTarget"
GAVE_WAY: t.Final = "work took the node while the test ran, and the test gave way"
# The part of a pool that is tested at a time.
_PART: t.Final = 10


def chosen(params: GpuWorkloadParams) -> GpuWorkloadParams:
    """Return the options, with our priority class where only idle nodes are validated."""
    if not params.idle or params.priority_class:
        return params
    return dataclasses.replace(params, priority_class=IDLE["name"])


def check(params: GpuWorkloadParams) -> None:
    """Raise InputError for a program that cannot give way node by node."""
    if params.idle and params.program.nodes > 1:
        raise InputError(
            "INPUT-VALUE",
            f"{params.program.label} runs on {params.program.nodes} nodes together, and idle nodes are "
            "tested one by one: work that takes one of them would leave the others waiting.",
            "Leave nodes out of the program in gpu_idle_programs (module option programs).",
        )


def limit(number: int, most: int) -> int:
    """Return how many nodes may be validated at a time. number: of the pool. most: 0 for a tenth of it."""
    return most or max(1, number // _PART)


def priority_class() -> KubeObject:
    """Return the PriorityClass of the pods: any work takes their GPUs at once, and they take none."""
    return {
        "apiVersion": "scheduling.k8s.io/v1",
        "kind": "PriorityClass",
        "metadata": {"name": IDLE["name"], "labels": dict(MANAGED_BY)},
        "value": IDLE["value"],
        "preemptionPolicy": IDLE["preemption_policy"],
        "description": IDLE["description"],
    }


def gives_way(pod: KubeObject) -> bool:
    """Return whether the pod ends because of others: it is being deleted, or named as a target."""
    return bool(pod["metadata"].get("deletionTimestamp")) or conditions.is_true(pod, _TARGET)


def gone(made: t.Iterable[str], present: t.Iterable[KubeObject]) -> set[str]:
    """Return the names of pods that were made and are gone, or are going. present: the pods of now."""
    return set(made) - {name(pod) for pod in present if not gives_way(pod)}
