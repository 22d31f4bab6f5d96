# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Steps of gpu_driver_upgrade: run, pause or resume an upgrade, or show how far it is."""

from __future__ import annotations

import typing as t
from dataclasses import replace

from .._core.errors import AcceleratorError, InputError
from .._core.objects import name
from .._kube.client import Api
from .._kube.kinds import known
from .._kube.session import Unguarded
from .._nodes import sentinel_steps
from .._nodes.pool_nodes import check_pools
from .._olm import versions
from .._stack.drivers.image import THERE
from .._stack.drivers.steps import look_up
from .._stack.steps import installed_csvs
from .._workload import chosen
from . import (
    empty_steps,
    gate_steps,
    images,
    options,
    plan as upgrade_plan,
    queue_steps,
    queues,
    rollback_steps,
    run_steps,
    state as states,
    targets,
    wave_steps,
)
from .judge import judge
from .look_steps import MAP, Seen, Work, look, result
from .options import GpuDriverUpgradeParams, Triple
from .plan import Plan
from .state import State


def ensure(api: Api, params: GpuDriverUpgradeParams) -> dict[str, t.Any]:
    """Upgrade the drivers, or show, pause or resume an upgrade. Return the module's result."""
    options.check(params)
    chosen.check(params.validation or {}, "gpu_upgrade_validation")
    queues.check(params)
    check_pools(params.pools)
    params = replace(params, pools=options.chosen(params.pools, params.only))
    wanted = options.wanted(params)
    found = states.read(api.get(MAP, states.NAME, params.namespace))
    if params.action == options.PAUSE:
        return {"driver_upgrade": _pause(api, params, found)}
    if params.action == options.STATUS:
        return {"driver_upgrade": _status(api, params, found, wanted)}
    if wanted is None:
        if params.action != options.RESUME or found is None:
            fault = "is missing: the task names no driver, and the cluster has no upgrade to resume"
            raise InputError("UPGRADE-TRIPLE", option="version", fault=fault)
        wanted = found.wanted
    if params.action == options.RESUME:
        wanted = _resumed(api, found, wanted)
    try:
        return {"driver_upgrade": _run(api, params, found, wanted)}
    except AcceleratorError as exc:
        queue_steps.after_failure(api, params.namespace, exc)
        raise


def _resumed(api: Api, found: State | None, wanted: Triple) -> Triple:
    """Return the driver of the open upgrade; warn if the options name another one. Without one, theirs."""
    if found is None or not found.is_open or found.wanted == wanted:
        return wanted
    api.warn(
        f"The task resumes the upgrade to {found.wanted.path}, not one to {wanted.path}. For that driver, "
        "run it again without gpu_upgrade_action."
    )
    return found.wanted


def _pause(api: Api, params: GpuDriverUpgradeParams, found: State | None) -> dict[str, t.Any]:
    """Ask the run that upgrades to stop after its wave."""
    if found is None or not found.is_open:
        api.warn("No upgrade is under way, so there is nothing to pause.")
        found = found or _none(Triple("", "", ""))
    else:
        if queue_steps.is_abandoned(api, found):
            found = queue_steps.give_back(api, params.namespace, found)
        found = _marked(api, params.namespace, found)
    return {**found.as_result(), "plan": [], "nodes": [], "ends": []}


def _marked(api: Api, namespace: str, found: State) -> State:
    """Write the annotation that the run which upgrades looks for, unless it is there."""
    if not found.is_pausing:
        # The run that upgrades holds the lease, and looks for this annotation.
        api.guard = Unguarded()
        body = {"metadata": {"annotations": {states.PAUSE: "true"}}}
        api.merge_patch(MAP, states.NAME, namespace, body)
    return found.at(is_pausing=True)


def _none(wanted: Triple) -> State:
    return State(states.NONE, wanted)


def _status(
    api: Api, params: GpuDriverUpgradeParams, found: State | None, wanted: Triple | None
) -> dict[str, t.Any]:
    """Return how far the upgrade is, node by node. Write nothing."""
    seen = look(api, params)
    if not seen.targets:
        targets.refuse_lost(seen.targets, seen.drivers)
    now = seen.targets[0].triple if seen.targets else Triple("", "", "")
    triple = wanted or (found.wanted if found else now)
    plan = _plan(params, seen, triple, found)
    return {**result(seen, plan, found or _none(triple)), "troubles": _troubles(api, seen, plan)}


def _troubles(api: Api, seen: Seen, plan: Plan) -> list[dict[str, t.Any]]:
    """Return what keeps nodes from the wanted driver, as a run would say it; without nodes held back."""
    lost = targets.without_object(seen.targets, plan.pools)
    nodes = tuple(node for node in plan.pools if node not in lost and not seen.drivers[node].is_held)
    wave = wave_steps.wave_of(seen, plan.wanted, nodes, 0.0)
    stream = api.get(known("ImageStream"), "driver-toolkit", "openshift")
    snapshot = {**seen.snapshot, "streams": [stream] if stream else []}
    return [
        {"node": one.node, "code": one.code, "message": one.message, "remedy": one.remedy}
        for one in judge(wave, snapshot)
        if not one.is_ready
    ]


