# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Judge whether queues are active, and why they are not."""

from __future__ import annotations

import typing as t

from .._catalogue import kueue
from .._core import conditions
from .._core.errors import text_of
from .._core.objects import KubeObject, Snapshot, name, named, number_of
from .._core.readiness import Grace, Readiness, pending, ready, worst
from .._core.run import holder
from .._stack import upgrade
from .options import Queue

# Troubles that pass while Kueue reads the new objects.
PASSING: t.Final = ("QUEUE-NOT-ACTIVE",)
CODE: t.Final = "QUEUE-PENDING"


class Judge:
    """Judge the ClusterQueues and LocalQueues of a task. grace: makes a lasting trouble a failure."""

    def __init__(self, wanted: t.Sequence[Queue], grace: Grace) -> None:
        self._wanted = wanted
        self._grace = grace

    def __call__(self, snapshot: Snapshot) -> Readiness:
        found = [cluster_queue(queue, named(snapshot["queues"], queue.name)) for queue in self._wanted]
        found += [
            _local_queue(queue, space, snapshot["local"])
            for queue in self._wanted
            if not is_stopped(named(snapshot["queues"], queue.name))
            for space in queue.namespaces
        ]
        return worst(self._grace.harden(found))


def cluster_queue(wanted: Queue, live: KubeObject) -> Readiness:
    """Return the verdict about one ClusterQueue. One that somebody stopped is as it should be."""
    active = conditions.find(live, "Active")
    object_name = f"ClusterQueue {wanted.name}"
    if not active or active.get("observedGeneration", 0) < _generation(live):
        return _unseen("NotSeen", object_name)
    if active["status"] == "True" or is_stopped(live):
        return ready("Active")
    reason = str(active.get("reason"))
    text = text_of("QUEUE-NOT-ACTIVE", queue=wanted.name, condition=reason, answer=active.get("message"))
    if reason == "FlavorNotFound":
        remedy = (
            f"Run `oc get resourceflavors.{kueue.GROUP}`, then run again: the task creates those of pools."
        )
        text = text._replace(remedy=remedy)
    return pending(reason, **text._asdict())


def _local_queue(wanted: Queue, space: str, found: t.Iterable[KubeObject]) -> Readiness:
    object_name = f"LocalQueue {space}/{wanted.local_queue}"
    own = (local for local in found if local["metadata"].get("namespace") == space)
    active = conditions.find(named(own, wanted.local_queue), "Active")
    if active.get("status") == "True":
        return ready("Active")
    return _unseen("LocalQueue", object_name, str(active.get("message") or ""))


def _unseen(reason: str, object_name: str, why: str = "") -> Readiness:
    text = text_of("QUEUE-PENDING", object=object_name, why=why or "Kueue has not looked at it yet")
    return pending(reason, **text._asdict())


def _generation(live: KubeObject) -> int:
    return int(live["metadata"].get("generation") or 0)


def is_stopped(live: KubeObject) -> bool:
    """Return whether somebody stopped the ClusterQueue."""
    return ((live.get("spec") or {}).get("stopPolicy") or kueue.OPEN) != kueue.OPEN


def stopped(live: KubeObject) -> str:
    """Return who stopped the ClusterQueue, and what lets it admit again."""
    queue, who = name(live), holder(live)
    why = f"{who or 'somebody'} set stopPolicy {live['spec']['stopPolicy']}"
    again = (
        f'oc patch clusterqueues.{kueue.GROUP} {queue} --type merge -p \'{{"spec":{{"stopPolicy":"None"}}}}\''
    )
    remedy = f"`{again}` lets it admit again."
    if who.startswith(upgrade.WHY):
        pause = upgrade.RESUME.replace("resume", "pause")
        remedy = f"{upgrade.GO_ON} `{pause}` gives the stopPolicy back, and the upgrade does not go on."
    elif who:
        remedy = f"If the removal is no longer wanted: {remedy}"
    return f"ClusterQueue {object_name} admits nothing: {why}. {remedy}"


def summarize(wanted: Queue, live: KubeObject) -> dict[str, t.Any]:
    """Return the entry of the module's result for one queue."""
    status = live.get("status") or {}
    used = {
        (flavor["name"], resource["name"]): str(resource.get("total", "0"))
        for flavor in status.get("flavorsUsage") or []
        for resource in flavor.get("resources") or []
    }
    return {
        "name": wanted.name,
        "cohort": wanted.cohort,
        "active": conditions.is_true(live, "Active"),
        "namespaces": list(wanted.namespaces),
        "local_queue": wanted.local_queue,
        "pending": int(status.get("pendingWorkloads") or 0),
        "admitted": int(status.get("admittedWorkloads") or 0),
        "pools": [
            {
                "name": share.pool.name,
                "resources": {
                    key: {"quota": number, "used": used.get((share.pool.name, key), "0")}
                    for key, number in share.devices.items()
                },
            }
            for share in wanted.shares
        ],
    }


