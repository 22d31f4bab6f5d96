# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Stand in for Kueue: it admits Jobs to the first flavor of their queue, and requeues them at HoldAndDrain.

The real one counts quota, orders and preempts Workloads, and serves many kinds of jobs; here a queue admits
every Job at once, with the first flavor of each of its groups. The real webhook suspends a new Job; here the
Job has to be suspended by who creates it. The real one writes the flavor's labels into the pods' node
selector; here the Job has them already.
"""

from __future__ import annotations

import typing as t

from openshift_sandbox.stand_ins.core.conditions import condition, merged
from openshift_sandbox.stand_ins.core.reconciler import Cluster, Object, Reconciler
from openshift_sandbox.stand_ins.kueue.active import plays

VERSION: t.Final = "kueue.x-k8s.io/v1beta2"
QUEUE: t.Final = "kueue.x-k8s.io/queue-name"
STOPPED: t.Final = "ClusterQueueStopped"


def workload(job: Object) -> Object:
    """Return the Workload of a Job."""
    metadata = job["metadata"]
    owner = {"apiVersion": "batch/v1", "kind": "Job", "name": metadata["name"], "uid": metadata["uid"]}
    return {
        "apiVersion": VERSION,
        "kind": "Workload",
        "metadata": {
            "name": f"job-{metadata['name']}",
            "namespace": metadata["namespace"],
            "ownerReferences": [owner | {"controller": True, "blockOwnerDeletion": True}],
        },
        "spec": {"queueName": metadata["labels"][QUEUE]},
    }


def admission(queue: Object) -> Object:
    """Return the status of a Workload that a queue admits."""
    flavors = {
        resource: group["flavors"][0]["name"]
        for group in queue["spec"].get("resourceGroups") or []
        for resource in group["coveredResources"]
    }
    name = queue["metadata"]["name"]
    return {"clusterQueue": name, "podSetAssignments": [{"name": "main", "count": 1, "flavors": flavors}]}


class Queues(Reconciler):
    kinds = ("ClusterQueue", "Job", "Kueue", "LocalQueue", "Workload")

    def reconcile(self, cluster: Cluster, now: float) -> None:
        if not plays(cluster):
            return
        for job in cluster.objects("Job"):
            metadata = job["metadata"]
            if QUEUE in (metadata.get("labels") or {}) and not metadata.get("deletionTimestamp"):
                self._serve(cluster, job)

    def _serve(self, cluster: Cluster, job: Object) -> None:
        wanted, namespace = workload(job), job["metadata"]["namespace"]
        live = cluster.find("Workload", wanted["metadata"]["name"], namespace) or cluster.apply(wanted)
        local = cluster.find("LocalQueue", wanted["spec"]["queueName"], namespace)
        queue = cluster.find("ClusterQueue", local["spec"]["clusterQueue"]) if local else None
        if queue is None:
            return
        policy, is_admitted = queue["spec"].get("stopPolicy", "None"), "admission" in live.get("status", {})
        if policy == "HoldAndDrain" and is_admitted:
            if cluster.due(live["metadata"]["uid"], "kueue_eviction", 0.3):
                cluster.restart(live["metadata"]["uid"], "kueue_eviction")
                self._requeue(cluster, live, job)
        elif policy == "None" and not is_admitted:
            self._admit(cluster, live, job, queue)

    def _admit(self, cluster: Cluster, live: Object, job: Object, queue: Object) -> None:
        text = f"The workload is admitted by {queue['metadata']['name']}"
        known = live.get("status", {}).get("conditions", [])
        now = [condition(one, True, one, text) for one in ("QuotaReserved", "Admitted")]
        now.append(condition("Evicted", False, "QuotaReserved", "Previously: stopped"))
        self._write(cluster, live, {"admission": admission(queue), "conditions": merged(known, now)})
        self._suspend(cluster, job, False)

    def _requeue(self, cluster: Cluster, live: Object, job: Object) -> None:
        """Stop the Job first: the real one takes the admission back when the Job has no pod any more."""
        self._suspend(cluster, job, True)
        known = live.get("status", {}).get("conditions", [])
        now = [
            condition("Evicted", True, STOPPED, "The ClusterQueue is stopped"),
            condition("QuotaReserved", False, "Pending", "The ClusterQueue is stopped"),
            condition("Admitted", False, "NoReservation", "The workload has no reservation"),
        ]
        self._write(cluster, live, {"admission": None, "conditions": merged(known, now)})

    def _suspend(self, cluster: Cluster, job: Object, is_suspended: bool) -> None:
        metadata = job["metadata"]
        if bool(job["spec"].get("suspend")) is not is_suspended:
            body = {"spec": {"suspend": is_suspended}}
            cluster.patch("Job", metadata["name"], metadata["namespace"], body)

    def _write(self, cluster: Cluster, live: Object, status: Object) -> None:
        metadata = live["metadata"]
        cluster.patch("Workload", metadata["name"], metadata["namespace"], {"status": status}, "status")
