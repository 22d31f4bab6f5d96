# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Upgrade the nodes of one wave: hold all others back, change the driver, wait, and pass the gate."""

from __future__ import annotations

import functools
import typing as t

from .._core.errors import NotReadyError
from .._core.objects import Snapshot
from .._kube.client import Api
from .._kube.kinds import known
from .._nodes import drain_steps
from .._nodes.labels import labels
from .._nodes.node import is_cordoned
from .._nodes.taints import matches
from .._stack import diagnose
from .._stack.clusterpolicy.judge import PODS
from .._stack.params import StackPool
from . import node_driver, targets
from .judge import TEMPLATE, Wave, WaveJudge, judge_template
from .look_steps import Seen, look_at_drivers, queries
from .node_driver import NodeDriver
from .options import GpuDriverUpgradeParams, Triple
from .plan import Plan
from .targets import Target

NODE: t.Final = known("Node")


def rules(params: GpuDriverUpgradeParams, target: Target, size: int) -> dict[str, t.Any]:
    """Return what the upgradePolicy needs during the upgrade. size: nodes of the largest wave."""
    found: dict[str, t.Any] = {}
    parallel = int(target.rules.get("maxParallelUpgrades", 1))
    if parallel and parallel < size:
        found["maxParallelUpgrades"] = size
    if params.wait_for:
        found["waitForCompletion"] = {"podSelector": params.wait_for}
    allowed = {"force": params.evict_unmanaged, "deleteEmptyDir": params.delete_emptydir}
    deletion = {key: True for key, is_allowed in allowed.items() if is_allowed}
    if deletion:
        found["podDeletion"] = deletion
    return found


def write_target(
    api: Api, target: Target, triple: Triple, values: t.Mapping[str, t.Any], is_last: bool = False
) -> None:
    """Give the object this driver and these values of its upgradePolicy, if it has others.

    is_last: these are the values that it had before the upgrade.
    """
    kind = known(target.kind)
    live = api.get(kind, target.name) or target.live
    if body := Target(target.kind, live, target.nodes).patch_to(triple, values, is_last):
        api.merge_patch(kind, target.name, None, body)


def restore(api: Api, seen: Seen, before: t.Mapping[str, t.Mapping[str, t.Any]]) -> None:
    """Give the objects their own upgradePolicy back. before: name of each object -> what it had.

    An object that it lacks may have a note of its own: the state of an earlier upgrade was deleted.
    """
    for target in seen.targets:
        rules = before[target.object_name]["rules"] if target.object_name in before else target.noted
        if rules is not None:
            write_target(api, target, target.triple, targets.restoring(rules, target.rules), is_last=True)


def hold(api: Api, drivers: t.Iterable[NodeDriver]) -> None:
    """Hold these nodes back, unless they are."""
    for driver in drivers:
        if not driver.is_held and not driver.is_skipped:
            api.merge_patch(NODE, driver.name, None, node_driver.hold(api.run))


def release(api: Api, drivers: t.Iterable[NodeDriver]) -> None:
    """No longer hold these nodes back."""
    for driver in drivers:
        if driver.is_held:
            api.merge_patch(NODE, driver.name, None, node_driver.release(driver))


def begin(
    api: Api,
    params: GpuDriverUpgradeParams,
    seen: Seen,
    plan: Plan,
    wave: t.Sequence[str],
    passed: t.Collection[str],
) -> None:
    """Let the operator begin with the nodes of the wave alone. passed: nodes that are done."""
    size = max(map(len, plan.waves))
    for target in _of_wave(seen, wave):
        others = [seen.drivers[node] for node in target.nodes if node not in wave and node not in passed]
        hold(api, others)
        write_target(api, target, plan.wanted, rules(params, target, size))
    release(api, [seen.drivers[node] for node in wave])
    go_on(api, seen, wave)


