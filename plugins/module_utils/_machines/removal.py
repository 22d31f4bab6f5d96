# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Machines that a set loses: the order in which they go, and the patches that mark them."""

from __future__ import annotations

import typing as t

from .._core.errors import text_of
from .._core.objects import KubeObject, Snapshot
from .._core.readiness import Readiness, failed
from .._nodes import drain
from .machine import DELETE_FIRST, is_given_up, name, node_name, phase, set_name

SETS: t.Final = "machine_sets"
# For a pool with pre_drain_hook: the Machine API drains no Machine with this hook until we remove it.
HOOK: t.Final = {"name": "accelerators.openshift/drain", "owner": "accelerators.openshift"}


def victims(
    machines: t.Sequence[KubeObject], replicas: int, pods: t.Sequence[KubeObject]
) -> list[KubeObject]:
    """Return the Machines that a set loses when it shrinks to so many replicas.

    First marked ones, then those without a running node, then those with the fewest GPU pods.
    """
    work: dict[str, int] = {}
    for pod in drain.busy(pods):
        work[drain.node_of(pod)] = work.get(drain.node_of(pod), 0) + 1

    def rank(machine: KubeObject) -> tuple[int, int, str]:
        node = node_name(machine)
        stage = 0 if is_given_up(machine) else 1 if not node or phase(machine) != "Running" else 2
        return stage, work.get(node, 0), name(machine)

    return sorted(machines, key=rank)[: max(0, len(machines) - replicas)]


def scaled_meanwhile(snapshot: Snapshot, replicas: t.Mapping[str, int]) -> Readiness | None:
    """Return a failure if a machine set of the snapshot has other replicas than these, by name; else None."""
    found = {name(one): int(one["spec"].get("replicas", 1)) for one in snapshot.get(SETS, ())}
    wrong = [one for one, wanted in sorted(replicas.items()) if found.get(one, wanted) != wanted]
    if not wrong:
        return None
    changes = ", ".join(f"machine set {one} from {replicas[one]} to {found[one]}" for one in wrong)
    return failed("Scaled", **text_of("MACH-SCALED", changes=changes)._asdict())


def as_result(machine: KubeObject) -> KubeObject:
    """Return a removed Machine as modules return it."""
    return {"machine": name(machine), "machine_set": set_name(machine), "node": node_name(machine)}


def released(machine: KubeObject) -> KubeObject:
    """Return the merge patch that marks a Machine as first to delete and removes our hook, or {}."""
    patch: KubeObject = {} if is_given_up(machine) else {"metadata": {"annotations": {DELETE_FIRST: "true"}}}
    return {**patch, **without_hook(machine)}


def without_hook(machine: KubeObject) -> KubeObject:
    """Return the merge patch that removes this collection's hook and keeps all others, or {}."""
    hooks = hooks_of(machine)
    if not any(map(is_ours, hooks)):
        return {}
    return {"spec": {"lifecycleHooks": {"preDrain": [one for one in hooks if not is_ours(one)]}}}


def with_hook(machine: KubeObject, wanted: t.Sequence[KubeObject]) -> KubeObject:
    """Return the merge patch that makes this collection's hook agree with the template's, or {}."""
    hooks = hooks_of(machine)
    if bool(wanted) == any(map(is_ours, hooks)):
        return {}
    return {"spec": {"lifecycleHooks": {"preDrain": [*hooks, HOOK]}}} if wanted else without_hook(machine)


def hooks_of(obj: KubeObject) -> list[KubeObject]:
    return list((obj["spec"].get("lifecycleHooks") or {}).get("preDrain") or [])


def is_ours(hook: KubeObject) -> bool:
    return hook.get("name") == HOOK["name"]
