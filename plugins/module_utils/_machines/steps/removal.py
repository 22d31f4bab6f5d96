# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Remove machines: drain their nodes first, and choose idle machines before busy ones.

This collection drains the nodes itself, because the Machine API's own drain uses force.
"""

from __future__ import annotations

import collections
import functools
import typing as t

from ..._core.errors import AcceleratorError
from ..._core.objects import KubeObject
from ..._kube.client import Api, Query
from ..._kube.kinds import known
from ..._nodes import drain, drain_steps
from ..._nodes.drain_judge import Rules, refusal
from .. import removal
from ..candidates import Held, Search, is_of
from ..machine import counted, name, node_name, phase, refuse_mirrors, set_name
from ..machine_set import name_of, replicas_of
from ..placement import spared
from ..plan import MachinePlan
from ..pool_options import GpuMachinesetParams
from . import pool_objects


def spare(api: Api, search: Search, held: t.Sequence[Held], namespace: str) -> None:
    """Move the losses of a shrinking pool to zones with idle machines."""
    zones = {
        held_set.name: held_set.zone
        for held_set in held
        if held_set.zone in search.placement and is_of(held_set, search.candidate, search.pool)
    }
    current = collections.Counter({one.zone: one.replicas for one in held if one.name in zones})
    if search.pinned or len(search.placement) < 2 or sum(search.placement.values()) >= current.total():
        return
    machines = [
        machine
        for machine in pool_objects.machines_of(api, search.pool.name, namespace)
        if set_name(machine) in zones and phase(machine) != "Deleting"
    ]
    working = {drain.node_of(pod) for pod in drain.busy(drain_steps.pods_on(api, _nodes(machines)))}
    idle = collections.Counter(zones[set_name(one)] for one in machines if node_name(one) not in working)
    search.placement = spared(search.placement, current, idle)


def prepare(
    api: Api, plan: MachinePlan, live: t.Sequence[KubeObject], params: GpuMachinesetParams
) -> list[KubeObject]:
    """Drain and mark the Machines that go, before fewer replicas are written. Return them.

    live: all machine sets. A task that does not wait cannot drain a node and keeps the replicas. Raise
    AcceleratorError before any write if a Machine may not go.
    """
    pool, namespace, rules = plan.pool.name, params["namespace"], Rules.of(params)
    have = {name_of(live_set): replicas_of(live_set) for live_set in live}
    fewer = {one: replicas for one, replicas in plan.replicas.items() if replicas < have.get(one, 0)}
    given_up = [one for one in plan.surplus if have[one]]
    if not fewer and not given_up:
        return []
    machines = [one for one in pool_objects.machines_of(api, pool, namespace) if phase(one) != "Deleting"]
    pods = drain_steps.pods_on(api, _nodes(one for one in machines if set_name(one) in {*fewer, *given_up}))
    victims = [
        victim
        for set_, replicas in fewer.items()
        for victim in removal.victims([one for one in machines if set_name(one) == set_], replicas, pods)
    ]
    all_that_go = [*victims, *(machine for machine in machines if set_name(machine) in given_up)]
    why = f"Pool {pool} is to lose {counted(len(all_that_go))}"
    _check_leaving(all_that_go, pods, rules, why)
    if not fewer:
        return []
    if not api.wait_wanted and not api.check_mode:
        api.warn(
            f"Pool {pool} keeps its replicas: to lower them, the task has to drain nodes, and it does not "
            "wait (wait: false)."
        )
        for one in fewer:
            plan.manifests[one]["spec"]["replicas"] = have[one]
        return []
    release(api, namespace, victims, rules, why, {one: have[one] for one in fewer})
    return victims


def _check_leaving(
    machines: t.Sequence[KubeObject], pods: t.Iterable[KubeObject], rules: Rules, why: str
) -> None:
    """Raise AcceleratorError if pods on the Machines' nodes may not be evicted, or if one is a mirror."""
    nodes = _nodes(machines)
    if problem := refusal([pod for pod in pods if drain.node_of(pod) in nodes], rules, why):
        raise problem
    refuse_mirrors(machine for machine in machines if removal.released(machine))


def remove(api: Api, pool: str, names: t.Collection[str], params: GpuMachinesetParams) -> list[KubeObject]:
    """Drain the nodes of sets that are about to be deleted. Return the Machines of these sets.

    A task that does not wait only checks whether the nodes may be drained.
    """
    machines, why = foresee(api, pool, names, params)
    if api.wait_wanted or api.check_mode:
        drain_steps.drain(api, _nodes(machines), Rules.of(params), why)
        pool_objects.unhook(api, params["namespace"], machines)
    return machines


def foresee(
    api: Api, pool: str, names: t.Collection[str], params: GpuMachinesetParams
) -> tuple[list[KubeObject], str]:
    """Return the Machines of sets that are about to be deleted, and why their nodes are drained.

    Raise AcceleratorError before any write if a node may not be drained, or if a Machine is a mirror.
    """
    machines = (
        [one for one in pool_objects.machines_of(api, pool, params["namespace"]) if set_name(one) in names]
        if names
        else []
    )
    why = f"Pool {pool} is to lose {counted(len(machines))}"
    refuse_mirrors(machine for machine in machines if removal.without_hook(machine))
    drain_steps.check(api, _nodes(machines), Rules.of(params), why)
    return machines, why


def release(
    api: Api,
    namespace: str,
    machines: t.Sequence[KubeObject],
    rules: Rules,
    why: str,
    replicas: t.Mapping[str, int],
) -> None:
    """Drain the Machines' nodes, then mark the Machines as first to delete and remove our hook.

    replicas: of their machine sets, by name. Raise MACH-SCALED if one of them changes meanwhile.
    """
    fault = functools.partial(removal.scaled_meanwhile, replicas=replicas)
    watched = drain_steps.Watched({removal.SETS: Query(known("MachineSet"), namespace)}, fault)
    drain_steps.drain(api, _nodes(machines), rules, why, watched=watched)
    pool_objects.mark(api, namespace, machines)


def let_go(api: Api, machines: t.Iterable[KubeObject], params: GpuMachinesetParams) -> None:
    """Drain nodes of deleted Machines that our hook holds, and remove it. Raise AcceleratorError."""
    for machine in machines:
        if phase(machine) != "Deleting" or not removal.without_hook(machine):
            continue
        try:
            drain_steps.drain(api, _nodes([machine]), Rules.of(params), f"Machine {name(machine)} is deleted")
        except AcceleratorError as exc:
            raise AcceleratorError(
                "MACH-HOOK",
                remedy=exc.remedy,
                evidence=exc.evidence,
                machine=name(machine),
                since=machine["metadata"]["deletionTimestamp"],
                refusal=exc.message,
            ) from exc
        pool_objects.unhook(api, params["namespace"], [machine])


def _nodes(machines: t.Iterable[KubeObject]) -> set[str]:
    return {node_name(machine) for machine in machines} - {""}
