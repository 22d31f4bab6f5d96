# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""Run an upgrade: ask, write down the plan, upgrade wave by wave, and roll back what failed."""

from __future__ import annotations

import datetime
import typing as t

from .._core.errors import AcceleratorError, NotReadyError
from .._core.objects import number_of
from .._frame.lease import Lease
from .._impact import impact
from .._kube.client import Api
from .._nodes import drain
from . import (
    empty_steps,
    gangs,
    gate_steps,
    plan as upgrade_plan,
    queue_steps,
    rollback_steps,
    state as states,
    targets,
    wave_steps,
)
from .judge import BUSY
from .look_steps import MAP, Seen, Work
from .node_driver import SKIP
from .options import GpuDriverUpgradeParams, Window
from .plan import Plan
from .state import State

PAUSED: t.Final = "The upgrade is paused. Set gpu_upgrade_action: resume (module option action) to go on."
# Seconds between two looks at the time of day.
_LOOK: t.Final = 30.0


def ask(api: Api, params: GpuDriverUpgradeParams, plan: Plan, seen: Seen) -> list[dict[str, t.Any]]:
    """Return what the upgrade ends. Raise UPGRADE-BUSY or a refusal of a drain, before the first write."""
    together = gangs.touched(seen.gangs, plan.nodes)
    found = upgrade_plan.impact(plan, seen.pods, plan.nodes, together)
    if found is None:
        return []
    if params["on_busy"] == impact.FAIL or (params["on_busy"] == impact.WAIT and not api.wait_wanted):
        raise impact.refusal([found], BUSY)
    here = [pod for pod in seen.pods if drain.node_of(pod) in plan.nodes]
    here += [pod for gang in together for pod in gang.pods if pod not in here]
    why = "The operator's upgrade controller ends pods with GPUs"
    if params["on_busy"] == impact.DRAIN and (problem := drain.refusal(here, drain.Rules.of(params), why)):
        raise problem
    api.warn(f"{found.line} (on_busy: {params['on_busy']}).")
    return impact.as_result([found])


def may_begin(api: Api, params: GpuDriverUpgradeParams) -> bool:
    """Return whether a wave may begin now; with outside_window wait, wait for the window."""
    window = Window.of(params["window"])
    while window is not None and not window.is_open(now := datetime.datetime.now(datetime.UTC)):
        opens = window.opens(now)
        if params["outside_window"] == "end" or not api.wait_wanted:
            api.warn(f"No wave begins before {opens:%H:%M} UTC. The next run goes on.")
            return False
        api.progress(f"the window opens at {opens:%H:%M} UTC")
        if isinstance(api.guard, Lease):
            # Other runs may work meanwhile.
            api.guard.let_go()
        seconds = (opens - now).total_seconds()
        api.deadline.grow(api.deadline.elapsed() + seconds + params["wait_timeout"])
        api.deadline.sleep(min(_LOOK, seconds))
    return True


def begin(work: Work, found: State | None) -> None:
    """Write down what the upgrade is, before its first change. found: the state that the task has read."""
    wanted = work.plan.wanted
    resumes = found is not None and found.wanted == wanted and (found.is_open or found.phase == states.FAILED)
    state = found if found is not None and resumes else states.fresh(wanted, found)
    before = {one.title: one.before() for one in work.seen.targets if one.triple != wanted}
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
    for number, wave in enumerate(plan.waves):
        if number and (phase := _stops(api, params)):
            queue_steps.give_back_all(work)
            work.store(phase=phase)
            work.look()
            return work.result()
        if number:
            work.look()
        queue_steps.stop(work, wave)
        empty_steps.empty(work, wave)
        title = f"{'canary' if number == 0 else f'wave {number}'}: {', '.join(wave)}"
        api.progress(title)
        started = api.clock()
        wave_steps.begin(api, params, work.seen, plan, wave, work.state.passed)
        if api.check_mode or not api.wait_wanted:
            return work.result()
        try:
            _pass(work, wave, title)
        except NotReadyError as exc:
            raise _failed(work, wave, exc) from exc
        seconds = dict.fromkeys(wave, api.clock() - started)
        work.store(passed=(*work.state.passed, *wave), seconds={**work.state.seconds, **seconds})
        _check_later(work, number)
        queue_steps.after_wave(work, number)
    finish(work)
    return work.result()


def _pass(work: Work, wave: t.Sequence[str], title: str) -> None:
    """Wait for the nodes of the wave, and take them through the gate. Raise NotReadyError."""
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
    found = states.read(api.get(MAP, states.NAME, params["namespace"]))
    if found is not None and found.is_pausing:
        api.warn(PAUSED)
        return states.PAUSED
    return "" if may_begin(api, params) else states.WAITING


def finish(work: Work) -> None:
    """Give the objects their own upgradePolicy back, and no longer hold the chosen nodes back."""
    seen, state = work.look(), work.state
    for target in seen.targets:
        if before := state.before.get(target.title):
            values = targets.restoring(before["rules"], target.rules)
            wave_steps.write_target(work.api, target, target.triple, values)
    chosen = [one for node, one in seen.drivers.items() if node in work.plan.pools]
    wave_steps.release(work.api, chosen)
    wave_steps.reopen(work.api, chosen)
    if work.plan.outside:
        work.api.warn(
            f"{number_of(len(work.plan.outside), 'node')} in no chosen pool: label {SKIP}=true keeps the old "
            f"driver there until a run chooses the pool. {targets.remark(seen.targets)}".rstrip()
        )
    queue_steps.give_back_all(work)
    work.store(phase=states.DONE, before={}, waves=(), failed=(), failure="")
    work.look()


def _failed(work: Work, wave: t.Sequence[str], exc: NotReadyError) -> AcceleratorError:
    """Return the failure of a wave, after its rollback."""
    late = [node for node in exc.facts.pop("late", []) if node in wave] or list(wave)
    passed = [node for node in wave if node not in late]
    is_rolled_back = work.params["rollback"] and bool(work.state.before)
    work.store(
        phase=states.ROLLING_BACK if is_rolled_back else states.FAILED,
        failed=tuple(late),
        passed=(*work.state.passed, *passed),
        failure=f"{exc.code}: {exc.message}",
    )
    if is_rolled_back:
        return rollback_steps.roll_back(work.api, work.params, work.state, exc)
    exc.message += f" The upgrade stopped at {', '.join(late)}; no other node begins."
    exc.facts["driver_upgrade"] = work.state.as_result()
    return exc
