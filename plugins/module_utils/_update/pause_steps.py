# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Steps of update_pools: pause the MachineConfigPools of GPU nodes, and release them after the update."""

from __future__ import annotations

import functools
import typing as t

from .._core.errors import AcceleratorError
from .._core.objects import KubeObject, name
from .._core.readiness import Grace
from .._frame.argspec import BusyParams, LockParams, WaitParams
from .._impact import consent
from .._impact.impact import DRAIN, FAIL
from .._kube.client import Api, Query
from .._kube.kinds import known
from .._nodes import drain
from .._tuning import paused as pauses, pool_judge, rollout, rollout_waits
from .._tuning.rollout import Reboot
from . import pause, release, turns
from .pause import Member
from .rollout import ORDER, selector

_BUSY: t.Final = "UPDATE-BUSY"
_GRACE: t.Final = 120.0


class UpdatePoolsParams(LockParams, BusyParams, WaitParams):
    """The options of update_pools. version: the release that the pools wait for."""

    state: t.Literal["paused", "released"]
    version: str
    order: t.Literal["together", "last"]
    cancelled: bool


def paused(api: Api, params: UpdatePoolsParams) -> dict[str, t.Any]:
    """Pause the pools that have only GPU nodes. Raises AcceleratorError before the first write."""
    if params["version"]:
        release.parse(params["version"])
    version = params["version"] or pauses.UNKNOWN
    found = _members(api)
    wanted = pause.to_pause(found)
    for one in [*wanted, *pause.to_mark(found, version, params["order"])]:
        _patch(api, one, {"paused": True}, version, params["order"])
    for one in [one for one in found if one.is_paused and not one.is_marked]:
        why, remedy = pauses.explain(one.pool)
        api.warn(
            f"MachineConfigPool {one.object_name} {why}, so after_openshift_update does not release it. "
            f"{remedy}"
        )
    titles = {one.object_name for one in found if one.is_paused} | {one.object_name for one in wanted}
    pools = pause.as_result(found, titles)
    return {"pools": pools, "reboots": [], "ends": [], "table": pause.table(pools)}


def released(api: Api, params: UpdatePoolsParams) -> dict[str, t.Any]:
    """Unpause the pools that a run paused, and wait until their nodes have their configuration.

    Raises AcceleratorError before the first write while the cluster is being updated, if it does not have the
    release that they wait for, or if pods with GPUs would end and on_busy is fail.
    """
    found = _members(api)
    mine = [one for one in found if one.is_marked]
    if mine:
        cluster = api.get(known("ClusterVersion"), "version")
        pause.refuse_unfinished(cluster)
        if not params["cancelled"]:
            pause.refuse_not_begun(mine, cluster)
    going = pause.reboots(mine, _pods(api, mine))
    work = _Release(api, params["on_busy"], mine, {one.name: one for one in going})
    work.release()
    titles = work.held | {one.object_name for one in found if one.is_paused and not one.is_marked}
    pools = pause.as_result(found, titles)
    return {
        "pools": pools,
        "reboots": [one.as_result() for one in going],
        "ends": work.ends,
        "table": pause.table(pools),
    }


