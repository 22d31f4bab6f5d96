# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Proof of priorities: a pod of the low class has to end for one of the high class, and no other pod."""

from __future__ import annotations

import typing as t

from ..._core.errors import NotReadyError
from ..._core.objects import KubeObject, Snapshot, name
from ..._core.ownership import MANAGED_BY
from ..._core.readiness import Readiness, pending, ready
from ..._nodes import devices, drain
from ..._nodes.node import is_ready
from ..._nodes.taints import merge_tolerations
from ..options import PreemptionProofParams
from ..pods import HOSTNAME, host_of

LABEL: t.Final = "accelerators.openshift/preemption-proof"
LOW, KEPT, HIGH = "low", "kept", "high"
_IMAGE: t.Final = "registry.k8s.io/pause:3.10"


class Place(t.NamedTuple):
    """A node on which nothing but the pods of the proof can end. free: devices that no pod holds."""

    node: str
    host: str
    free: int


def find_place(
    nodes: t.Iterable[KubeObject], pods: t.Sequence[KubeObject], resource: str, high: int
) -> Place | str:
    """Return the first node with two free devices and no pod that the high class could push out.

    Return why there is none, as a clause, otherwise. high: the value of the high class.
    """
    why = "no node of the pool is ready and schedulable"
    for node in sorted(nodes, key=name):
        if (node.get("spec") or {}).get("unschedulable") or not is_ready(node):
            continue
        there = [pod for pod in pods if drain.node_of(pod) == name(node) and not drain.is_ended(pod)]
        free = devices.offered(node, resource) - sum(held(pod, resource) for pod in there)
        if in_danger := weak(there, resource, high):
            why = f"pod {in_danger[0]} on node {name(node)} holds {resource} and could be pushed out"
        elif free < 2:
            why = f"node {name(node)} has {free} of the 2 free {resource} that the proof needs"
        else:
            return Place(name(node), host_of(node), free)
    return why


def held(pod: KubeObject, resource: str) -> int:
    """Return how many devices the pod requests."""
    return sum(
        devices.count(((one.get("resources") or {}).get("limits") or {}).get(resource, 0))
        for one in pod["spec"].get("containers") or []
    )


def priority(pod: KubeObject) -> int:
    """Return the priority of a pod, which is 0 without a class."""
    return int(pod["spec"].get("priority") or 0)


def pod(
    role: str, pool: PreemptionProofParams, place: Place, namespace: str, mark: str, seconds: int
) -> KubeObject:
    """Return a pod of the proof. role: LOW, KEPT or HIGH. mark: of this run. seconds: how long it may run.

    The low one and the high one request one device, the kept one all others that are free.
    """
    amounts = {"cpu": "1m", "memory": "8Mi", pool.resource: str(place.free - 1 if role == KEPT else 1)}
    container = {
        "name": "proof",
        "image": pool.image or _IMAGE,
        "resources": {"requests": amounts, "limits": amounts},
        "securityContext": {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}},
    }
    spec = {
        "restartPolicy": "Never",
        "activeDeadlineSeconds": seconds,
        "priorityClassName": pool.low if role == LOW else pool.high,
        "automountServiceAccountToken": False,
        "terminationGracePeriodSeconds": 1,
        "nodeSelector": {HOSTNAME: place.host},
        "tolerations": merge_tolerations(pool.tolerations),
        "securityContext": {"runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}},
        "containers": [container],
    }
    metadata = {
        "name": f"preemption-{mark}-{role}",
        "namespace": namespace,
        "labels": {**MANAGED_BY, LABEL: mark},
    }
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}


class Scheduled:
    """A judge that is ready once the pods of these names have a node, or when it has given up.

    clock: monotonic seconds. grace: after how many of them it gives up.
    """

    def __init__(self, names: t.Collection[str], clock: t.Callable[[], float], grace: float) -> None:
        self._names = set(names)
        self._clock = clock
        self._end = clock() + grace
        self.late: list[str] = sorted(names)

    def __call__(self, snapshot: Snapshot) -> Readiness:
        placed = {name(one) for one in snapshot["pods"] if drain.node_of(one)}
        self.late = sorted(self._names - placed)
        if self.late and self._clock() < self._end:
            return pending("NotScheduled", f"the scheduler has not placed {', '.join(self.late)}")
        return ready("Scheduled", "the scheduler has had its time")


def weak(pods: t.Iterable[KubeObject], resource: str, high: int) -> list[str]:
    """Return the pods with devices, but those of a proof, that a pod of the value `high` could push out."""
    return sorted(
        drain.name(one)
        for one in pods
        if held(one, resource) and priority(one) < high and LABEL not in (one["metadata"].get("labels") or {})
    )


def lost(before: t.Iterable[KubeObject], after: t.Iterable[KubeObject], low: str) -> list[str]:
    """Return namespace/name of each pod but the low one that ended in between, though it had not finished."""
    there = {one["metadata"]["uid"]: one for one in after}
    found = []
    for one in before:
        now = there.get(one["metadata"]["uid"])
        is_low = name(one) == low
        if not is_low and not drain.is_ended(one) and (now is None or drain.is_terminating(now)):
            found.append(drain.name(one))
    return sorted(found)


def failure(pool: PreemptionProofParams, what: str) -> NotReadyError:
    """Return the error for a scheduler that does not do what the classes say. what: a clause."""
    return NotReadyError("POLICY-PREEMPTION", pool=pool.name, what=what, low=pool.low, high=pool.high)
