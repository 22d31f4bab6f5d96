# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""The order in which paused pools are released: all at once, or one by one after the rest of the cluster."""

from __future__ import annotations

import typing as t

from .._core.objects import KubeObject, Snapshot, name, named
from .._core.readiness import Grace, Readiness, worst
from .._nodes.labels import labels
from .._nodes.node import CURRENT
from .._tuning import paused, pool_judge
from .pause import LAST, Member, pool_of


def turns(found: t.Iterable[Member]) -> list[list[Member]]:
    """Return the pools that are released at the same time, one list after the other."""
    given = list(found)
    together = [one for one in given if one.order != LAST]
    return [*([together] if together else []), *([one] for one in given if one.order == LAST)]


def waits(turn: t.Iterable[Member]) -> bool:
    """Return True if the pools of this turn wait until the rest of the cluster is updated."""
    return any(one.order == LAST and one.is_paused for one in turn)


def others(pools: t.Iterable[KubeObject], held: t.Collection[str]) -> list[str]:
    """Return the names of the pools with nodes that come before a pool that is last.

    held: names of the pools that this collection still holds back. A pool that somebody else paused does not
    count: its nodes are updated only when that person releases it.
    """
    return [name(one) for one in _with_nodes(pools, held) if not paused.is_paused(one)]


def paused_by_others(pools: t.Iterable[KubeObject], held: t.Collection[str]) -> list[KubeObject]:
    """Return the pools with nodes that somebody else paused. held: as for `others`."""
    return [one for one in _with_nodes(pools, held) if paused.is_paused(one)]


def _with_nodes(pools: t.Iterable[KubeObject], held: t.Collection[str]) -> list[KubeObject]:
    counted = (one for one in pools if (one.get("status") or {}).get("machineCount"))
    return sorted((one for one in counted if name(one) not in held), key=name)


def judge(held: t.Collection[str], grace: Grace, snapshot: Snapshot) -> Readiness:
    """Return ready if every pool that comes first is rolled out. The snapshot has all pools and all nodes."""
    pools = snapshot[pool_judge.POOLS]
    nodes: dict[str, list[KubeObject]] = {}
    for node in snapshot[pool_judge.NODES]:
        # The machine-config operator counts no Windows node, which has no configuration of it.
        if pool_judge.annotation(node, CURRENT) and (pool := pool_of(pools, labels(node))):
            nodes.setdefault(name(pool), []).append(node)
    found = [
        pool_judge.judge_pool(named(pools, object_name), object_name, nodes.get(object_name, []))
        for object_name in others(pools, held)
    ]
    return worst(grace.harden(found))
