# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""Run an upgrade: ask, write down the plan, upgrade wave by wave, and roll back what failed."""

from __future__ import annotations

import typing as t
from dataclasses import dataclass, field

from .._core.errors import AcceleratorError, NotReadyError, WaitTimeoutError
from .._core.objects import Snapshot, number_of
from .._core.readiness import Readiness, pending, ready
from .._impact import impact
from .._kube.client import Api
from .._kube.kinds import known
from .._nodes import drain
from . import (
    gate_steps,
    plan as upgrade_plan,
    rollback_steps,
    state as states,
    targets,
    wave_steps,
    window_steps,
)
from .look_steps import Seen, look
from .node_driver import SKIP
from .options import GpuDriverUpgradeParams
from .plan import Plan
from .rollback_steps import BUSY
from .state import State

MAP: t.Final = known("ConfigMap")
PAUSED: t.Final = "The upgrade is paused. Set gpu_upgrade_action: resume (module option action) to go on."


@dataclass
class Work:
    """One upgrade: what the task saw, its plan, its state in the cluster, and the pods that end.

    last: the seconds of each node in the upgrade before.
    """

    api: Api
    params: GpuDriverUpgradeParams
    seen: Seen
    plan: Plan
    state: State
    ends: list[dict[str, t.Any]]
    last: t.Mapping[str, float] = field(default_factory=dict)

    def store(self, **changes: t.Any) -> None:
        """Write the state with these changes into the cluster."""
        self.state = self.state.at(**changes)
        self.api.apply(self.state.manifest(self.params["namespace"]))

    def look(self) -> Seen:
        """Return the cluster as it is now."""
        self.seen = look(self.api, self.params)
        return self.seen

    def result(self) -> dict[str, t.Any]:
        """Return the value of the module's result."""
        return result(self.seen, self.plan, self.state, self.ends, self.last)


def result(
    seen: Seen,
    plan: Plan,
    state: State,
    ends: t.Sequence[dict[str, t.Any]] = (),
    last: t.Mapping[str, float] | None = None,
) -> dict[str, t.Any]:
    """Return the value of the module's result: the state, the plan, the nodes, and the pods that end."""
    return {
        **state.as_result(),
        "plan": plan.lines(state.seconds if last is None else last),
        "nodes": upgrade_plan.facts(seen.drivers, plan, state.seconds),
        "ends": list(ends),
    }


def ask(api: Api, params: GpuDriverUpgradeParams, plan: Plan, seen: Seen) -> list[dict[str, t.Any]]:
    """Return what the upgrade ends. Raise UPGRADE-BUSY or a refusal of a drain, before the first write."""
    found = upgrade_plan.impact(plan, seen.pods, plan.nodes)
    if found is None:
        return []
    if params["on_busy"] == impact.FAIL or (params["on_busy"] == impact.WAIT and not api.wait_wanted):
        raise impact.refusal([found], BUSY)
    here = [pod for pod in seen.pods if drain.node_of(pod) in plan.nodes]
    why = "The operator's upgrade controller ends pods with GPUs"
    if params["on_busy"] == impact.DRAIN and (problem := drain.refusal(here, drain.Rules.of(params), why)):
        raise problem
    api.warn(f"{found.line} (on_busy: {params['on_busy']}).")
    return impact.as_result([found])


def begin(work: Work, found: State | None) -> None:
    """Write down what the upgrade is, before its first change. found: the state that the task has read."""
    wanted = work.plan.wanted
    resumes = found is not None and found.wanted == wanted and (found.is_open or found.phase == states.FAILED)
    state = found if found is not None and resumes else states.fresh(wanted, found)
    # A failed upgrade to another driver has left its upgradePolicy.
    left = found.before if found is not None and found.phase == states.FAILED else {}
    before = {one.title: one.before(left.get(one.title)) for one in work.seen.targets}
    if found is not None and found.is_pausing:
        body = {"metadata": {"annotations": {states.PAUSE: None}}}
        work.api.merge_patch(MAP, states.NAME, work.params["namespace"], body)
    work.state = state
    work.store(
        phase=states.RUNNING,
        waves=work.plan.waves,
        before={**before, **state.before},
        failed=(),
        failure="",
        run=work.api.run.shown,
        is_pausing=False,
    )


