# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""The plan of an upgrade: which nodes, in which order, which pods end, and how long it took last time."""

from __future__ import annotations

import typing as t
from dataclasses import dataclass

from .._core.errors import InputError, NotReadyError
from .._core.objects import KubeObject, name, number_of
from .._core.ownership import pool_of
from .._frame.nested import near
from .._impact import driver
from .._impact.impact import Impact, ending, endings
from .._nodes import drain
from .._nodes.pool_nodes import least, nodes_of
from . import options
from .jobs.gangs import Gang
from .node_driver import SKIP, NodeDriver
from .options import Triple
from .targets import Target


@dataclass(frozen=True)
class Plan:
    """waves: names of nodes, the canary first. pools: name of the node -> its pool.

    outside: nodes of the same objects that are in no chosen pool: they keep their driver. skipped: nodes that
    somebody else holds back. empty: pools without a node.
    """

    wanted: Triple
    waves: tuple[tuple[str, ...], ...]
    pools: t.Mapping[str, str]
    outside: tuple[str, ...]
    skipped: tuple[str, ...]
    empty: tuple[str, ...] = ()

    @property
    def nodes(self) -> tuple[str, ...]:
        """Return the nodes in their order."""
        return tuple(node for wave in self.waves for node in wave)

    def lines(self, seconds: t.Mapping[str, float]) -> list[str]:
        """Return the plan as lines for people. seconds: what each node took last time."""
        found = []
        for number, wave in enumerate(self.waves):
            what = "canary" if number == 0 else f"wave {number}"
            times = [seconds[node] for node in wave if node in seconds]
            last = f" (last time {round(max(times))} s)" if times else ""
            found.append(f"{what}: {', '.join(wave)}{last}")
        if self.skipped:
            found.append(f"left out, label {SKIP}=true: {', '.join(self.skipped)}")
        if self.outside:
            found.append(f"in no chosen pool, keep their driver: {', '.join(self.outside)}")
        if self.empty:
            found.append(f"without a node now, get the new driver with their nodes: {', '.join(self.empty)}")
        return found


def build(
    targets: t.Sequence[Target],
    drivers: t.Mapping[str, NodeDriver],
    pools: t.Sequence[t.Mapping[str, t.Any]],
    wishes: tuple[Triple, str, str | None],
    pods: t.Sequence[KubeObject],
    before: t.Sequence[t.Sequence[str]] = (),
) -> Plan:
    """Return the plan. Raise InputError for a canary or a wave that does not fit the pools.

    wishes: the wanted driver, the size of a wave, and the canary or None. pods: those with devices. before:
    the waves that an interrupted run has left. Their order stays, and each of their nodes goes through the
    gate, also one that has the wanted driver already.
    """
    triple, wave, canary = wishes
    grouped = _by_pool(drivers, pools)
    chosen = {node: pool for pool, nodes in grouped.items() for node in nodes}
    _check_canary(canary, chosen)
    largest = max(map(len, grouped.values()))
    options.wave_size(wave, largest, largest)
    asked = {node: one.triple for one in targets for node in one.nodes}
    driven = [node for node in chosen if node in asked]
    left = {node for wave_before in before for node in wave_before}
    due = [
        node
        for node in driven
        if (node in left or drivers[node].is_due(triple, asked[node])) and not drivers[node].is_skipped
    ]
    order = _waves(due, chosen, {pool: len(nodes) for pool, nodes in grouped.items()}, wave, canary, pods)
    return Plan(
        triple,
        tuple(map(tuple, _resumed(order, before, due))),
        chosen,
        tuple(sorted({node for one in targets for node in one.nodes} - set(chosen))),
        tuple(sorted(node for node in driven if drivers[node].is_skipped)),
        tuple(pool for pool, nodes in grouped.items() if not nodes),
    )


def _check_canary(canary: str | None, chosen: t.Mapping[str, str]) -> None:
    if canary and canary not in chosen:
        raise InputError("UPGRADE-CANARY", node=canary, nodes=", ".join(sorted(chosen)))


def _by_pool(
    drivers: t.Mapping[str, NodeDriver], pools: t.Sequence[t.Mapping[str, t.Any]]
) -> dict[str, list[str]]:
    """Return pool -> names of its nodes. Raise NotReadyError for a pool without a node that has to have one.

    A pool of which the autoscaler has taken every node is no obstacle for the others.
    """
    nodes = [one.node for one in drivers.values()]
    found: dict[str, list[str]] = {}
    for pool in pools:
        found.setdefault(str(pool["name"]), []).extend(map(name, nodes_of(nodes, pool)))
    needed = {str(pool["name"]) for pool in pools if least(pool)} if any(found.values()) else found
    if empty := [pool for pool, names in found.items() if not names and pool in needed]:
        others = sorted({pool_of(node) for node in nodes} - {""})
        is_planned = any("min_nodes" in pool for pool in pools if pool["name"] == empty[0])
        object_name = empty[0] if is_planned else near(empty[0], others)
        raise NotReadyError("UPGRADE-NO-NODE", pool=object_name, others=", ".join(others) or "none")
    return found


def _waves(
    due: t.Sequence[str],
    pools: t.Mapping[str, str],
    sizes: t.Mapping[str, int],
    wave: str,
    canary: str | None,
    pods: t.Sequence[KubeObject],
) -> list[list[str]]:
    if not due:
        return []
    busy: dict[str, int] = dict.fromkeys(due, 0)
    for pod in pods:
        node = str(pod["spec"].get("nodeName") or "")
        if node in busy:
            busy[node] += 1
    first = canary if canary in busy else min(due, key=lambda node: (busy[node], node))
    found = [[first]]
    largest = max(sizes.values())
    for pool in sorted(sizes, key=lambda one: (one != pools[first], one)):
        rest = sorted(node for node in due if pools[node] == pool and node != first)
        size = options.wave_size(wave, sizes[pool], largest)
        found += [rest[start : start + size] for start in range(0, len(rest), size)]
    return found


def _resumed(
    order: list[list[str]], before: t.Sequence[t.Sequence[str]], due: t.Sequence[str]
) -> list[list[str]]:
    """Return the waves of the interrupted run without finished nodes, and nodes that are new since."""
    if not before:
        return order
    old = [[node for node in wave if node in due] for wave in before]
    listed = {node for wave in old for node in wave}
    new = [[node for node in wave if node not in listed] for wave in order]
    return [wave for wave in [*old, *new] if wave]


def impact(
    plan: Plan, pods: t.Iterable[KubeObject], nodes: t.Collection[str], gangs: t.Iterable[Gang] = ()
) -> Impact | None:
    """Return what the upgrade of these nodes ends, or None if nothing does.

    gangs: those that end whole, with their pods on other nodes.
    """
    more = [ending(pod) for gang in gangs for pod in gang.pods]
    found = tuple(dict.fromkeys([*endings(pods, nodes, drain.ends_with_driver), *more]))
    if not found:
        return None
    cause = f"the driver of {number_of(len(nodes), 'node')} becomes {plan.wanted.version}"
    return Impact(cause, driver.UPGRADE, tuple(nodes), found, True, "the canary first, then wave by wave")


def facts(
    drivers: t.Mapping[str, NodeDriver], plan: Plan, seconds: t.Mapping[str, float]
) -> list[KubeObject]:
    """Return the nodes for the result."""
    return [
        {
            "name": node,
            "pool": plan.pools[node],
            "driver": drivers[node].image,
            "state": drivers[node].state,
            "held": drivers[node].is_held or drivers[node].is_skipped,
            "seconds": seconds.get(node, 0.0),
        }
        for node in sorted(plan.pools)
        if node in drivers
    ]
