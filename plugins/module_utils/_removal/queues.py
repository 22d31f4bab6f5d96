# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Queues of Kueue at a removal: which of them go with the pools, and who needs Kueue after that."""

from __future__ import annotations

import typing as t

from .._catalogue import kueue
from .._core import conditions
from .._core.adoption import keeper
from .._core.objects import KubeObject, name, number_of
from .._core.ownership import owned

_SHOWN: t.Final = 5


def going(
    queues: t.Iterable[KubeObject], names: t.Collection[str], pools: t.Collection[str]
) -> list[KubeObject]:
    """Return the ClusterQueues that a removal deletes: ours of these names, and ours of these pools alone."""
    return [
        obj for obj in queues if owned(obj) and (name(obj) in names or {*kueue.flavors_of(obj)} <= {*pools})
    ]


def unfinished(workload: KubeObject) -> KubeObject | None:
    """Return what a removal has to know of a Workload, or None for one that has ended.

    Kueue takes its finalizer from a Workload that has ended. It alone can do that.
    """
    if conditions.is_true(workload, "Finished"):
        return None
    return {"metadata": workload["metadata"], "status": workload.get("status") or {}}


def needed_by(
    queues: t.Iterable[KubeObject],
    workloads: t.Iterable[KubeObject],
    gone: t.Collection[str],
    waits: bool = False,
) -> list[str]:
    """Return who needs Kueue, each as a phrase.

    gone: names of ClusterQueues that go. waits: the removal waits for the Workloads that hold their quota.
    """
    found = [
        f"ClusterQueue {name(obj)}" + ("" if owned(obj) else f" (made by {keeper(obj)})")
        for obj in queues
        if name(obj) not in gone
    ]
    left = [
        f"{workload['metadata']['namespace']}/{name(workload)}"
        for workload in workloads
        if unfinished(workload) and not (waits and kueue.holder(workload) in gone)
    ]
    if left:
        shown = ", ".join(left[:_SHOWN]) + (", …" if left[_SHOWN:] else "")
        verb = "has" if len(left) == 1 else "have"
        found.append(f"{number_of(len(left), 'Workload')} that {verb} not ended ({shown})")
    return found
