# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Run an upgrade: ask, write down the plan, upgrade wave by wave, and roll back what failed."""

from __future__ import annotations

import datetime
import typing as t

from .._core.errors import AcceleratorError, NotReadyError, WaitTimeoutError
from .._core.objects import number_of
from .._frame.lease import Lease
from .._impact import impact
from .._kube.client import Api
from .._nodes import drain
from .._nodes.drain_judge import Rules, refusal
from .._stack.pods import add
from . import (
    empty_steps,
    gate_steps,
    plan as upgrade_plan,
    queue_steps,
    rollback_steps,
    state as states,
    targets,
    wave_steps,
)
from .jobs import gangs
from .judge import BUSY
from .look_steps import MAP, Seen, Work
from .node_driver import SKIP
from .options import GpuDriverUpgradeParams, Window
from .plan import Plan
from .state import State

# Seconds between two looks at the time of day.
_LOOK: t.Final = 30.0
PAUSED: t.Final = "The upgrade is paused. Set gpu_upgrade_action: resume (module option action) to go on."


def ask(api: Api, params: GpuDriverUpgradeParams, plan: Plan, seen: Seen) -> list[dict[str, t.Any]]:
    """Return what the upgrade ends. Raise UPGRADE-BUSY or a refusal of a drain, before the first write."""
    together = gangs.touched(seen.gangs, plan.nodes)
    found = upgrade_plan.impact(plan, seen.pods, plan.nodes, together)
    if found is None:
        return []
    _refuse_kept(seen, plan.nodes, "Nothing was changed.")
    if params.on_busy == impact.FAIL or (params.on_busy == impact.WAIT and not api.wait_wanted):
        busy = impact.refusal([found], BUSY)
        if closed := [node for node in plan.nodes if seen.drivers[node].is_closed]:
            busy.message += (
                f" A run that ended early has cordoned {', '.join(closed)}; the next run that may go on "
                "makes these nodes schedulable."
            )
        raise busy
    here = [pod for pod in seen.pods if drain.node_of(pod) in plan.nodes]
    here += [pod for gang in together for pod in gang.pods if pod not in here]
    why = "The operator's upgrade controller ends pods with GPUs"
    rules = Rules(params.on_busy, params.delete_emptydir, params.evict_unmanaged)
    if params.on_busy == impact.DRAIN and (problem := refusal(here, rules, why)):
        raise problem
    api.warn(f"{found.line} (on_busy: {params.on_busy}).")
    return impact.as_result([found])


def _refuse_kept(seen: Seen, nodes: t.Collection[str], so_far: str) -> None:
    """Raise GPU-UPG-KEPT for pods on these nodes that the upgrade controller can never delete."""
    for target in seen.targets:
        here = [
            pod for pod in seen.pods if drain.node_of(pod) in nodes and drain.node_of(pod) in target.nodes
        ]
        lasting = [pod for pod in impact.stuck(here, target.rules) if pod.is_lasting]
        if problem := impact.refuse_kept(lasting, impact.FAIL, so_far):
            raise problem


def begin(work: Work, found: State | None) -> None:
    """Write down what the upgrade is, before its first change. found: the state that the task has read."""
    wanted = work.plan.wanted
    resumes = found is not None and found.wanted == wanted and (found.is_open or found.phase == states.FAILED)
    state = found if found is not None and resumes else states.fresh(wanted, found)
    # A failed upgrade to another driver has left its upgradePolicy.
    left = found.before if found is not None and found.phase == states.FAILED else {}
    before = {target.object_name: target.before(left.get(target.object_name)) for target in work.seen.targets}
    if found is not None and found.is_pausing:
        body = {"metadata": {"annotations": {states.PAUSE: None}}}
        work.api.merge_patch(MAP, states.NAME, work.params.namespace, body)
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
        if number and is_closed(params):
            # Until the window opens the queues may give work away.
            queue_steps.give_back_all(work)
        if number and (phase := _stops(api, params)):
            queue_steps.give_back_all(work)
            work.store(phase=phase)
            work.look_at_drivers()
            return work.result()
        if number:
            # Nodes go away meanwhile, and pods start.
            drivers = work.look().drivers
            wave = [node for node in wave if node in drivers]
            _refuse_busy(work, wave)
        if not wave:
            continue
        queue_steps.stop(work, wave)
        empty_steps.empty(work, wave)
        object_name = f"{'canary' if number == 0 else f'wave {number}'}: {', '.join(wave)}"
        api.progress(object_name)
        started = api.clock()
        wave_steps.begin(api, params, work.seen, plan, wave, work.state.passed)
        if api.check_mode or not api.wait_wanted:
            return work.result()
        try:
            _pass(work, wave, object_name)
        except (NotReadyError, WaitTimeoutError) as exc:
            raise _failed(work, wave, exc) from exc
        seconds = dict.fromkeys(wave, api.clock() - started)
        work.store(passed=(*work.state.passed, *wave), seconds={**work.state.seconds, **seconds})
        _check_later(work, number)
        queue_steps.after_wave(work, number)
    finish(work)
    return work.result()


