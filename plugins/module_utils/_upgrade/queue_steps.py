# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Stop the queues of Kueue while the nodes of their pools are upgraded, and give their stopPolicy back."""

from __future__ import annotations

import contextlib
import functools
import typing as t

from .._catalogue import kueue
from .._core.errors import AcceleratorError, KindNotServedError
from .._core.run import HELD_BY
from .._kube.client import Api, Query
from .._kube.kinds import Kind
from .._stack import upgrade
from .._stack.pods import add
from . import queues, state as states
from .look_steps import MAP, Seen, Work
from .options import GpuDriverUpgradeParams
from .queues import Queue
from .state import State


def kinds(api: Api) -> dict[str, Kind] | None:
    """Return the kinds of Kueue, or None where the cluster does not serve them."""
    for version in kueue.VERSIONS:
        with contextlib.suppress(KindNotServedError):
            names = (kueue.QUEUE, kueue.FLAVOR, kueue.WORKLOAD)
            return {kind: api.resolve(f"{kueue.GROUP}/{version}", kind) for kind in names}
    return None


def look(api: Api, params: GpuDriverUpgradeParams, seen: Seen, nodes: t.Collection[str]) -> list[Queue]:
    """Return the queues to stop before these nodes are upgraded: none if the task leaves queues alone.

    A task that does not wait cannot give a queue back, so it stops none.
    """
    served = kinds(api) if params.queues != queues.LEAVE and api.wait_wanted else None
    if served is None:
        return []
    found = {
        "queues": api.list(served[kueue.QUEUE]),
        "flavors": api.list(served[kueue.FLAVOR]),
        "workloads": api.list(served[kueue.WORKLOAD]),
    }
    return queues.find(found, [driver.node for driver in seen.drivers.values()], nodes)


def lines(found: t.Iterable[Queue], params: GpuDriverUpgradeParams, state: State) -> list[str]:
    """Return what the plan says about the queues."""
    return [queue.line(queue.wanted(params), _is_ours(queue, state)) for queue in found]


def stop(work: Work, wave: t.Sequence[str]) -> None:
    """Stop the queues of the pools of a wave, and wait until Kueue has requeued their Workloads.

    Raise AcceleratorError if that takes longer than the task may. A queue that somebody else stopped stays as
    it is.
    """
    if not work.has_queues:
        # An earlier run may have stopped some, and this one is to leave queues alone.
        give_back_all(work)
        return
    pools = {work.plan.pools[node] for node in wave}
    nodes = [node for node, pool in work.plan.pools.items() if pool in pools]
    found = look(work.api, work.params, work.seen, nodes)
    ours = [queue for queue in found if queue.policy == kueue.OPEN or _is_ours(queue, work.state)]
    if not ours:
        return
    held = {queue.name: _record(work, queue) for queue in ours}
    if held != {name: work.state.queues.get(name) for name in held}:
        work.store(queues={**work.state.queues, **held})
    served = t.cast("dict[str, Kind]", kinds(work.api))
    for queue in ours:
        if queue.policy != held[queue.name]["set"]:
            note = work.api.run.holds(upgrade.WHY)
            _write(work.api, served[kueue.QUEUE], queue.name, held[queue.name]["set"], note)
    drained = {queue.name: queue.flavors for queue in ours if held[queue.name]["set"] == kueue.HOLD_AND_DRAIN}
    if drained and not work.api.check_mode:
        object_name = f"Workloads of {', '.join(drained)}"
        judge = functools.partial(queues.judge_drained, drained)
        watched = {"workloads": Query(served[kueue.WORKLOAD])}
        work.api.wait(watched, judge, object_name, on_timeout_code=queues.CODE)
        work.look()


def _is_ours(queue: Queue, state: State) -> bool:
    """Return whether a run of this upgrade stopped the queue, and nobody changed its stopPolicy since."""
    known = state.queues.get(queue.name)
    return queue.is_held if known is None else queue.policy in (known["set"], known["before"])


def _record(work: Work, queue: Queue) -> dict[str, t.Any]:
    """Return what the state remembers of a queue: its stopPolicy before and now, its pools, and the run."""
    before = kueue.OPEN if queue.is_held else queue.policy
    last = work.state.queues.get(queue.name) or {"before": before, "pools": []}
    pools = {work.plan.pools[node] for node in queue.nodes}
    return {
        "before": last["before"],
        "set": queue.wanted(work.params),
        "pools": sorted({*last["pools"], *pools}),
        "run": work.api.run.id,
    }


def give_back(api: Api, namespace: str, state: State, pools: t.Collection[str] = ()) -> State:
    """Give the queues their stopPolicy back, but those that one of these pools needs; return the state then.

    A queue whose stopPolicy somebody changed meanwhile stays as it is.
    """
    over = {name: record for name, record in state.queues.items() if not set(record["pools"]) & set(pools)}
    if not over:
        return state
    served = kinds(api)
    for name, record in over.items() if served else ():
        kind = t.cast("dict[str, Kind]", served)[kueue.QUEUE]
        live = api.get(kind, name)
        policy = queues.policy_of(live) if live else record["before"]
        if policy == record["set"]:
            _write(api, kind, name, record["before"], {HELD_BY: None})
        elif policy != record["before"]:
            api.warn(f"ClusterQueue {name}: somebody set stopPolicy {policy} meanwhile, and it stays so.")
    rest = {name: record for name, record in state.queues.items() if name not in over}
    state = state.at(queues=rest)
    api.apply(state.manifest(namespace))
    return state


def after_wave(work: Work, number: int) -> None:
    """Give the queues back that no later wave needs. number: of the wave that is over."""
    later = [node for wave in work.plan.waves[number + 1 :] for node in wave]
    work.state = give_back(
        work.api, work.params.namespace, work.state, {work.plan.pools[node] for node in later}
    )


def give_back_all(work: Work) -> None:
    """Give every queue back that this upgrade stopped."""
    work.state = give_back(work.api, work.params.namespace, work.state)


def after_failure(api: Api, namespace: str, exc: AcceleratorError) -> None:
    """Give every queue back that this run or one that is over stopped; if that fails too, name the queues."""
    if api.check_mode:
        return
    try:
        state = states.read(api.get(MAP, states.NAME, namespace))
        if state is None or not is_abandoned(api, state):
            return
        names = sorted(state.queues)
        give_back(api, namespace, state)
    except AcceleratorError:
        add(exc, "ClusterQueues may still be stopped: the next run gives their stopPolicy back.")
        return
    add(exc, f"{', '.join(names)}: the stopPolicy is as before.")


def is_abandoned(api: Api, state: State) -> bool:
    """Return whether queues are stopped, and no other run works that stopped them."""
    return bool(state.queues) and all(api.guard.is_over(record["run"]) for record in state.queues.values())


def _write(api: Api, kind: Kind, name: str, policy: str, note: t.Mapping[str, str | None]) -> None:
    body = {"metadata": {"annotations": dict(note)}, "spec": {"stopPolicy": policy}}
    api.merge_patch(kind, name, None, body)