def overused(wanted: Queue, live: KubeObject) -> list[str]:
    """Return warnings about a queue whose Workloads use more than it may use from now on."""
    facts = summarize(wanted, live)
    found = []
    for share, pool in zip(wanted.shares, facts["pools"], strict=True):
        for key, resource in pool["resources"].items():
            most = int(resource["quota"]) + (share.borrow or 0)
            is_bounded = not wanted.cohort or share.borrow is not None
            if is_bounded and int(resource["used"]) > most:
                found.append(
                    f"Queue {wanted.name}: its Workloads use {resource['used']} {key} of pool "
                    f"{pool['name']}, and it may use {most}. What runs goes on; nothing new is admitted "
                    "until less is used."
                )
    return found


def warnings(queues: t.Sequence[Queue]) -> list[str]:
    """Return warnings about pools of which queues give away more than there is."""
    found = []
    given: dict[tuple[str, str], int] = {}
    for share in (share for queue in queues for share in queue.shares):
        for key, number in share.devices.items():
            given[share.pool.name, key] = given.get((share.pool.name, key), 0) + number
    pools = {share.pool.name: share.pool for queue in queues for share in queue.shares}
    for (pool, key), number in given.items():
        offered = pools[pool].most_nodes * pools[pool].expected.get(key, 0)
        if 0 < offered < number:
            found.append(
                f"The queues give away {number} {key} of pool {pool}, and its nodes have {offered}: pods of "
                "admitted Jobs will wait for a GPU."
            )
    return found


def crowded(
    queues: t.Sequence[Queue], others: t.Sequence[KubeObject], flavors: t.Mapping[str, t.Collection[str]]
) -> list[str]:
    """Return warnings about pools whose GPUs our queues and ClusterQueues of others give away twice.

    others: ClusterQueues that are not in the list. flavors: name of a flavor -> names of our pools whose
    nodes it has too.
    """
    given: dict[tuple[str, str], int] = {}
    for share in (share for queue in queues for share in queue.shares):
        for key, number in share.devices.items():
            given[share.pool.name, key] = given.get((share.pool.name, key), 0) + int(number)
    pools = {share.pool.name: share.pool for queue in queues for share in queue.shares}
    found = []
    for (pool, key), number in given.items():
        theirs = {name(other): sum(_quotas(other, key, pool, flavors)) for other in others}
        theirs = {other: more for other, more in theirs.items() if more}
        offered = pools[pool].most_nodes * pools[pool].expected.get(key, 0)
        if theirs and 0 < offered < number + sum(theirs.values()):
            listed = ", ".join(f"{other} ({more})" for other, more in sorted(theirs.items()))
            found.append(
                f"The queues give away {number} {key} of pool {pool}, and ClusterQueues that are not in "
                f"gpu_queues give away GPUs of the same nodes: {listed}. The nodes have {offered}: pods of "
                "admitted Jobs will wait for a GPU."
            )
    return found


def _quotas(
    queue: KubeObject, key: str, pool: str, flavors: t.Mapping[str, t.Collection[str]]
) -> t.Iterator[int]:
    """Yield what a ClusterQueue has of the resource on the nodes of a pool."""
    for group in (queue.get("spec") or {}).get("resourceGroups") or []:
        for flavor in group.get("flavors") or []:
            for resource in flavor.get("resources") or []:
                is_there = pool == flavor.get("name") or pool in flavors.get(str(flavor.get("name")), ())
                if is_there and resource.get("name") == key and str(resource.get("nominalQuota")).isdigit():
                    yield int(resource["nominalQuota"])


def unreachable(queues: t.Sequence[Queue]) -> list[str]:
    """Return warnings about pools that start without nodes, although Kueue looks for free nodes."""
    pools = {share.pool.name: share.pool for queue in queues for share in queue.shares}
    return [
        f"Pool {pool.name} is scaled by the autoscaler, and its queues have a topology: Kueue admits a Job "
        "only when the nodes for it are there, so no Job brings a node."
        for pool in pools.values()
        if pool.autoscale
    ]


def two_flavors(node: KubeObject, flavors: t.Mapping[str, t.Mapping[str, str]]) -> list[str]:
    """Return the flavors whose labels the node has, if these are more than one. flavors: name -> labels."""
    marks = node["metadata"].get("labels") or {}
    found = [flavor for flavor, wanted in flavors.items() if wanted and wanted.items() <= marks.items()]
    return found if len(found) > 1 else []


def object_name(workload: KubeObject) -> str:
    """Return namespace/name of a Workload."""
    return f"{workload['metadata']['namespace']}/{name(workload)}"


def drained(queues: t.Collection[str], snapshot: Snapshot) -> Readiness:
    """Return ready when no Workload holds quota of these ClusterQueues."""
    held = [object_name(workload) for workload in snapshot["workloads"] if kueue.holder(workload) in queues]
    if not held:
        return ready("Empty")
    space, _slash, first = held[0].partition("/")
    remedy = f"Run `oc describe workloads.{kueue.GROUP} {first} -n {space}`, then run again."
    text = text_of("QUEUE-BUSY", count=number_of(len(held), "Workload"), names=", ".join(held[:10]))
    return pending("Busy", text.message, code=text.code, remedy=remedy, details=tuple(held))