def _refuse_busy(work: Work, wave: t.Sequence[str]) -> None:
    """Raise UPGRADE-BUSY if pods with devices started on the nodes since the task asked, and may not end."""
    drivers, wanted = work.seen.drivers, work.plan.wanted
    # A node that restarted before its turn has the driver already: nothing ends there.
    coming = [node for node in wave if not (drivers[node].is_current and drivers[node].runs(wanted))]
    together = gangs.touched(work.seen.gangs, coming)
    left = upgrade_plan.impact(work.plan, work.seen.pods, coming, together)
    so_far = f"The upgrade stopped before {', '.join(wave)}, and the next run goes on there."
    _refuse_kept(work.seen, coming, so_far)
    if left is not None and work.params.on_busy == impact.FAIL:
        raise impact.refusal([left], BUSY, so_far)


def _pass(work: Work, wave: t.Sequence[str], object_name: str) -> None:
    """Wait for the nodes of the wave, and take them through the gate. Raise if either fails."""
    seen = work.take(wave_steps.wait(work.api, work.params, work.seen, work.plan.wanted, wave, object_name))
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
    if not may_begin(api, params):
        return states.WAITING
    found = states.read(api.get(MAP, states.NAME, params.namespace))
    if found is not None and found.is_pausing:
        api.warn(PAUSED)
        return states.PAUSED
    return ""


def is_closed(params: GpuDriverUpgradeParams) -> bool:
    """Return whether no wave may begin now."""
    window = Window.of(params.window)
    return window is not None and not window.is_open(datetime.datetime.now(datetime.UTC))


def may_begin(api: Api, params: GpuDriverUpgradeParams) -> bool:
    """Return whether a wave may begin now; with outside_window wait, wait for the window."""
    window = Window.of(params.window)
    while window is not None and not window.is_open(now := datetime.datetime.now(datetime.UTC)):
        opens = window.opens(now)
        if params.outside_window == "end" or not api.wait_wanted:
            api.warn(f"No wave begins before {opens:%H:%M} UTC. The next run goes on.")
            return False
        api.progress(f"the window opens at {opens:%H:%M} UTC")
        if isinstance(api.guard, Lease):
            # Other runs may work meanwhile.
            api.guard.let_go()
        seconds = (opens - now).total_seconds()
        api.deadline.grow(api.deadline.elapsed() + seconds + params.wait_timeout)
        api.deadline.sleep(min(_LOOK, seconds))
    return True


def finish(work: Work) -> None:
    """Give the objects their own upgradePolicy back, and hold only nodes back that have an older driver."""
    seen, state = work.look_at_drivers(), work.state
    wave_steps.restore(work.api, seen, state.before)
    others = [seen.drivers[node] for node in work.plan.outside if node in seen.drivers]
    wave_steps.release(work.api, [driver for driver in (*seen.chosen, *others) if driver.is_free])
    wave_steps.reopen(work.api, seen.chosen)
    if held := sorted(driver.name for driver in seen.chosen if driver.is_held and not driver.is_free):
        work.api.warn(
            f"{', '.join(held)}: label {SKIP}=true stays, since the operator's object asks for another "
            "driver. Without the label the operator would end the pods with GPUs there."
        )
    if outside := [driver for driver in others if driver.is_held and not driver.is_free]:
        work.api.warn(
            f"{number_of(len(outside), 'node')} in no chosen pool: label {SKIP}=true keeps the old "
            f"driver there until a run chooses the pool. {targets.remark(seen.targets)}".rstrip()
        )
    queue_steps.give_back_all(work)
    work.store(phase=states.DONE, before={}, waves=(), failed=(), failure="")
    work.look_at_drivers()


def _failed(work: Work, wave: t.Sequence[str], exc: AcceleratorError) -> AcceleratorError:
    """Return the failure of a wave, after its rollback."""
    late = [node for node in exc.facts.pop("late", []) if node in wave] or list(wave)
    passed = [node for node in wave if node not in late]
    is_rolled_back = work.params.rollback and rollback_steps.is_possible(work.seen, work.state, late)
    work.store(
        phase=states.ROLLING_BACK if is_rolled_back else states.FAILED,
        failed=tuple(late),
        passed=(*work.state.passed, *passed),
        failure=f"{exc.code}: {exc.message}",
    )
    if is_rolled_back:
        return rollback_steps.roll_back(work.api, work.params, work.state, exc)
    add(exc, f"The upgrade stopped at {', '.join(late)}; no other node begins.")
    exc.facts["driver_upgrade"] = work.state.as_result()
    return exc