def upgrade(work: Work) -> dict[str, t.Any]:
    """Upgrade wave by wave, and return the value of the module's result. Raise the failure of a wave."""
    api, params, plan = work.api, work.params, work.plan
    for number, planned in enumerate(plan.waves):
        wave = list(planned)
        if number and (phase := _stops(api, params)):
            work.store(phase=phase)
            work.look()
            return work.result()
        if number:
            # Nodes go away meanwhile, and pods start.
            drivers = work.look().drivers
            wave = [node for node in wave if node in drivers]
            _refuse_busy(work, wave)
        if not wave:
            continue
        if params["on_busy"] == impact.WAIT:
            _wait_idle(work, wave)
        title = f"{'canary' if number == 0 else f'wave {number}'}: {', '.join(wave)}"
        api.progress(title)
        started = api.clock()
        wave_steps.begin(api, params, work.seen, plan, wave, work.state.passed)
        if api.check_mode or not api.wait_wanted:
            return work.result()
        try:
            _pass(work, wave, title)
        except (NotReadyError, WaitTimeoutError) as exc:
            raise _failed(work, wave, exc) from exc
        seconds = dict.fromkeys(wave, api.clock() - started)
        work.store(passed=(*work.state.passed, *wave), seconds={**work.state.seconds, **seconds})
        _check_later(work, number)
    finish(work)
    return work.result()


def _refuse_busy(work: Work, wave: t.Sequence[str]) -> None:
    """Raise UPGRADE-BUSY if pods with devices started on the nodes since the task asked, and may not end."""
    left = upgrade_plan.impact(work.plan, work.seen.pods, wave)
    if left is not None and work.params["on_busy"] == impact.FAIL:
        so_far = f"The upgrade stopped before {', '.join(wave)}, and the next run goes on there."
        raise impact.refusal([left], BUSY, so_far)


def _pass(work: Work, wave: t.Sequence[str], title: str) -> None:
    """Wait for the nodes of the wave, and take them through the gate. Raise if either fails."""
    wave_steps.wait(work.api, work.params, work.seen, work.plan.wanted, wave, title)
    seen = work.look()
    wave_steps.reopen(work.api, [seen.drivers[node] for node in wave if node in seen.drivers])
    nodes = [seen.drivers[node].node for node in wave if node in seen.drivers]
    pools = {node: wave_steps.pool_of(seen, node) for node in wave if node in seen.drivers}
    gate_steps.check(work.api, work.params, nodes, pools)


def _check_later(work: Work, number: int) -> None:
    """Warn of nodes that have the new driver before their turn; they pass the gate in their own wave."""
    later = [node for wave in work.plan.waves[number + 1 :] for node in wave]
    drivers = work.seen.drivers
    early = [node for node in later if node in drivers and work.plan.wanted.is_of(drivers[node].image)]
    if early:
        work.api.warn(
            f"{', '.join(early)} {'has' if len(early) == 1 else 'have'} the new driver before the turn: "
            f"a driver pod that restarts gets the new template. {targets.remark(work.seen.targets)}".rstrip()
        )


def _stops(api: Api, params: GpuDriverUpgradeParams) -> str:
    """Return the phase in which the run ends before its next wave, or an empty text if it goes on."""
    if not window_steps.may_begin(api, params):
        return states.WAITING
    found = states.read(api.get(MAP, states.NAME, params["namespace"]))
    if found is not None and found.is_pausing:
        api.warn(PAUSED)
        return states.PAUSED
    return ""


