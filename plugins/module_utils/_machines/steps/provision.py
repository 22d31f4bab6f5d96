# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Provision one pool's machines: ask candidate by candidate until the machines exist or none is left."""

from __future__ import annotations

import collections
import dataclasses
import time
import typing as t
from dataclasses import dataclass, field

from ..._core.errors import AcceleratorError, NotReadyError, WaitTimeoutError
from ..._core.objects import KubeObject, Snapshot
from ..._kube.client import Api
from ..._kube.kinds import known
from ..._platforms.infrastructure import Infrastructure
from ..._pools.model import JsonObject, Pool
from .. import (
    attempts,
    candidates as machine_candidates,
    drift as machine_drift,
    machine as machine_facts,
    plan as machine_plan,
    pool as machine_pool,
    removal,
    scaling,
)
from ..candidates import AGAIN, GIVE_UP, KEEP, NEXT
from ..machine_set import name_of, replicas_of
from ..pool_options import GpuMachinesetParams
from . import (
    health,
    pool_objects,
    propagation as propagation_steps,
    removal as removal_steps,
    replacement as machine_replacement,
    writes,
)
from .joining import Joining
from .pool_objects import hosts, queries

_ELSEWHERE: t.Final = " Or set reselect: true to let the pool move to another of its candidates."


@dataclass(frozen=True)
class _Refusal:
    """Machines that the provider refused. machine_sets: code and text by machine set."""

    plan: machine_plan.MachinePlan
    judge: machine_pool.Present
    machine_sets: t.Mapping[str, tuple[str, str]]
    error: NotReadyError


