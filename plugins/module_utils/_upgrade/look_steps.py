# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Read what an upgrade is planned from, and hold what its steps share."""

from __future__ import annotations

import typing as t
from dataclasses import dataclass, field

from .._catalogue.well_known import GPU_PRESENT
from .._core.objects import KubeObject, Snapshot
from .._kube.client import Api, Query
from .._kube.kinds import known
from .._nodes import drain
from .._nodes.labels import labels
from .._nodes.taints import matches
from .._stack import operands
from .._stack.params import StackPool
from .._stack.steps import toolkit_query
from . import node_driver, plan as upgrade_plan, targets
from .jobs import gangs as gang_facts
from .jobs.gangs import Gang
from .node_driver import NodeDriver
from .options import GpuDriverUpgradeParams
from .plan import Plan
from .state import State
from .targets import Target

_GPU_NODES: t.Final = f"{GPU_PRESENT}=true"
_DEPLOY: t.Final = f"{operands.DEPLOY}driver"
MAP: t.Final = known("ConfigMap")
# The pool of a task that names none.
ALL: t.Final = "all"


@dataclass(frozen=True)
class Seen:
    """The cluster as the task saw it.

    pools: the chosen ones. pods: those with devices, on any node. gangs: those of all running pods.
    """

    snapshot: Snapshot
    targets: list[Target]
    drivers: dict[str, NodeDriver]
    pools: list[StackPool]
    pods: list[KubeObject]
    gangs: list[Gang]

    @property
    def chosen(self) -> list[NodeDriver]:
        """Return the nodes of the chosen pools, also those that joined during the upgrade."""
        return [
            one
            for one in self.drivers.values()
            if any(matches(pool["node_selector"], labels(one.node)) for pool in self.pools)
        ]

    def target_of(self, node: str) -> Target:
        """Return the object that brings the driver of the node."""
        return next(one for one in self.targets if node in one.nodes)

    @property
    def policy(self) -> str:
        """Return the name of the ClusterPolicy."""
        return str(self.snapshot["policies"][0]["metadata"]["name"])


def queries(namespace: str) -> dict[str, Query]:
    """Return what a wave is judged by."""
    return {
        "policies": Query(known("ClusterPolicy")),
        "nodes": Query(known("Node"), labels=_GPU_NODES),
        "daemonsets": Query(known("DaemonSet"), namespace),
        "pods": Query(known("Pod"), namespace),
        "revisions": Query(known("ControllerRevision"), namespace),
        "streams": toolkit_query(),
    }


def look(api: Api, params: GpuDriverUpgradeParams) -> Seen:
    """Return the cluster as it is. Raise NotReadyError if nothing brings a driver.

    One list of all pods has those of the operator too.
    """
    namespace = params.namespace

    def wanted(pod: KubeObject) -> KubeObject | None:
        is_operand = pod["metadata"]["namespace"] == namespace
        return pod if is_operand or _is_busy(pod) or gang_facts.is_member(pod) else None

    pods = api.list(known("Pod"), keep=wanted)
    operands_pods = [pod for pod in pods if pod["metadata"]["namespace"] == namespace]
    pools = [t.cast(StackPool, one) for one in params.pools] or [_everything()]
    return _seen(
        {**_listed(api, namespace, ("streams", "pods")), "pods": operands_pods},
        pools,
        [pod for pod in pods if _is_busy(pod)],
        gang_facts.find([pod for pod in pods if _is_busy(pod) or gang_facts.is_member(pod)]),
    )


def look_at_drivers(api: Api, namespace: str, seen: Seen) -> Seen:
    """Return the nodes and their drivers as they are now, with the pods of users as they were seen before."""
    return _seen(_listed(api, namespace, ("streams",)), seen.pools, seen.pods, seen.gangs)


def seen_by(snapshot: Snapshot, seen: Seen) -> Seen:
    """Return what a wait for a wave has seen last, with the pods of users as they were seen before."""
    found = {key: list(one) for key, one in snapshot.items() if key != "streams"}
    found["drivers"] = list(seen.snapshot["drivers"])
    return _seen(found, seen.pools, seen.pods, seen.gangs)


def _listed(api: Api, namespace: str, without: t.Collection[str]) -> dict[str, list[KubeObject]]:
    found: dict[str, list[KubeObject]] = {
        key: api.list(one.kind, one.namespace, one.labels)
        for key, one in queries(namespace).items()
        if key not in without
    }
    return {**found, "drivers": api.list_if_served(known("NVIDIADriver"))}


def _seen(
    found: t.Mapping[str, list[KubeObject]],
    pools: list[StackPool],
    pods: list[KubeObject],
    gangs: list[Gang],
) -> Seen:
    found = {**found, "nodes": [node for node in found["nodes"] if _has_driver(node)]}
    return Seen(found, targets.find(found), node_driver.all_of(found), pools, pods, gangs)


def _is_busy(pod: KubeObject) -> bool:
    return bool(drain.node_of(pod) and drain.busy([pod], drain.ends_with_driver))


def _has_driver(node: KubeObject) -> bool:
    """Return whether the GPU operator runs a driver on the node, also while it is paused."""
    mark = labels(node).get(_DEPLOY, "")
    return mark == "true" or mark.startswith("paused-")


def _everything() -> StackPool:
    return {"name": ALL, "node_selector": {GPU_PRESENT: "true"}, "min_nodes": 0}


@dataclass
class Work:
    """One upgrade: what the task saw, its plan, its state in the cluster, and the pods that end.

    last: the seconds of each node in the upgrade before. remarks: further lines of the plan, about queues and
    gangs. has_queues: queues of Kueue give the nodes of the plan away.
    """

    api: Api
    params: GpuDriverUpgradeParams
    seen: Seen
    plan: Plan
    state: State
    ends: list[dict[str, t.Any]]
    last: t.Mapping[str, float] = field(default_factory=dict)
    remarks: t.Sequence[str] = ()
    has_queues: bool = False

    def store(self, **changes: t.Any) -> None:
        """Write the state with these changes into the cluster."""
        self.state = self.state.at(**changes)
        self.api.apply(self.state.manifest(self.params.namespace))

    def look(self) -> Seen:
        """Return the cluster as it is now."""
        self.seen = look(self.api, self.params)
        return self.seen

    def look_at_drivers(self) -> Seen:
        """Return the nodes and their drivers as they are now."""
        self.seen = look_at_drivers(self.api, self.params.namespace, self.seen)
        return self.seen

    def take(self, snapshot: Snapshot) -> Seen:
        """Return the cluster as a wait for a wave has seen it last."""
        self.seen = seen_by(snapshot, self.seen)
        return self.seen

    def result(self) -> dict[str, t.Any]:
        """Return the value of the module's result."""
        return result(self.seen, self.plan, self.state, self.ends, self.last, self.remarks)


def result(
    seen: Seen,
    plan: Plan,
    state: State,
    ends: t.Sequence[dict[str, t.Any]] = (),
    last: t.Mapping[str, float] | None = None,
    remarks: t.Sequence[str] = (),
) -> dict[str, t.Any]:
    """Return the value of the module's result: the state, the plan, the nodes, and the pods that end."""
    return {
        **state.as_result(),
        "plan": [*plan.lines(state.seconds if last is None else last), *remarks],
        "nodes": upgrade_plan.facts(seen.drivers, plan, state.seconds),
        "ends": list(ends),
    }