def _wait_idle(work: Work, wave: t.Sequence[str]) -> None:
    """Cordon the nodes of the wave, and wait until no pod with devices runs there."""

    def judge(snapshot: Snapshot) -> Readiness:
        pods = [pod for found in snapshot.values() for pod in found]
        left = upgrade_plan.impact(work.plan, pods, wave)
        if left is None:
            return ready("Idle")
        details = tuple(impact.lines([left]))
        return pending("Busy", f"{left.line}.", code=BUSY, remedy=impact.REMEDY, details=details)

    if work.api.check_mode or upgrade_plan.impact(work.plan, work.seen.pods, wave) is None:
        return
    wave_steps.close(work.api, [work.seen.drivers[node] for node in wave])
    title = f"end of pods with GPUs on {', '.join(wave)}"
    try:
        work.api.wait(drain.pod_queries(wave), judge, title, on_timeout_code=BUSY)
    except AcceleratorError:
        seen = work.look()
        wave_steps.reopen(work.api, [seen.drivers[node] for node in wave if node in seen.drivers])
        raise


def finish(work: Work) -> None:
    """Give the objects their own upgradePolicy back, and no longer hold the chosen nodes back."""
    seen, state = work.look(), work.state
    wave_steps.restore(work.api, seen, state.before)
    wave_steps.release(work.api, [one for one in seen.chosen if one.is_free])
    wave_steps.reopen(work.api, seen.chosen)
    if held := sorted(one.name for one in seen.chosen if one.is_held and not one.is_free):
        work.api.warn(
            f"{', '.join(held)}: label {SKIP}=true stays, since the operator's object asks for another "
            "driver. Without the label the operator would end the pods with GPUs there."
        )
    outside = [one for one in work.plan.outside if one in seen.drivers and seen.drivers[one].is_held]
    if outside:
        work.api.warn(
            f"{number_of(len(outside), 'node')} in no chosen pool: label {SKIP}=true keeps the old "
            f"driver there until a run chooses the pool. {targets.remark(seen.targets)}".rstrip()
        )
    work.store(phase=states.DONE, before={}, waves=(), failed=(), failure="")
    work.look()


def _failed(work: Work, wave: t.Sequence[str], exc: AcceleratorError) -> AcceleratorError:
    """Return the failure of a wave, after its rollback."""
    late = [node for node in exc.facts.pop("late", []) if node in wave] or list(wave)
    passed = [node for node in wave if node not in late]
    is_rolled_back = work.params["rollback"] and rollback_steps.is_possible(work.seen, work.state, late)
    work.store(
        phase=states.ROLLING_BACK if is_rolled_back else states.FAILED,
        failed=tuple(late),
        passed=(*work.state.passed, *passed),
        failure=f"{exc.code}: {exc.message}",
    )
    if is_rolled_back:
        return roll_back(work.api, work.params, work.state, exc)
    exc.message += f" The upgrade stopped at {', '.join(late)}; no other node begins."
    exc.facts["driver_upgrade"] = work.state.as_result()
    return exc


def roll_back(
    api: Api, params: GpuDriverUpgradeParams, state: State, cause: AcceleratorError | None
) -> AcceleratorError:
    """Roll back, and return the failure to raise: the cause of the rollback, with what was done about it."""
    exc = cause or NotReadyError(
        "UPGRADE-ROLLED-BACK",
        f"An interrupted run failed ({state.failure}), and this run finished its rollback.",
        "Repair the cause, then run the upgrade again.",
    )
    nodes = ", ".join(state.failed)
    try:
        kept = rollback_steps.back(api, params, state)
    except AcceleratorError as problem:
        problem.message = (
            f"The upgrade of {nodes} failed ({state.failure}), and so did its rollback: {problem.message}"
        )
        problem.facts["driver_upgrade"] = state.as_result()
        return problem
    state = state.at(phase=states.ROLLED_BACK, before={})
    api.apply(state.manifest(params["namespace"]))
    exc.message += f" {nodes} {'has' if len(state.failed) == 1 else 'have'} the old driver again."
    if kept:
        exc.message += f" These keep the new one, held by label {SKIP}=true: {', '.join(kept)}."
    exc.facts["driver_upgrade"] = state.as_result()
    return exc
