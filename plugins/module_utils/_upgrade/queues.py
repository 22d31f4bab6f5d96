# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Queues of Kueue: which ClusterQueues give the nodes of an upgrade away, and what stops them meanwhile."""

from __future__ import annotations

import typing as t
from dataclasses import dataclass

from .._catalogue import kueue
from .._core import conditions
from .._core.errors import InputError, text_of
from .._core.objects import KubeObject, Snapshot, name
from .._core.readiness import Readiness, pending, ready
from .._core.run import holder
from .._impact import impact
from .._nodes.devices import is_gpu
from .._nodes.labels import labels
from .._nodes.taints import matches
from .._stack import upgrade
from .options import GpuDriverUpgradeParams

DRAIN, LEAVE = "drain", "leave"
CODE: t.Final = "UPGRADE-QUEUE"
_SHOWN: t.Final = 20


@dataclass(frozen=True)
class Queue:
    """A ClusterQueue that gives nodes of the upgrade to Workloads.

    policy: its stopPolicy now. flavors: those of its flavors for devices that select the nodes. nodes: these
    nodes. admitted: its Workloads on these flavors. elsewhere: its Workloads on other nodes. is_held: a note
    of the queue says that a driver upgrade stopped it, also if somebody deleted the state of that upgrade.
    """

    name: str
    policy: str
    flavors: tuple[str, ...]
    nodes: tuple[str, ...]
    admitted: tuple[str, ...]
    elsewhere: tuple[str, ...]
    is_held: bool = False

    def wanted(self, params: GpuDriverUpgradeParams) -> str:
        """Return its stopPolicy during the upgrade, also where somebody else stopped it already."""
        may_drain = params.on_busy == impact.DRAIN and not (self.elsewhere and params.queues is None)
        return kueue.HOLD_AND_DRAIN if may_drain and params.queues in (None, DRAIN) else kueue.HOLD

    def line(self, wanted: str, is_ours: bool) -> str:
        """Return one line for the plan. is_ours: a run of this upgrade stopped the queue."""
        if self.policy != kueue.OPEN and not is_ours:
            return f"ClusterQueue {self.name}: others stopped it ({self.policy}), and it stays so"
        text = f"ClusterQueue {self.name}: stopPolicy is {wanted} until the pool is done"
        if wanted == kueue.HOLD_AND_DRAIN:
            those = [*self.admitted, *self.elsewhere]
            return f"{text}; Kueue requeues {_listed(those)}" if those else text
        if self.elsewhere:
            return f"{text}; these Workloads on other nodes go on: {_listed(self.elsewhere)}"
        return text


def check(params: GpuDriverUpgradeParams) -> None:
    """Raise InputError if the queues are to be drained by a task that may not end pods."""
    if params.queues == DRAIN and params.on_busy != impact.DRAIN:
        raise InputError("UPGRADE-QUEUE-DRAIN", on_busy=params.on_busy)


def find(found: Snapshot, nodes: t.Iterable[KubeObject], chosen: t.Collection[str]) -> list[Queue]:
    """Return the ClusterQueues whose flavors for devices select one of the chosen nodes.

    found: queues, flavors and workloads. nodes: those with GPUs. chosen: names of the nodes of the upgrade.
    """
    here = [node for node in nodes if name(node) in chosen]
    selected = {
        name(flavor): tuple(name(node) for node in here if matches(_node_labels(flavor), labels(node)))
        for flavor in found["flavors"]
    }
    queues = []
    for queue in sorted(found["queues"], key=name):
        flavors = tuple(one for one in _device_flavors(queue) if selected.get(one))
        if not flavors:
            continue
        own = [one for one in found["workloads"] if _queue_of(one) == name(queue)]
        queues.append(
            Queue(
                name(queue),
                policy_of(queue),
                flavors,
                tuple(sorted({node for one in flavors for node in selected[one]})),
                tuple(object_name(one) for one in own if _is_on(one, flavors)),
                tuple(object_name(one) for one in own if not _is_on(one, flavors)),
                policy_of(queue) != kueue.OPEN and holder(queue).startswith(upgrade.WHY),
            )
        )
    return queues


def policy_of(queue: KubeObject) -> str:
    """Return the stopPolicy; None, as a text, for a queue that admits Workloads."""
    return str((queue.get("spec") or {}).get("stopPolicy") or kueue.OPEN)


def object_name(workload: KubeObject) -> str:
    """Return namespace/name of a Workload."""
    return f"{workload['metadata']['namespace']}/{workload['metadata']['name']}"


def judge_drained(flavors: t.Mapping[str, t.Collection[str]], snapshot: Snapshot) -> Readiness:
    """Return ready when Kueue has requeued the Workloads on these flavors. flavors: queue -> its flavors."""
    left = [
        one
        for one in snapshot["workloads"]
        if (queue := _queue_of(one)) in flavors and _is_on(one, flavors[queue])
    ]
    if not left:
        return ready("Requeued")
    those, place = tuple(map(object_name, left)), left[0]["metadata"]
    text = text_of(CODE, workloads=_listed(those), name=place["name"], namespace=place["namespace"])
    return pending("Admitted", **text._asdict(), details=those)


def _listed(workloads: t.Sequence[str]) -> str:
    more = f" and {len(workloads) - _SHOWN} more" if len(workloads) > _SHOWN else ""
    noun = "Workload" if len(workloads) == 1 else "Workloads"
    return f"{len(workloads)} {noun} ({', '.join(workloads[:_SHOWN])}{more})"


def _node_labels(flavor: KubeObject) -> dict[str, str]:
    return dict((flavor.get("spec") or {}).get("nodeLabels") or {})


def _device_flavors(queue: KubeObject) -> list[str]:
    """Return the flavors of the groups that cover devices; others give away only processors and memory."""
    return [
        str(flavor["name"])
        for group in (queue.get("spec") or {}).get("resourceGroups") or []
        if any(is_gpu(str(one)) for one in group.get("coveredResources") or [])
        for flavor in group.get("flavors") or []
    ]


def _admission(workload: KubeObject) -> dict[str, t.Any]:
    if conditions.is_true(workload, "Finished"):
        return {}
    return dict((workload.get("status") or {}).get("admission") or {})


def _queue_of(workload: KubeObject) -> str:
    """Return the ClusterQueue whose quota the Workload holds, or an empty text."""
    return str(_admission(workload).get("clusterQueue") or "")


def _is_on(workload: KubeObject, flavors: t.Collection[str]) -> bool:
    return any(
        flavor in flavors
        for one in _admission(workload).get("podSetAssignments") or []
        for resource, flavor in (one.get("flavors") or {}).items()
        if is_gpu(str(resource))
    )
