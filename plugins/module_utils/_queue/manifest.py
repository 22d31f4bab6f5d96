# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Objects of Kueue: a ResourceFlavor for each pool, a ClusterQueue for each queue, and its LocalQueues."""

from __future__ import annotations

import typing as t

from .._catalogue import kueue
from .._core.objects import KubeObject
from .._nodes import taints
from .._pools.model import Pool
from . import options
from .amounts import UNCOUNTED
from .options import Queue, Share

# Key of ClusterQueues that names the cohort, by the version of the API.
_COHORT: t.Final = {"v1beta1": "cohort"}
_MANY: t.Final = "1M"
# Name of the one Topology of the flavors.
TOPOLOGY: t.Final = "gpu-pools"


def topology(version: str, levels: t.Sequence[str]) -> KubeObject:
    """Return the Topology of the flavors. levels: labels of nodes, the widest domain first."""
    spec = {"levels": [{"nodeLabel": level} for level in levels]}
    return _object(version, kueue.TOPOLOGY, {"name": TOPOLOGY}, spec)


def flavor(version: str, pool: Pool, tolerate: bool, has_topology: bool = False) -> KubeObject:
    """Return the ResourceFlavor of a pool, with the pool's name.

    tolerate: Kueue gives the pods the tolerations for the pool's taints; otherwise it admits only pods that
    have them. has_topology: Kueue counts the free devices of each node.
    """
    hard = [taint for taint in pool.taints if taint.effect != "PreferNoSchedule"]
    spec: dict[str, t.Any] = {"nodeLabels": dict(pool.node_selector)}
    if hard and tolerate:
        spec["tolerations"] = [taints.tolerating(taint.as_result()) for taint in hard]
    elif hard:
        spec["nodeTaints"] = [taint.as_result() for taint in hard]
    if has_topology:
        spec["topologyName"] = TOPOLOGY
    return _object(version, kueue.FLAVOR, {"name": pool.name}, spec)


def cluster_queue(version: str, queue: Queue) -> KubeObject:
    """Return the ClusterQueue. It says nothing of stopPolicy: who stops a queue has it stay stopped."""
    preemption = queue.preemption
    spec = {
        "namespaceSelector": {
            "matchExpressions": [
                {
                    "key": "kubernetes.io/metadata.name",
                    "operator": "In",
                    "values": sorted(queue.namespaces),
                }
            ]
        },
        "queueingStrategy": queue.strategy,
        "preemption": {
            "withinClusterQueue": preemption["within_queue"],
            "reclaimWithinCohort": preemption["reclaim"],
            "borrowWithinCohort": {"policy": preemption["borrowing"]},
        },
        "resourceGroups": [group(queue)],
    }
    if queue.cohort:
        spec[_COHORT.get(version, "cohortName")] = queue.cohort
    return _object(version, kueue.QUEUE, {"name": queue.name}, spec)


def group(queue: Queue) -> dict[str, t.Any]:
    """Return the one group of resources: each flavor has an amount of each resource, in one order."""
    covered = list(
        dict.fromkeys(
            (
                *queue.resources,
                *UNCOUNTED,
                *(name for share in queue.shares for name in (*share.quota, *options.others(share.pool))),
            )
        )
    )
    flavors = [
        {"name": part.pool.name, "resources": [_quota(queue, part, name) for name in covered]}
        for part in queue.shares
    ]
    return {"coveredResources": covered, "flavors": flavors}


def _quota(queue: Queue, share: Share, name: str) -> dict[str, str]:
    found = {"name": name, "nominalQuota": share.quota.get(name) or _uncounted(share, name)}
    if queue.cohort and name in share.devices:
        for key, number in (("borrowingLimit", share.borrow), ("lendingLimit", share.lend)):
            found |= {} if number is None else {key: str(number)}
    return found


def _uncounted(share: Share, name: str) -> str:
    """Return an amount that no cluster has; "0" for what the pool does not offer."""
    return UNCOUNTED.get(name) or (_MANY if name in options.others(share.pool) else "0")


def local_queues(version: str, queue: Queue) -> list[KubeObject]:
    """Return the LocalQueue of each namespace."""
    return [
        _object(
            version,
            kueue.LOCAL_QUEUE,
            {"name": queue.local_queue, "namespace": space},
            {"clusterQueue": queue.name},
        )
        for space in queue.namespaces
    ]


def cohort_of(live: KubeObject) -> str:
    """Return the cohort of a live ClusterQueue, or ""."""
    spec = live.get("spec") or {}
    return str(spec.get("cohortName") or spec.get("cohort") or "")


def topology_of(live: KubeObject) -> str:
    """Return the Topology of a live ResourceFlavor, or ""."""
    return str((live.get("spec") or {}).get("topologyName") or "")


def _object(version: str, kind: str, metadata: dict[str, str], spec: dict[str, t.Any]) -> KubeObject:
    return {"apiVersion": f"{kueue.GROUP}/{version}", "kind": kind, "metadata": metadata, "spec": spec}
