# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Empty the nodes of a wave of gangs and other work, before the operator's controller empties them."""

from __future__ import annotations

import typing as t

from .._core.errors import AcceleratorError, text_of
from .._core.objects import KubeObject, Snapshot, number_of
from .._core.readiness import Readiness, pending, ready
from .._impact import impact
from .._kube.client import Api, Query
from .._kube.kinds import known
from .._nodes import drain
from .._nodes.evictions import evict
from . import plan as upgrade_plan, wave_steps
from .jobs import gangs
from .jobs.gangs import Gang
from .judge import BUSY
from .look_steps import Seen, Work
from .options import GpuDriverUpgradeParams

KEPT: t.Final = "UPGRADE-GANG"
_POD: t.Final = known("Pod")
_BUDGET: t.Final = known("PodDisruptionBudget")
# Seconds between two evictions of a pod that the API server refused.
_AGAIN: t.Final = 5.0


def empty(work: Work, wave: t.Sequence[str]) -> None:
    """Empty the nodes of the wave as on_busy says. Raise AcceleratorError if that takes too long.

    wait: until their pods with devices and the gangs of these have ended. drain: gangs are evicted whole; the
    upgrade controller ends all other pods.
    """
    if work.api.check_mode:
        return
    try:
        if work.params.on_busy == impact.WAIT:
            _wait_idle(work, wave)
        elif work.params.on_busy == impact.DRAIN:
            evict_gangs(work.api, work.seen, wave)
    except AcceleratorError:
        _reopen(work, wave)
        raise


def remarks(api: Api, params: GpuDriverUpgradeParams, seen: Seen, nodes: t.Collection[str]) -> list[str]:
    """Return what the plan says about gangs: their pods and nodes, and the budgets that keep them now."""
    found = []
    for gang in gangs.touched(seen.gangs, nodes):
        found.append(gang.line)
        if params.on_busy == impact.DRAIN:
            kept = gangs.kept(gang.pods, api.list(_BUDGET, gang.namespace))
            found += [f"{gang.object_name} waits for its turn: {why}" for why in kept]
    return found


def evict_gangs(api: Api, seen: Seen, nodes: t.Collection[str]) -> None:
    """Evict each gang with a pod with devices on these nodes, wherever its other pods are.

    Cordon the nodes first, so that no new pod of a gang comes. Raise UPGRADE-GANG if a budget keeps one.
    """
    found = gangs.touched(seen.gangs, nodes)
    if found:
        wave_steps.close(api, [seen.drivers[node] for node in nodes if node in seen.drivers])
    for gang in found:
        _evict(api, gang)


def _evict(api: Api, gang: Gang) -> None:
    """Evict all pods of a gang, once every budget allows that, and wait until they are gone."""
    queries = {"pods": Query(_POD, gang.namespace), "budgets": Query(_BUDGET, gang.namespace)}
    snapshot = api.wait(
        queries, lambda seen: _judge_budgets(gang, seen), gang.object_name, on_timeout_code=KEPT
    )
    if not (verdict := _judge_budgets(gang, snapshot)).is_ready:
        raise AcceleratorError(verdict.code, verdict.message, verdict.remedy, verdict.details)
    refused: dict[str, tuple[str, float]] = {}

    def due(pods: t.Iterable[KubeObject]) -> list[KubeObject]:
        asked = [pod for pod in pods if not drain.is_terminating(pod)]
        never = ("", api.clock() - _AGAIN)
        return [pod for pod in asked if api.clock() - refused.get(gangs.uid(pod), never)[1] >= _AGAIN]

    def judge(seen: Snapshot) -> Readiness:
        left = gang.left(seen["pods"])
        if not left or due(left):
            return ready()
        why = "; ".join(sorted({text for text, _when in refused.values() if text}))
        return _pending(gang, left, f"{number_of(len(left), 'pod')} of it still runs{why and f': {why}'}")

    while left := gang.left(snapshot["pods"]):
        for pod in due(left):
            refused[gangs.uid(pod)] = (evict(api, pod), api.clock())
        if not api.wait_wanted:
            return
        snapshot = api.wait(queries, judge, f"end of {gang.object_name}", on_timeout_code=KEPT)


def _judge_budgets(gang: Gang, snapshot: Snapshot) -> Readiness:
    left = gang.left(snapshot["pods"])
    why = gangs.kept(left, snapshot["budgets"])
    if not why:
        return ready()
    return _pending(gang, left, f"{'; '.join(why)}; none of its pods was evicted")


def _pending(gang: Gang, left: t.Iterable[KubeObject], why: str) -> Readiness:
    text = text_of(KEPT, gang=gang.object_name, why=why)
    return pending("Kept", **text._asdict(), details=tuple(map(drain.name, left)))


def _wait_idle(work: Work, wave: t.Sequence[str]) -> None:
    """Cordon the nodes of the wave, and wait until no pod with devices runs there, and no gang of one."""
    together = gangs.touched(work.seen.gangs, wave)

    def left(snapshot: Snapshot) -> impact.Impact | None:
        pods = {gangs.uid(pod): pod for found in snapshot.values() for pod in found}
        still = [
            Gang(gang.kind, gang.namespace, gang.name, tuple(members))
            for gang in together
            if (members := gang.left(pods.values()))
        ]
        return upgrade_plan.impact(work.plan, pods.values(), wave, still)

    def judge(snapshot: Snapshot) -> Readiness:
        found = left(snapshot)
        if found is None:
            return ready("Idle")
        details = tuple(impact.lines([found]))
        return pending("Busy", f"{found.line}.", code=BUSY, remedy=impact.REMEDY, details=details)

    if left({"pods": work.seen.pods}) is None:
        return
    wave_steps.close(work.api, [work.seen.drivers[node] for node in wave])
    queries = drain.pod_queries(wave)
    queries |= {f"gangs in {gang.namespace}": Query(_POD, gang.namespace) for gang in together}
    object_name = f"end of pods with GPUs on {', '.join(wave)}"
    work.api.wait(queries, judge, object_name, on_timeout_code=BUSY)


def _reopen(work: Work, wave: t.Sequence[str]) -> None:
    drivers = work.look_at_drivers().drivers
    wave_steps.reopen(work.api, [drivers[node] for node in wave if node in drivers])