@dataclass
class Provisioning:
    """Provision one pool on a live cluster.

    held: the sets that it had at the start. manifests: those that it has at the end, by name.
    """

    api: Api
    cluster: Infrastructure
    pool: Pool
    params: GpuMachinesetParams
    search: machine_candidates.Search
    held: list[machine_candidates.Held]
    troubled: dict[str, KubeObject] = field(default_factory=dict)
    drift: list[KubeObject] | None = None
    removed: list[KubeObject] = field(default_factory=list)
    has_looked: bool = False
    manifests: t.Mapping[str, KubeObject] = field(default_factory=dict)

    def until_obtained(self, live: list[KubeObject]) -> JsonObject:
        """Ask candidate by candidate until the pool has its machines. Return the module's result.

        live: all machine sets. Raise NotReadyError or WaitTimeoutError.
        """
        joining = Joining(self.api, self.params["approve_csrs"])
        namespace = self.params["namespace"]
        watched = queries(self.pool.name, namespace) | hosts(self.cluster.platform, namespace)
        while True:
            plan = self._ask(live)
            judge = machine_pool.Present(
                plan, self.params["capacity_timeout"], time.time, troubled=self.troubled
            )
            try:
                snapshot = joining.wait(watched, judge, judge.is_mine, f"pool {self.pool.name}")
                if judge.has_waited:
                    self._look_back(plan)
                break
            except (NotReadyError, WaitTimeoutError) as exc:
                exc.evidence += self._look_back(plan)
                refused = judge.refused()
                is_over = bool(refused) and self._has_given_up(plan, refused, exc)
                if isinstance(exc, WaitTimeoutError) or not refused or is_over or self.search.stays:
                    exc.facts.update(
                        self._facts(judge.seen, plan),
                        attempts=[*self.search.attempts, judge.attempt(self.search.candidate, exc)],
                    )
                    exc.remedy += _ELSEWHERE if refused and self._has_others() else ""
                    raise
                self._move(_Refusal(plan, judge, refused, exc))
            live = self._live_sets()
        is_new = not self.search.pinned and self.search.record != self._record
        if self.api.wait_wanted and not self.api.check_mode and is_new:
            live = self._live_sets()
            self._follow(plan, live)
            plan = self._ask(live, self.search.record)
        return self._finished(plan, snapshot)

    def _live_sets(self) -> list[KubeObject]:
        return self.api.list(known("MachineSet"), self.params["namespace"])

    def _has_given_up(
        self, plan: machine_plan.MachinePlan, refused: t.Collection[str], exc: AcceleratorError
    ) -> bool:
        """Return whether the pool gave back what an interrupted replacement had asked for."""
        return machine_replacement.Replacement(self.api, plan, self.params).give_up(refused, exc)

    def _finished(self, plan: machine_plan.MachinePlan, snapshot: Snapshot) -> JsonObject:
        """Remove surplus sets, replace outdated Machines, and return the result."""
        self.manifests = plan.manifests
        self._tidy(plan)
        replacement = machine_replacement.Replacement(self.api, plan, self.params)
        snapshot = replacement.run(snapshot)
        if self.search.obtained < self.pool.replicas and not self.search.pinned:
            self.api.warn(
                f"Pool {self.pool.name} has {self.search.obtained} of {self.pool.replicas} machines; "
                "min_replicas allows that."
            )
        return {
            **self._facts(snapshot, plan),
            "attempts": self.search.attempts,
            "drift": self.drift or [],
            "replaced": replacement.replaced,
            "removed": self.removed,
            "pool": self._as_obtained().as_result(),
        }

    def _look_back(self, plan: machine_plan.MachinePlan) -> list[str]:
        """Return lines on Machines that a health check removed before this task.

        The events are read once, and only if the pool had sets.
        """
        if self.has_looked or not self.held:
            return []
        self.has_looked = True
        found, warnings = health.look_back(self.api, self.pool.name, self.params["namespace"], plan.manifests)
        self.troubled = {**{one["name"]: one for one in found}, **self.troubled}
        return [*health.event_lines(found), *warnings]

    def _facts(self, snapshot: Snapshot, plan: machine_plan.MachinePlan) -> KubeObject:
        return {**machine_pool.facts(snapshot, plan), "troubled": list(self.troubled.values())}

    def _follow(self, plan: machine_plan.MachinePlan, live: list[KubeObject]) -> None:
        """Adopt the replicas that the autoscaler set during the wait."""
        if self.pool.autoscale:
            self.search.placement |= {
                plan.shares[name_of(live_set)].zone: replicas_of(live_set)
                for live_set in live
                if name_of(live_set) in plan.shares
            }

    def _as_obtained(self) -> Pool:
        """Return the pool with only those candidates of which it has machines."""
        used = [share.candidate for share in self.search.shares if share.replicas] or [self.search.candidate]
        candidates = [one for one in self.pool.candidates if any(one is other for other in used)]
        return dataclasses.replace(self.pool, candidates=tuple(candidates), expected=candidates[0].expected)

    @property
    def _record(self) -> str:
        """Return the record that the sets already have; empty for a candidate that is only tried."""
        return "" if self.search.has_left else next((one.obtained for one in self.held if one.obtained), "")

    def _ask(self, live: list[KubeObject], record: str = "") -> machine_plan.MachinePlan:
        """Write the machine sets of the search's shares. live: all machine sets. Return the plan."""
        self._respect(live)
        plan = machine_plan.plan(
            self.cluster, self.pool, self.search.shares, live, self.params, record or self._record
        )
        machines = pool_objects.machines_of(self.api, self.pool.name, self.params["namespace"])
        machine_replacement.foresee(machines, plan, self.params)
        machine_facts.refuse_mirrors(propagation_steps.behind(machines, plan.manifests))
        existing = {name_of(live_set): live_set for live_set in live}
        writes.foresee(self.api, plan, existing, self.search.pinned, self.params["adopt"])
        going = removal_steps.prepare(self.api, plan, live, self.params)
        self.removed += map(removal.as_result, going)
        writes.apply(self.api, plan, existing, self.search.pinned, self.params["adopt"])
        if self.drift is None:
            self.drift = machine_drift.report({name_of(one): one for one in live}, plan.wanted, machines)
        propagation_steps.bring(
            self.api, self.params["namespace"], [one for one in machines if one not in going], plan.manifests
        )
        if self.api.wait_wanted or self.api.check_mode:
            removal_steps.let_go(self.api, machines, self.params)
        for warning in plan.warnings:
            self.api.warn(warning)
        return plan

    def _respect(self, live: list[KubeObject]) -> None:
        """Keep what somebody scaled by hand since the task began, or take it."""
        held = machine_plan.held(self.cluster, self.pool, live)
        for warning in scaling.respect(self.search, held, live, self.params["on_scaled"]):
            self.api.warn(warning)

    def _has_others(self) -> bool:
        """Return whether reselect could move the pool to another candidate."""
        return self.search.won and not self.params["reselect"] and len(self.pool.candidates) > 1

    def _move(self, refusal: _Refusal) -> None:
        """Go on to the next step after a refusal. Raise NotReadyError if no candidate is left."""
        step = self._lose(refusal)
        self.api.progress(
            f"pool {self.pool.name}: {attempts.described(self.search.attempts[-1])}; {attempts.SAID[step]}"
        )
        for action in _ACTIONS[step, self.search.state(step)]:
            action(self, refusal)

    def _mark_refused(self, refusal: _Refusal) -> None:
        """Mark the refused Machines without an instance, so that they go first."""
        judge = refusal.judge
        self._give_up(
            machine
            for machine in judge.seen["machines"]
            if machine_facts.set_name(machine) in refusal.machine_sets and not judge.has_instance(machine)
        )

    def _ask_rest(self, refusal: _Refusal) -> None:
        """Write the shares of which the pool has machines."""
        self._ask(self._live_sets())

    def _ask_former(self, refusal: _Refusal) -> None:
        """Write the shares that the pool had at the start."""
        self.search.restore()
        live = self._live_sets()
        self._give_up(machine_plan.too_many(self.held, live, refusal.judge.seen["machines"]))
        self._ask(live)

    def _fail(self, refusal: _Refusal) -> None:
        """Raise NotReadyError with all attempts."""
        facts = {**self._facts(refusal.judge.seen, refusal.plan), "attempts": self.search.attempts}
        last = attempts.nothing_left(self.pool, self.search, refusal.error, facts)
        if not self.search.won and self.search.obtained:
            attempts.keep_short(last, self.search)
        last.remedy += _ELSEWHERE if self._has_others() else ""
        raise last from refusal.error

    def _leave(self, refusal: _Refusal) -> None:
        """Delete the sets of a candidate that the pool leaves. Raise AcceleratorError if pods run there."""
        recorded = {held.name for held in self.held if held.obtained}
        try:
            self._remove(
                [name for name in refusal.plan.manifests if name not in recorded],
                "removal of the refused candidate's machine sets",
            )
        except AcceleratorError as busy:
            # Pods already run on the machines obtained so far, and the user has not allowed their eviction.
            busy.message = (
                f"{busy.message.removesuffix(' Nothing was changed.')} The machines that the pool has "
                "so far stay until these pods may be evicted."
            )
            busy.facts.update(self._facts(refusal.judge.seen, refusal.plan), attempts=self.search.attempts)
            raise

    def _lose(self, refusal: _Refusal) -> str:
        """Take the refused machines out of the search. Return its next step."""
        plan, judge, refused = refusal.plan, refusal.judge, refusal.machine_sets
        obtained = collections.Counter(
            machine_facts.set_name(machine)
            for machine in judge.seen["machines"]
            if judge.has_instance(machine)
        )
        mine = {
            name: share.zone
            for name, share in plan.shares.items()
            if share.candidate is self.search.candidate
        }
        for name in refused.keys() - mine.keys():
            self.search.lose_kept(plan.shares[name], refused[name], obtained[name])
        if not refused.keys() & mine.keys():
            return AGAIN
        return self.search.lose(
            {mine[name]: why for name, why in refused.items() if name in mine},
            {zone: obtained[name] for name, zone in mine.items()},
        )

    def _give_up(self, machines: t.Iterable[KubeObject]) -> None:
        going = [
            machine
            for machine in machines
            if machine_facts.phase(machine) != "Deleting" and not machine_facts.is_given_up(machine)
        ]
        pool_objects.mark(self.api, self.params["namespace"], going)

    def _tidy(self, plan: machine_plan.MachinePlan) -> None:
        if self.api.wait_wanted or self.api.check_mode:
            self._remove(plan.surplus, "removal of machine sets that it no longer uses")

    def _remove(self, names: t.Sequence[str], why: str) -> None:
        if not names:
            return
        machines = removal_steps.remove(self.api, self.pool.name, names, self.params)
        self.removed += map(removal.as_result, machines)
        for name in names:
            self.api.delete(known("MachineSet"), name, self.params["namespace"], wait=False)
        gone = machine_pool.Gone(frozenset(names), set(map(machine_facts.node_name, machines)))
        self.api.wait(
            queries(self.pool.name, self.params["namespace"]), gone, f"pool {self.pool.name}: {why}"
        )


_Action = t.Callable[[Provisioning, _Refusal], None]
# What follows a refusal, by step and state of the search; the actions run in this order.
_ACTIONS: t.Final[dict[tuple[str, str], tuple[_Action, ...]]] = {
    (AGAIN, ""): (Provisioning._mark_refused,),
    (NEXT, "single"): (Provisioning._leave,),
    (NEXT, "mixed"): (Provisioning._mark_refused,),
    (KEEP, ""): (Provisioning._mark_refused,),
    (GIVE_UP, "empty"): (Provisioning._leave, Provisioning._fail),
    (GIVE_UP, "short"): (Provisioning._mark_refused, Provisioning._ask_rest, Provisioning._fail),
    (GIVE_UP, "complete"): (Provisioning._mark_refused, Provisioning._ask_rest, Provisioning._fail),
    (GIVE_UP, "moved"): (Provisioning._leave, Provisioning._ask_former, Provisioning._fail),
}
