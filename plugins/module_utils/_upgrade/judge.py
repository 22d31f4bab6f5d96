# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Judge one wave: does every node of it run the wanted driver, and does its whole stack work?"""

from __future__ import annotations

import typing as t
from dataclasses import replace

from .._core.errors import text_of
from .._core.objects import KubeObject, Snapshot, name, named, number_of
from .._core.readiness import FAILED, PENDING, Grace, Readiness, about_node, pending, ready, worst
from .._nodes.node import is_cordoned, is_ready
from .._nodes.system import judge_update
from .._stack import operands, stages, upgrade
from .._stack.clusterpolicy.judge import CHAIN, DOUBTFUL, PASSING
from .._stack.clusterpolicy.node import judge_node
from .._stack.judge import SLOW, StackJudge, one_line_each
from .._stack.params import StackPool
from .._stack.stages import Finding, on_node, placed
from .._stack.upgrade import RUNNING, how_to_watch
from . import node_driver
from .node_driver import NodeDriver
from .options import Triple
from .targets import Target

GRACE: t.Final = 60.0
SLOW_GRACE: t.Final = 300.0
BUSY: t.Final = "UPGRADE-BUSY"
STUCK: t.Final = "UPGRADE-STUCK"
WAITING: t.Final = "UPGRADE-NOT-STARTED"
TEMPLATE: t.Final = "UPGRADE-TEMPLATE"
RELABELLED: t.Final = "UPGRADE-RELABELLED"
IN_USE: t.Final = "UPGRADE-IN-USE"
# The controller looks every two minutes, so these have to last longer than that.
_PATIENT: t.Final = (STUCK, WAITING, RELABELLED, IN_USE, "GPU-DRV-OUTDATED")
# States of a node that takes no slot, and the operator's own maxUnavailable.
_IDLE: t.Final = ("", "upgrade-done", "upgrade-required")
_UNAVAILABLE: t.Final = "25%"


class Wave(t.NamedTuple):
    """What a wave is judged by. limit: seconds for all of its nodes. target_of: node -> its object."""

    nodes: tuple[str, ...]
    wanted: Triple
    pools: t.Mapping[str, StackPool]
    policy: str
    target_of: t.Mapping[str, Target]
    limit: float


class WaveJudge(StackJudge):
    """The judge of a wait for one wave, which fails if a trouble lasts or the time of the wave is over."""

    def __init__(self, wave: Wave, clock: t.Callable[[], float], grace: float | None) -> None:
        self._wave, self._clock, self._started = wave, clock, clock()
        slow = SLOW_GRACE if grace is None else grace
        own = dict.fromkeys((*SLOW, *_PATIENT), slow)
        codes = (*PASSING, *DOUBTFUL, *_PATIENT)
        patience = Grace(clock, GRACE if grace is None else grace, codes, own)
        super().__init__(lambda snapshot: judge(wave, snapshot), CHAIN, patience)

    def verdict(self, snapshot: Snapshot) -> Readiness:
        """Return the worst finding; pending for longer than the wave may take is failed."""
        late = [one for one in self.findings if not one.is_ready]
        if not late:
            return ready("Upgraded", f"{number_of(len(self._wave.nodes), 'node')} runs the new driver.")
        found = replace(worst(self.findings), details=one_line_each(late))
        if found.is_failed or self._clock() - self._started < self._wave.limit:
            return found
        trouble = found.message.removesuffix(".")
        text = text_of("UPGRADE-SLOW", trouble=trouble, seconds=round(self._wave.limit))
        return replace(found, verdict=FAILED, code=text.code, message=text.message)


def judge(wave: Wave, snapshot: Snapshot) -> list[Finding]:
    """Return the findings about each node of the wave, causes first."""
    policy, drivers = named(snapshot["policies"], wave.policy), node_driver.all_of(snapshot)
    nodes, view = {name(node): node for node in snapshot["nodes"]}, operands.view_of(snapshot)
    found: list[Finding] = []
    for object_name in wave.nodes:
        if (node := nodes.get(object_name)) is None:
            # Its machine went away: no driver is missing.
            continue
        updating = judge_update(node)
        parts: t.Iterable[Readiness | None] = (
            [updating] if updating else _parts(wave, drivers[object_name], policy, view(node), snapshot)
        )
        found += [
            placed(one, wave.pools[object_name]["name"], object_name) for one in parts if one is not None
        ]
    return found