def _plan(params: GpuDriverUpgradeParams, seen: Seen, wanted: Triple, found: State | None) -> Plan:
    before = found.left if found and found.wanted == wanted else ()
    wishes = (wanted, params.wave, params.canary)
    return upgrade_plan.build(seen.targets, seen.drivers, seen.pools, wishes, seen.pods, before)


def _run(api: Api, params: GpuDriverUpgradeParams, found: State | None, wanted: Triple) -> dict[str, t.Any]:
    states.refuse_other(found, wanted, params.namespace)
    if found and found.phase == states.ROLLING_BACK:
        return _roll_back(api, params, found, wanted)
    if found and found.is_paused and params.action != options.RESUME:
        api.warn(run_steps.PAUSED)
        found = queue_steps.give_back(api, params.namespace, found)
        return _status(api, params, found, wanted)
    seen = look(api, params)
    plan = _plan(params, seen, wanted, found)
    targets.refuse_lost(seen.targets, plan.pools)
    targets.refuse_outgrown(wanted, [seen.drivers[node].node for node in plan.nodes])
    for target in seen.targets:
        if set(target.nodes) & set(plan.nodes):
            targets.refuse(target, params.adopt)
    if not plan.waves:
        return _nothing_due(api, params, seen, plan, found)
    return _begin(api, params, seen, plan, found)


def _begin(
    api: Api, params: GpuDriverUpgradeParams, seen: Seen, plan: Plan, found: State | None
) -> dict[str, t.Any]:
    """Show what will happen and ask; then upgrade as soon as the window is open."""
    _check_images(api, params.namespace, seen, plan)
    state = found or states.fresh(plan.wanted, None)
    queued = queue_steps.look(api, params, seen, plan.nodes)
    remarks = [
        *queue_steps.lines(queued, params, state),
        *empty_steps.remarks(api, params, seen, plan.nodes),
    ]
    for line in [*plan.lines(state.seconds), *remarks, targets.remark(seen.targets)]:
        api.progress(line)
    ends = run_steps.ask(api, params, plan, seen)
    if params.probe:
        gate_steps.rehearse(api, params.probe, seen.drivers[plan.nodes[0]].node)
    if not api.check_mode:
        is_closed = run_steps.is_closed(params)
        if is_closed and found:
            # A run before has stopped queues, and they may give work away until the window opens.
            found = queue_steps.give_back(api, params.namespace, found)
        if not run_steps.may_begin(api, params):
            return result(seen, plan, state.at(phase=states.WAITING), ends, None, remarks)
        if is_closed:
            # The task has waited for the window: other pods run now, and other runs may have worked.
            found = states.read(api.get(MAP, states.NAME, params.namespace))
            return _run(api, params, found, plan.wanted)
    work = Work(api, params, seen, plan, state, ends, state.seconds, remarks, bool(queued))
    nodes = [seen.drivers[node].node for node in plan.nodes if node in seen.drivers]
    with sentinel_steps.opted_out(api, lambda: nodes):
        run_steps.begin(work, found)
        return run_steps.upgrade(work)


def _check_images(api: Api, namespace: str, seen: Seen, plan: Plan) -> None:
    """Raise if a node of the plan would find no image: UPGRADE-IMAGE, MIRROR-OS-TAG; warn if nobody can tell.

    A node whose object asks for the driver already needs no look-up.
    """
    nodes = {name(node): node for node in seen.snapshot["nodes"] if name(node) in plan.nodes}
    groups = images.needed(seen.targets, plan.wanted, nodes)
    answers = look_up(api, (one for group in groups for one in group), namespace)
    groups = images.of_release(groups, answers, versions.gpu_operator(installed_csvs(api, namespace)))
    if gone := images.missing(groups, answers):
        instead = images.others(gone, plan.wanted)
        found = look_up(api, instead, namespace)
        there = {one: branch for one, branch in instead.items() if found[one].verdict == THERE}
        raise images.refusal(groups, gone, there)
    if text := images.unknown(groups, answers):
        api.warn(text)


def _roll_back(api: Api, params: GpuDriverUpgradeParams, found: State, wanted: Triple) -> dict[str, t.Any]:
    """Finish the rollback of a killed run, and raise its failure; in check mode say that a run does so."""
    if not api.check_mode:
        raise rollback_steps.roll_back(api, params, found, None)
    rollback_steps.refuse_busy(params, found, look(api, params))
    api.warn(f"The next run first finishes the rollback of {', '.join(found.failed)}, and fails then.")
    return _status(api, params, found, wanted)


def _nothing_due(
    api: Api, params: GpuDriverUpgradeParams, seen: Seen, plan: Plan, found: State | None
) -> dict[str, t.Any]:
    """Finish what a killed run left: labels that hold nodes back, and the upgradePolicy."""
    is_left = any(one.is_held or one.is_closed for one in seen.chosen)
    is_left = is_left or any(one.noted is not None for one in seen.targets)
    state = found or _none(plan.wanted).at(phase=states.DONE)
    work = Work(api, params, seen, plan, state, [])
    if is_left or state.is_open or state.queues or state.phase == states.FAILED:
        run_steps.finish(work)
    work.state = work.state.at(phase=states.DONE)
    return work.result()