class _Release:
    """The release of the marked pools, turn by turn.

    reboots: of each pool whose nodes reboot, by its name. held: names of the pools that are still paused.
    ends: what the reboots end, as in the result.
    """

    def __init__(
        self, api: Api, on_busy: str, mine: t.Sequence[Member], reboots: t.Mapping[str, Reboot]
    ) -> None:
        self._api, self._on_busy, self._mine, self._reboots = api, on_busy, mine, reboots
        self._labels = {one.object_name: _labels(one) for one in mine}
        self.held = {one.object_name for one in mine if one.is_paused}
        self.ends: list[dict[str, t.Any]] = []

    def release(self) -> None:
        """Release all pools in their order. Raises AcceleratorError if that fails."""
        order = turns.turns(self._mine)
        refuses = self._on_busy == FAIL or not self._api.wait_wanted
        if any(map(turns.waits, order)) and refuses and self._on_busy != DRAIN:
            # A refusal comes before the wait for the other pools, and before the first write.
            self._ask(self._mine)
        for turn in order:
            if turns.waits(turn) and not self._others_are_updated():
                late = ", ".join(sorted(self.held))
                self._api.warn(
                    f"MachineConfigPool {late} stays paused: other pools are not updated yet, and the task "
                    "does not wait for them (wait: false). Run it again later."
                )
                return
            self.ends += self._ask(turn)
            try:
                self._turn(turn)
            except AcceleratorError as exc:
                if self.held:
                    exc.message += f" MachineConfigPool {', '.join(sorted(self.held))} stays paused."
                raise

    def _others_are_updated(self) -> bool:
        """Wait until every other pool is rolled out. Return False if one is not, without a wait."""
        grace = Grace(self._api.clock, _GRACE, pool_judge.PASSING)
        judge = functools.partial(turns.judge, frozenset(self.held), grace)
        queries = {pool_judge.POOLS: Query(rollout_waits.POOL), pool_judge.NODES: Query(known("Node"))}
        seen = self._api.wait(queries, judge, "rollout of the other pools", on_timeout_code="REBOOT-PENDING")
        own = {one.object_name for one in self._mine}
        for pool in turns.paused_by_others(seen[pool_judge.POOLS], own):
            why, remedy = pauses.explain(pool)
            self._api.warn(
                f"MachineConfigPool {name(pool)} {why}: its nodes are not updated, and the GPU pools do not "
                f"wait for them. {remedy}"
            )
        return self._api.check_mode or judge(seen).is_ready

    def _ask(self, turn: t.Iterable[Member]) -> list[dict[str, t.Any]]:
        going = [self._reboots[one.object_name] for one in turn if one.object_name in self._reboots]
        questions = [rollout.question(one, self._labels[one.name]) for one in going]
        done = [one.object_name for one in self._mine if one.is_paused and one.object_name not in self.held]
        left = ", ".join(sorted(self.held))
        so_far = f"Before that, {', '.join(done)} was released; {left} stays paused." if done else ""
        return consent.ask(self._api, questions, self._on_busy, _BUSY, so_far or consent.UNCHANGED)

    def _turn(self, turn: t.Sequence[Member]) -> None:
        """Unpause the pools of this turn, wait until their nodes are done, and take the marks away."""
        for one in turn:
            if one.is_paused:
                _patch(self._api, one, {"paused": False}, pause.version(one), one.order)
        self.held -= {one.object_name for one in turn}
        labels = {one.object_name: self._labels[one.object_name] for one in turn}
        rollout_waits.wait_pools(self._api, labels, (), _GRACE)
        # The mark goes last: a run that was killed before it waits for the nodes again.
        for one in turn if self._api.wait_wanted or self._api.check_mode else ():
            _patch(self._api, one, {}, None, None)


def _members(api: Api) -> list[Member]:
    return pause.members(api.list(rollout_waits.POOL), api.list(known("Node")))


def _pods(api: Api, found: t.Iterable[Member]) -> list[KubeObject]:
    names = {name(node) for one in found for node in one.gpus}

    def working(pod: KubeObject) -> KubeObject | None:
        return pod if drain.node_of(pod) in names and drain.busy([pod]) else None

    return api.list(known("Pod"), keep=working) if names else []


def _labels(one: Member) -> str:
    """Return the pool's node selector as a query of the API server."""
    return selector({"spec": {"selector": one.pool["spec"].get("nodeSelector")}}) or ""


def _patch(api: Api, one: Member, spec: KubeObject, version: str | None, order: str | None) -> None:
    """Write the mark, or take it away without a version. A pool that is released at once has no order."""
    marks = {pauses.UPDATE: version, ORDER: order if order == pause.LAST else None}
    known_marks = one.pool["metadata"].get("annotations") or {}
    marks = {key: value for key, value in marks.items() if value is not None or key in known_marks}
    body = {"metadata": {"annotations": marks}, "spec": spec}
    api.merge_patch(rollout_waits.POOL, one.object_name, None, body)
