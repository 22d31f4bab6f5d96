# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Roll back: give the nodes that failed their old driver, and leave the nodes that worked as they are."""

from __future__ import annotations

import functools
import typing as t

from .._core.errors import AcceleratorError, NotReadyError
from .._impact import driver
from .._impact.impact import DRAIN, Impact, ending, endings, refusal
from .._kube.client import Api
from .._nodes import drain
from .._stack.pods import add
from .._stack.upgrade import UPGRADE_FAILED as FAILED
from . import empty_steps, state as states, wave_steps
from .jobs import gangs
from .judge import BUSY, TEMPLATE, judge_template
from .look_steps import Seen, look, look_at_drivers, queries
from .node_driver import SKIP
from .options import GpuDriverUpgradeParams, Triple
from .state import State
from .targets import Target

_REMEDY: t.Final = (
    "Run the upgrade again with gpu_on_busy: drain (module option on_busy): the rollback goes on, and these "
    "pods end."
)


def is_possible(seen: Seen, state: State, nodes: t.Collection[str]) -> bool:
    """Return whether an object of these nodes had another driver before the upgrade."""
    return any(_old(state, target) for target in seen.targets if set(nodes) & set(target.nodes))


def _old(state: State, target: Target) -> Triple | None:
    """Return the driver that the object had before, or None if it was the wanted one."""
    before = state.before.get(target.object_name)
    found = Triple(*before["triple"]) if before else None
    return None if found == state.wanted else found


def roll_back(
    api: Api, params: GpuDriverUpgradeParams, state: State, cause: AcceleratorError | None
) -> AcceleratorError:
    """Roll back, and return the failure to raise: the cause of the rollback, with what was done about it."""
    exc = cause or NotReadyError("UPGRADE-ROLLED-BACK", failure=state.failure)
    nodes = ", ".join(state.failed)
    try:
        kept = back(api, params, state)
    except AcceleratorError as problem:
        problem.message = (
            f"The upgrade of {nodes} failed ({state.failure}), and so did its rollback: {problem.message}"
        )
        problem.facts["driver_upgrade"] = state.as_result()
        return problem
    state = state.at(phase=states.ROLLED_BACK, before={})
    api.apply(state.manifest(params.namespace))
    add(exc, f"{nodes} {'has' if len(state.failed) == 1 else 'have'} the old driver again.")
    if kept:
        add(exc, f"These keep the new one, held by label {SKIP}=true: {', '.join(kept)}.")
    if exc.code == FAILED:
        # The pod that its remedy names is gone, and the node is schedulable again.
        exc.remedy = "Repair what the evidence shows, then run the upgrade again."
    exc.facts["driver_upgrade"] = state.as_result()
    return exc


def back(api: Api, params: GpuDriverUpgradeParams, state: State) -> list[str]:
    """Bring the old driver back where the upgrade failed, and return the nodes that keep the new one.

    Raise UPGRADE-BUSY before the first write if pods would end that the options do not let end, and
    AcceleratorError if a node does not get its old driver.
    """
    seen = look(api, params)
    refuse_busy(params, state, seen)
    empty_steps.evict_gangs(api, seen, _with_new_driver(state, seen))
    kept: list[str] = []
    for target in seen.targets:
        failed = [node for node in state.failed if node in target.nodes]
        old = _old(state, target)
        if failed and old:
            kept += _target(api, params, state, seen, target, failed, old)
    now = look_at_drivers(api, params.namespace, seen)
    wave_steps.restore(api, now, state.before)
    wave_steps.reopen(api, now.drivers.values())
    return kept


def _with_new_driver(state: State, seen: Seen) -> list[str]:
    """Return the failed nodes that run the new driver."""
    return [
        node for node in state.failed if node in seen.drivers and state.wanted.is_of(seen.drivers[node].image)
    ]


def refuse_busy(params: GpuDriverUpgradeParams, state: State, seen: Seen) -> None:
    """Raise UPGRADE-BUSY if pods with GPUs came back to a node with the new driver, and may not end."""
    new = _with_new_driver(state, seen)
    more = [ending(pod) for gang in gangs.touched(seen.gangs, new) for pod in gang.pods]
    ends = tuple(dict.fromkeys([*endings(seen.pods, new, drain.ends_with_driver), *more]))
    if ends and params.on_busy != DRAIN:
        cause = f"the rollback of {', '.join(new)} replaces the driver"
        impacts = [Impact(cause, driver.UPGRADE, tuple(new), ends, True)]
        problem = refusal(impacts, BUSY, "The rollback has not begun.")
        problem.remedy = _REMEDY
        raise problem


def _target(
    api: Api,
    params: GpuDriverUpgradeParams,
    state: State,
    seen: Seen,
    target: Target,
    failed: t.Sequence[str],
    old: Triple,
) -> list[str]:
    others = [seen.drivers[node] for node in target.nodes if node not in failed]
    wave_steps.hold(api, others)
    wave_steps.release(api, [seen.drivers[node] for node in failed])
    # The controller still has to wait for the same pods, and may end the same ones.
    wave_steps.write_target(api, target, old, {})
    judge = functools.partial(judge_template, failed, state.wanted, is_wanted=False)
    api.wait(queries(params.namespace), judge, f"template of {target.object_name}", on_timeout_code=TEMPLATE)
    wave_steps.go_on(api, look_at_drivers(api, params.namespace, seen), failed)
    wave_steps.wait(api, params, seen, old, failed, f"old driver of {', '.join(failed)}")
    now = look_at_drivers(api, params.namespace, seen).drivers
    here = [now[other.name] for other in others if other.name in now]
    wave_steps.release(api, [other for other in here if other.is_current])
    return [other.name for other in here if not other.is_current]