def go_on(api: Api, seen: Seen, nodes: t.Iterable[str]) -> None:
    """Let the controller go on with those of the nodes at which it stopped."""
    for node in nodes:
        if node in seen.drivers and (body := node_driver.again(seen.drivers[node])):
            api.merge_patch(NODE, node, None, body)


def close(api: Api, drivers: t.Iterable[NodeDriver]) -> None:
    """Keep new pods away from these nodes, while the task waits for the end of the others."""
    for driver in drivers:
        if not is_cordoned(driver.node):
            api.merge_patch(NODE, driver.name, None, node_driver.close(api.run.id))


def reopen(api: Api, drivers: t.Iterable[NodeDriver]) -> None:
    """Make the nodes schedulable that `close` cordoned."""
    for driver in drivers:
        if driver.is_closed:
            drain_steps.uncordon(api, driver.name)


def _of_wave(seen: Seen, wave: t.Sequence[str]) -> list[Target]:
    found = {target.object_name: target for target in (seen.target_of(node) for node in wave)}
    return list(found.values())


def wait(
    api: Api,
    params: GpuDriverUpgradeParams,
    seen: Seen,
    wanted: Triple,
    nodes: t.Sequence[str],
    object_name: str,
) -> Snapshot:
    """Wait until every node runs the driver and its stack works, and return what the wait has seen last.

    Raise NotReadyError with logs if not. A node that was in the middle of another upgrade may still fail at
    that one: it gets another try.
    """
    try:
        return _watch(api, params, seen, wanted, nodes, object_name)
    except NotReadyError as exc:
        namespace = params.namespace
        now = look_at_drivers(api, namespace, seen)
        if not (again := _failed_before(now, seen, wanted, exc.facts["late"])):
            raise
        judge = functools.partial(judge_template, again, wanted, is_wanted=True)
        api.wait(queries(namespace), judge, f"template for {', '.join(again)}", on_timeout_code=TEMPLATE)
        go_on(api, look_at_drivers(api, namespace, seen), again)
        return _watch(api, params, seen, wanted, nodes, object_name)


def _failed_before(now: Seen, before: Seen, wanted: Triple, late: t.Collection[str]) -> list[str]:
    """Return the late nodes if all failed at the upgrade in whose middle they were before; else none."""
    found = [now.drivers[node] for node in late if node in now.drivers and node in before.drivers]
    is_old = all(
        driver.state == node_driver.FAILED
        and not (wanted.is_of(driver.image) or driver.is_ready)
        and before.drivers[driver.name].state in node_driver.UNDER_WAY
        for driver in found
    )
    return [driver.name for driver in found] if is_old and any(wanted) else []


def _watch(
    api: Api,
    params: GpuDriverUpgradeParams,
    seen: Seen,
    wanted: Triple,
    nodes: t.Sequence[str],
    object_name: str,
) -> Snapshot:
    limit = float(params.node_timeout * len(nodes))
    api.deadline.grow(api.deadline.elapsed() + limit + params.wait_timeout)
    wave = wave_of(seen, wanted, nodes, limit)
    judge = WaveJudge(wave, api.clock, params.grace)
    try:
        return api.wait(queries(params.namespace), judge, object_name, params.settle)
    except NotReadyError as exc:
        diagnose.find_cause(api, judge, exc, PODS, params.namespace)
        exc.facts["late"] = sorted(
            {finding.node for finding in judge.findings if finding.node and not finding.is_ready}
        )
        raise


def wave_of(seen: Seen, wanted: Triple, nodes: t.Sequence[str], limit: float) -> Wave:
    """Return what the nodes are judged by. limit: seconds for all of them."""
    pools = {node: pool_of(seen, node) for node in nodes}
    targets = {node: seen.target_of(node) for node in nodes}
    return Wave(tuple(nodes), wanted, pools, seen.policy, targets, limit)


def pool_of(seen: Seen, node: str) -> StackPool:
    """Return the chosen pool of the node."""
    marks = labels(seen.drivers[node].node)
    return next(pool for pool in seen.pools if matches(pool["node_selector"], marks))
