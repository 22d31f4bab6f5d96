# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""Machines that are to go: which ones first, and what is written on them."""

from __future__ import annotations

import typing as t

from ansible_collections.accelerators.openshift.plugins.module_utils._machines.machine import (
    DELETE_FIRST,
    is_given_up,
    name,
    node_name,
    phase,
    set_name,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._nodes import drain

Data = dict[str, t.Any]
# In the template of a pool with pre_drain_hook: the Machine API drains no Machine that has it, whoever deletes it, until we have taken it away.
HOOK: t.Final = {"name": "accelerators.openshift/drain", "owner": "accelerators.openshift"}


def victims(machines: t.Sequence[Data], replicas: int, pods: t.Sequence[Data]) -> list[Data]:
    """Those of a set that go when it is to have so many: marked ones, then what is no node, then nodes without GPU pods, then those with the fewest."""
    work: dict[str, int] = {}
    for pod in drain.busy(pods):
        work[drain.node_of(pod)] = work.get(drain.node_of(pod), 0) + 1

    def rank(machine: Data) -> tuple[int, int, str]:
        node = node_name(machine)
        stage = 0 if is_given_up(machine) else 1 if not node or phase(machine) != "Running" else 2
        return stage, work.get(node, 0), name(machine)

    return sorted(machines, key=rank)[: max(0, len(machines) - replicas)]


def told(machine: Data) -> Data:
    """What a task returns of a Machine that goes."""
    return {"machine": name(machine), "machine_set": set_name(machine), "node": node_name(machine)}


def released(machine: Data) -> Data:
    """The merge patch of a Machine that may go; empty when it has been said."""
    patch: Data = {} if is_given_up(machine) else {"metadata": {"annotations": {DELETE_FIRST: "true"}}}
    return {**patch, **without_hook(machine)}


def without_hook(machine: Data) -> Data:
    """The merge patch that takes our hook away, and nobody else's."""
    hooks = hooks_of(machine)
    if not any(map(is_ours, hooks)):
        return {}
    return {"spec": {"lifecycleHooks": {"preDrain": [one for one in hooks if not is_ours(one)]}}}


def with_hook(machine: Data, wanted: t.Sequence[Data]) -> Data:
    """The merge patch that makes our hook on a Machine as the template has it; empty when it is so."""
    hooks = hooks_of(machine)
    if bool(wanted) == any(map(is_ours, hooks)):
        return {}
    return {"spec": {"lifecycleHooks": {"preDrain": [*hooks, HOOK]}}} if wanted else without_hook(machine)


def hooks_of(obj: Data) -> list[Data]:
    return list((obj["spec"].get("lifecycleHooks") or {}).get("preDrain") or [])


def is_ours(hook: Data) -> bool:
    return hook.get("name") == HOOK["name"]
