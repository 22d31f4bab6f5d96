# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How the GPU operator judges its DaemonSets, and the status that it writes."""

from __future__ import annotations

import datetime
import typing as t

from openshift_sandbox.stand_ins.core.cluster import Cluster
from openshift_sandbox.stand_ins.core.conditions import holds
from openshift_sandbox.stand_ins.gpu_operator.operands import Object

RECONCILED: t.Final = (
    "Reconciled",
    "ClusterPolicy is ready as all resources have been successfully reconciled",
)
NO_GPU_NODES: t.Final = ("NoGPUNodes", "No GPU node found, watching for new nodes to join the cluster.")
NO_LABELS: t.Final = ("NFDLabelsMissing", "No NFD labels found")


def daemon_set_ready(daemon_set: Object, pods: t.Iterable[Object] = (), revision: str | None = None) -> bool:
    """Return whether a DaemonSet is ready; with zero wanted pods it is, as in the real operator.

    Pods and revision matter only for the strategy OnDelete.
    """
    status = daemon_set.get("status") or {}
    if status.get("observedGeneration", 0) < daemon_set["metadata"].get("generation", 1):
        return False
    wanted = status.get("desiredNumberScheduled", 0)
    if wanted == 0:
        return True
    if status.get("numberUnavailable", 0):
        return False
    if daemon_set["spec"]["updateStrategy"]["type"] != "OnDelete":
        return bool(
            status.get("updatedNumberScheduled", 0) == wanted and status.get("numberAvailable", 0) == wanted
        )
    return all(_current(pod, revision) for pod in pods)


def latest_revision(revisions: t.Iterable[Object], daemon_set: Object) -> str | None:
    """Return the hash of the newest ControllerRevision of a DaemonSet."""
    uid, prefix = daemon_set["metadata"]["uid"], f"{daemon_set['metadata']['name']}-"
    own = [
        one
        for one in revisions
        if any(owner["uid"] == uid for owner in one["metadata"].get("ownerReferences", []))
    ]
    newest = max(own, key=lambda one: one["revision"], default=None)
    return newest["metadata"]["name"].removeprefix(prefix) if newest else None


def is_ready(pod: Object) -> bool:
    """Return whether a pod is Ready."""
    return holds(pod, "Ready")


def restarts(pod: Object) -> int:
    """Return how often the container of a pod that restarts most has restarted."""
    status = pod.get("status") or {}
    found = [*(status.get("initContainerStatuses") or []), *(status.get("containerStatuses") or [])]
    return max((int(one.get("restartCount", 0)) for one in found), default=0)


def ready(found: tuple[str, str]) -> Object:
    """Return the verdict ready, with reason and message."""
    return {"state": "ready", "Ready": ("True", *found), "Error": ("False", "Ready", "")}


def not_ready(reason: str, message: str) -> Object:
    """Return the verdict notReady."""
    return {"state": "notReady", "Ready": ("False", "Error", ""), "Error": ("True", reason, message)}


def operands_not_ready(states: t.Sequence[str]) -> Object:
    """Return the verdict about states that are not ready."""
    return not_ready("OperandNotReady", f"ClusterPolicy is not ready; states not ready: [{' '.join(states)}]")


def status(verdict: Object, before: Object, namespace: str, now: datetime.datetime | None = None) -> Object:
    """Return the status to write: a condition keeps its transition time while its status stays."""
    moment = (now or datetime.datetime.now(datetime.UTC)).strftime("%Y-%m-%dT%H:%M:%SZ")
    known = {one["type"]: one for one in before.get("conditions") or []}
    return {
        "state": verdict["state"],
        "namespace": namespace,
        "conditions": [
            _condition(kind, verdict[kind], known.get(kind), moment) for kind in ("Ready", "Error")
        ],
    }


def write(cluster: Cluster, kind: str, live: Object, status: Object) -> None:
    """Write a status as the operator does: the state first, and its conditions in a request of their own."""
    before, name, uid = live.get("status") or {}, live["metadata"]["name"], live["metadata"]["uid"]
    first = {key: value for key, value in status.items() if key != "conditions"}
    if before.get("state") != status["state"]:
        cluster.restart(uid, "gpu_conditions")
        cluster.patch(kind, name, None, {"status": first}, "status")
    if before.get("conditions") != status["conditions"] and cluster.due(uid, "gpu_conditions", 0.2):
        cluster.patch(kind, name, None, {"status": {"conditions": status["conditions"]}}, "status")


def _condition(kind: str, found: tuple[str, str, str], known: Object | None, moment: str) -> Object:
    value, reason, message = found
    since = known["lastTransitionTime"] if known and known["status"] == value else moment
    return {"type": kind, "status": value, "reason": reason, "message": message, "lastTransitionTime": since}


def _current(pod: Object, revision: str | None) -> bool:
    labels = pod["metadata"].get("labels", {})
    return (
        pod.get("status", {}).get("phase") == "Running"
        and is_ready(pod)
        and labels.get("controller-revision-hash") == revision
    )