def _parts(
    wave: Wave, driver: NodeDriver, policy: KubeObject, view: Snapshot, whole: Snapshot
) -> list[Readiness | None]:
    turn = judge_turn(driver, wave.wanted, wave.target_of[driver.name], whole)
    stack = judge_node(driver.node, wave.pools[driver.name], policy, view)
    is_waiting = turn is not None and turn.code != RUNNING
    return [turn, *stack] if is_waiting else [*stack, turn]


def judge_turn(driver: NodeDriver, wanted: Triple, target: Target, snapshot: Snapshot) -> Finding | None:
    """Return a finding if the node does not run the wanted driver yet: whose turn it is, and why it waits."""
    if driver.runs(wanted) and driver.is_current:
        return None
    what, code, remedy = _why_late(driver, wanted, target, snapshot)
    return on_node(PENDING, driver.node, code, what, code, remedy, stage=stages.DRIVER)


def _why_late(driver: NodeDriver, wanted: Triple, target: Target, snapshot: Snapshot) -> tuple[str, str, str]:
    """Return what is wrong, its code and its remedy."""
    node, state, image = driver.name, driver.state, driver.image or "no driver"
    idle = state in ("", node_driver.DONE)
    if idle and driver.is_current and driver.is_blocked:
        return about_node(IN_USE, node=node)
    if state == node_driver.REQUIRED and (why := why_no_slot(target, snapshot["nodes"])):
        return about_node(STUCK, node=node, state=state, why=why)
    if state == node_driver.DONE and not driver.is_current:
        return about_node(RELABELLED, node=node, state=state, image=image)
    if idle or state == node_driver.REQUIRED:
        at = state or "no state of an upgrade"
        return about_node(WAITING, node=node, state=at, image=image, driver=wanted.path)
    cordoned = ", cordoned" if is_cordoned(driver.node) else ""
    return f"the driver upgrade is at {state}{cordoned}", RUNNING, how_to_watch(driver.node)


def why_no_slot(target: Target, nodes: t.Iterable[KubeObject]) -> str:
    """Return why the controller begins with no further node, or an empty text if it may begin.

    The controller counts running upgrades against maxParallelUpgrades, where 0 is no limit, and every node
    that is cordoned or not Ready against maxUnavailable.
    """
    ours = [node for node in nodes if name(node) in target.nodes]
    away = [name(node) for node in ours if is_cordoned(node) or not is_ready(node)]
    running = [name(node) for node in ours if upgrade.state(node) not in _IDLE]
    allowed = upgrade.scaled(target.rules.get("maxUnavailable", _UNAVAILABLE), len(ours))
    parallel = int(target.rules.get("maxParallelUpgrades", 1))
    if len(away) >= allowed and not set(away) & set(running):
        shown = ", ".join(away[:5]) + (f" and {len(away) - 5} more" if len(away) > 5 else "")
        return (
            f"maxUnavailable allows {allowed} of {number_of(len(ours), 'node')} to be away, and {shown} "
            f"{'is' if len(away) == 1 else 'are'} cordoned or not Ready"
        )
    failed = [name(node) for node in ours if upgrade.state(node) == "upgrade-failed"]
    if parallel and len(running) >= parallel and len(failed) >= parallel:
        return f"maxParallelUpgrades is {parallel}, and the upgrade of {', '.join(failed[:5])} failed"
    return ""


def judge_template(
    nodes: t.Collection[str], driver: Triple, snapshot: Snapshot, *, is_wanted: bool
) -> Readiness:
    """Return ready once the driver DaemonSets that select these nodes ask for the driver, or no longer do.

    is_wanted: whether they are to ask for it.
    """
    chosen = [node for node in snapshot["nodes"] if name(node) in nodes]
    late = [
        name(one)
        for node in chosen
        for one in operands.selecting(node, snapshot["daemonsets"])
        if operands.component(one) == "driver" and any(map(driver.is_of, _images(one))) != is_wanted
    ]
    if not late:
        return ready()
    return pending("Template", **text_of(TEMPLATE, name=late[0])._asdict())


def _images(daemonset: KubeObject) -> list[str]:
    containers = daemonset["spec"]["template"]["spec"].get("containers") or []
    return [str(one.get("image") or "") for one in containers]
