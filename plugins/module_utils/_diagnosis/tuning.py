# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""The layer of tuning: the MachineConfigPools of GPU nodes."""

from __future__ import annotations

import typing as t

from .._core import conditions
from .._core.errors import text_of
from .._core.objects import KubeObject, name, number_of
from .._core.readiness import Readiness, pending
from .._kube.kinds import known
from .._kube.session import Query
from .._machines.machine import seconds_since
from .._nodes import cordons, drain
from .._nodes.labels import labels
from .._nodes.node import is_ready, update
from .._nodes.system import judge_update
from .._tuning import evictions, machine_config, paused, pool_judge, rollout
from .._tuning.selectors import selects
from . import nodes as node_layer
from .model import TUNING, Layer, Seen, Trouble, of_verdict, trouble

PODS: t.Final = "pods that a drain must end"
BUDGETS: t.Final = "disruption budgets"
# A node of this pool takes the configuration of no other one.
_MASTER: t.Final = "master"
# Beginning of the reason of a verdict on one node, and on a pool with degraded nodes.
_NODE, _POOL = "Degraded:Node ", "Degraded:MachineConfigPool"
# Seconds that a reboot may take.
_REBOOTS: t.Final = 1800.0


def _members(seen: Seen) -> list[tuple[KubeObject, list[KubeObject]]]:
    """Return the MachineConfigPools of GPU nodes, each with these nodes: master alone, else no worker."""
    pools = {name(one): (one.get("spec") or {}).get("nodeSelector") for one in seen.of("config_pools")}
    members: dict[str, list[KubeObject]] = {}
    for node in seen.of("nodes"):
        hit = [own for own, selector in pools.items() if selects(selector, labels(node))]
        own = [one for one in hit if one != machine_config.WORKER]
        for one in [_MASTER] if _MASTER in hit else own or hit:
            members.setdefault(one, []).append(node)
    return [(pool, members[name(pool)]) for pool in seen.of("config_pools") if name(pool) in members]


def more(seen: Seen) -> dict[str, Query]:
    """Return the lease if a run paused a pool, and what keeps the first node that cannot be drained."""
    members, found = _members(seen), {}
    if any(paused.is_left(pool) for pool, _nodes in members):
        found[node_layer.LEASE] = node_layer.LEASE_QUERY
    verdicts = [one for pool, own in members for one in pool_judge.troubles(pool, own)]
    if stuck := [one.reason.removeprefix(_NODE) for one in verdicts if _is_kept(one)]:
        found |= {
            PODS: Query(known("Pod"), fields=drain.on(stuck[0])),
            BUDGETS: Query(known("PodDisruptionBudget")),
        }
    return found


def _is_kept(verdict: Readiness) -> bool:
    return verdict.code == pool_judge.DRAIN and verdict.reason.startswith(_NODE)


def judge(seen: Seen) -> t.Iterator[Trouble]:
    members = _members(seen)
    for pool, own in members:
        yield from (
            _degraded(one, pool, seen) for one in pool_judge.troubles(pool, own) if _counts(one, pool, own)
        )
        if paused.is_left(pool) and not node_layer.works(paused.run_of(pool), seen):
            pause = paused.explain(pool)
            text = text_of(pool_judge.PAUSED, pool=name(pool), why=pause.why)._replace(remedy=pause.remedy)
            yield of_verdict(TUNING, _title(pool), pending(**text._asdict()), is_alone=True)
        yield from filter(None, (_updating(node, seen.now) for node in own))
    yield from _torn(members)


def _counts(verdict: Readiness, pool: KubeObject, own: t.Sequence[KubeObject]) -> bool:
    """Return whether GPU nodes are degraded themselves, or wait behind another node that is."""
    return not verdict.reason.startswith(_POOL) or bool(rollout.behind(own, pool))


def _degraded(verdict: Readiness, pool: KubeObject, seen: Seen) -> Trouble:
    node = verdict.reason.removeprefix(_NODE) if verdict.reason.startswith(_NODE) else ""
    kind = "RenderDegraded" if verdict.code == pool_judge.RENDER else "NodeDegraded"
    pods = [one for one in drain.leaving(seen.of(PODS)) if _is_kept(verdict) and drain.node_of(one) == node]
    more = {"evidence": (*verdict.details, *evictions.blocked(pods, seen.of(BUDGETS))), "is_alone": not node}
    title = f"Node {node}" if node else _title(pool)
    return of_verdict(TUNING, title, verdict, node=node, since=conditions.since(pool, kind), **more)


def _updating(node: KubeObject, now: float) -> Trouble | None:
    """Return that the operator updates the node; None if it gave up, or the reboot takes too long."""
    verdict, age = judge_update(node), seconds_since(conditions.since(node, "Ready"), now)
    if verdict is None or update(node).is_stuck or (not is_ready(node) and age >= _REBOOTS):
        return None
    more = {"node": name(node), "since": cordons.since(node), "is_busy": True}
    return of_verdict(TUNING, f"Node {name(node)}", verdict, **more)


def _torn(members: t.Sequence[tuple[KubeObject, list[KubeObject]]]) -> t.Iterator[Trouble]:
    """Yield the pools that select a node of another one: such a node gets no configuration."""
    owner: dict[str, str] = {}
    for pool, own in members:
        if twice := [name(node) for node in own if owner.setdefault(name(node), name(pool)) != name(pool)]:
            told = {
                "path": f"MachineConfigPool {owner[twice[0]]}",
                "pool": name(pool),
                "nodes": ", ".join(twice[:5]),
            }
            yield trouble(TUNING, "REBOOT-FOREIGN-POOL", _title(pool), told, is_alone=True)


def notes(seen: Seen) -> t.Iterator[str]:
    """Yield pools that are paused on purpose, nodes that wait for their turn, and trouble of other nodes."""
    for pool, own in _members(seen):
        waiting = [name(one) for one in rollout.behind(own, pool) if not update(one).under_way]
        number = number_of(len(waiting), "GPU node")
        if paused.is_paused(pool) and not paused.is_left(pool):
            pause = paused.explain(pool)
            yield f"{_title(pool)} {pause.why}, with {number} behind its configuration. {pause.remedy}"
        elif waiting:
            yield f"{number} of {_title(pool)} behind its configuration: {', '.join(waiting[:5])}."
        for verdict in pool_judge.troubles(pool, own):
            if not _counts(verdict, pool, own):
                yield f"{verdict.message} All GPU nodes have their configuration."


def _title(pool: KubeObject) -> str:
    return f"MachineConfigPool {name(pool)}"


LAYER: t.Final = Layer(TUNING, ("config_pools",), judge, notes, more)
