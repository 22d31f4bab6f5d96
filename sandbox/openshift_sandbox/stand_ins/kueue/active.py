# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Stand in for Kueue: it says which ClusterQueues and LocalQueues are active.

The real one also looks at admission checks and topologies, counts Workloads in both, and puts finalizers on
queues and on flavors that are in use.
"""

from __future__ import annotations

from openshift_sandbox.programs import kueue
from openshift_sandbox.stand_ins.core.conditions import Condition, condition, holds, merged
from openshift_sandbox.stand_ins.core.reconciler import Cluster, Object, Reconciler
from openshift_sandbox.stand_ins.kueue import operator


def cluster_queue(queue: Object, flavors: set[str]) -> Condition:
    """Return the condition Active of a ClusterQueue. flavors: names of those that exist."""
    groups = queue["spec"].get("resourceGroups") or []
    named = [flavor["name"] for group in groups for flavor in group["flavors"]]
    lost = [one for one in named if one not in flavors]
    troubles = [("Stopped", "is stopped")] if queue["spec"].get("stopPolicy", "None") != "None" else []
    if lost:
        troubles.append(("FlavorNotFound", f"references missing ResourceFlavor(s): {','.join(lost)}"))
    reason, text = troubles[0][0] if troubles else "Ready", ", ".join(text for _reason, text in troubles)
    message = f"Can't admit new workloads: {text}." if text else "Can admit new workloads"
    return condition("Active", not troubles, reason, message)


def local_queue(queue: Object | None) -> Condition:
    """Return the condition Active of a LocalQueue. queue: the ClusterQueue that it leads to."""
    text = "Can't submit new workloads to clusterQueue"
    if queue is None:
        return condition("Active", False, "ClusterQueueDoesNotExist", text)
    if holds(queue, "Active"):
        return condition("Active", True, "Ready", "Can submit new workloads to localQueue")
    return condition("Active", False, "ClusterQueueIsInactive", text)


def plays(cluster: Cluster) -> bool:
    """Return whether the stand-in works: the CRDs are there, and the real Kueue does not run.

    Where there is Red Hat's operator, Kueue runs only while its object is available, except in scenarios that
    have Kueue from the start.
    """
    if not cluster.served("ClusterQueue") or kueue.wanted(cluster.scenario):
        return False
    has_kueue = bool(cluster.scenario.cluster.get("kueue"))
    return has_kueue or not cluster.served("Kueue") or operator.brings(cluster)


class ActiveQueues(Reconciler):
    kinds = ("ClusterQueue", "Kueue", "LocalQueue", "ResourceFlavor")

    def reconcile(self, cluster: Cluster, now: float) -> None:
        if not plays(cluster):
            return
        flavors = {one["metadata"]["name"] for one in cluster.objects("ResourceFlavor")}
        for one in cluster.objects("ClusterQueue"):
            self._write(cluster, "ClusterQueue", one, cluster_queue(one, flavors))
        for one in cluster.objects("LocalQueue"):
            queue = cluster.find("ClusterQueue", one["spec"]["clusterQueue"])
            self._write(cluster, "LocalQueue", one, local_queue(queue))

    def _write(self, cluster: Cluster, kind: str, live: Object, wanted: Condition) -> None:
        metadata = live["metadata"]
        known = live.get("status", {}).get("conditions") or []
        seen = {"observedGeneration": metadata["generation"]} if "generation" in metadata else {}
        now = merged(known, [{**wanted, **seen}])
        if now != known:
            place = (metadata["name"], metadata.get("namespace"))
            cluster.patch(kind, *place, {"status": {"conditions": now}}, "status")
