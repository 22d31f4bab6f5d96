# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Stand in for the Machine API's drain controller: cordon a node, then evict its pods as kubectl drain does.

It also evicts pods without an owner and pods with emptyDir data. The real one reports an unfinished attempt
by an event and by no condition, and so does this one. The real attempts take 20 s and these are short; the
real one drains only one control-plane node at a time, which this one does not check.
"""

from __future__ import annotations

import typing as t

from openshift_sandbox.client import ApiError
from openshift_sandbox.stand_ins.core import events
from openshift_sandbox.stand_ins.core.conditions import condition
from openshift_sandbox.stand_ins.core.reconciler import Cluster, Object

EXCLUDED: t.Final = "machine.openshift.io/exclude-node-draining"
COMPONENT: t.Final = "machine-drain-controller"
MIRROR: t.Final = "kubernetes.io/config.mirror"
TOO_MANY_REQUESTS: t.Final = 429
LONGEST_PAUSE: t.Final = 200.0
"""In units of the first pause. The real pauses begin with 5 s, double each time, and end at 1000 s."""


class Drains:
    """The drains that have begun, by Machine."""

    def __init__(self) -> None:
        self._failures: dict[str, int] = {}
        self._pausing: set[str] = set()
        self._refused: set[str] = set()

    def finished(self, cluster: Cluster, machine: Object) -> Object | None:
        """Return the condition Drained once it is True; None while hooks or pods delay the drain."""
        name = (machine.get("status", {}).get("nodeRef") or {}).get("name")
        if not name or EXCLUDED in (machine["metadata"].get("annotations") or {}):
            events.record(cluster, machine, COMPONENT, "DrainSkipped", "Node drain skipped")
            return condition("Drained", True, message="Node drain skipped")
        if (machine["spec"].get("lifecycleHooks") or {}).get("preDrain"):
            events.record(cluster, machine, COMPONENT, "DrainBlocked", "Drain blocked by pre-drain hook")
            return None
        node = cluster.find("Node", name)
        if node is not None and not self._drained(cluster, machine, node):
            return None
        events.record(cluster, machine, COMPONENT, "DrainSucceeded", "Node drain succeeded")
        return condition("Drained", True, message="Drain finished successfully")

    def _drained(self, cluster: Cluster, machine: Object, node: Object) -> bool:
        uid, name = machine["metadata"]["uid"], node["metadata"]["name"]
        if uid in self._pausing:
            first = cluster.delay("drain_retry", 0.5)
            if not cluster.due(
                uid, "drain_retry", 0.5, min(LONGEST_PAUSE, 2 ** (self._failures[uid] - 1)) * first - first
            ):
                return False
            self._pausing.discard(uid)
            cluster.restart(uid, "drain_timeout")
        events.record(cluster, machine, COMPONENT, "DrainProceeds", "Node drain proceeds")
        if not node["spec"].get("unschedulable"):
            cluster.patch("Node", name, None, {"spec": {"unschedulable": True}})
        left = [
            pod for pod in cluster.objects("Pod") if pod["spec"].get("nodeName") == name and evictable(pod)
        ]
        refused = [
            pod for pod in left if not pod["metadata"].get("deletionTimestamp") and self._kept(cluster, pod)
        ]
        if left and cluster.due(uid, "drain_timeout", 2.0):
            self._failures[uid] = self._failures.get(uid, 0) + 1
            self._pausing.add(uid)
            cluster.restart(uid, "drain_retry")
            events.record(
                cluster, machine, COMPONENT, "DrainRequeued", f"Node drain requeued: {failure(left, refused)}"
            )
        return not left

    def _kept(self, cluster: Cluster, pod: Object) -> bool:
        """Return whether a disruption budget keeps the pod; ask again after a pause."""
        uid = pod["metadata"]["uid"]
        if uid in self._refused and not cluster.due(uid, "eviction_retry", 0.5):
            return True
        cluster.restart(uid, "eviction_retry")
        self._refused.discard(uid)
        if evict(cluster, pod):
            return False
        self._refused.add(uid)
        cluster.due(uid, "eviction_retry", 0.5)
        return True


def failure(left: list[Object], refused: list[Object]) -> str:
    """Return what kubectl's drain says about pods that a budget kept, and about those that did not end in
    time.
    """
    texts = []
    for pod in left:
        name, namespace = pod["metadata"]["name"], pod["metadata"]["namespace"]
        if pod in refused:
            texts.append(f'error when evicting pods/"{name}" -n "{namespace}": global timeout reached: 20s')
        else:
            texts.append(
                f'error when waiting for pod "{name}" in namespace "{namespace}" to terminate: context '
                "deadline exceeded"
            )
    return texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]"


def hook_conditions(machine: Object) -> list[Object]:
    """Return Drainable and Terminable, which always say whether hooks exist."""
    hooks = machine["spec"].get("lifecycleHooks") or {}
    return [
        _hooks(kind, operation, hooks.get(stage) or [])
        for kind, operation, stage in (
            ("Drainable", "Drain", "preDrain"),
            ("Terminable", "Terminate", "preTerminate"),
        )
    ]


def bury(cluster: Cluster, node: str) -> None:
    """Delete what still runs on a node that is gone: the pod garbage collector would take a minute."""
    for pod in cluster.objects("Pod"):
        if pod["spec"].get("nodeName") == node:
            cluster.client.request("DELETE", _path(pod), {"gracePeriodSeconds": 0})


def _hooks(kind: str, operation: str, hooks: list[Object]) -> Object:
    if not hooks:
        return condition(kind, True)
    listed = " ".join(f"{{Name:{hook['name']} Owner:{hook['owner']}}}" for hook in hooks)
    return condition(
        kind,
        False,
        "HookPresent",
        f"{operation} operation currently blocked by: [{listed}]",
        severity="Warning",
    )


def evictable(pod: Object) -> bool:
    """Return whether a drain evicts a pod: no mirror pods, and of DaemonSets only pods that have ended."""
    owned_by_daemon_set = any(
        one["kind"] == "DaemonSet" and one.get("controller", True)
        for one in pod["metadata"].get("ownerReferences") or []
    )
    ended = pod.get("status", {}).get("phase") in {"Succeeded", "Failed"}
    return MIRROR not in (pod["metadata"].get("annotations") or {}) and (ended or not owned_by_daemon_set)


def evict(cluster: Cluster, pod: Object) -> bool:
    """Ask for the eviction of a pod; return False when a disruption budget forbids it now."""
    metadata = {"name": pod["metadata"]["name"], "namespace": pod["metadata"]["namespace"]}
    body = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": metadata}
    status, answer = cluster.client.request("POST", f"{_path(pod)}/eviction", body)
    if status >= 300 and status not in {404, TOO_MANY_REQUESTS}:
        raise ApiError(status, answer.get("message") or "eviction", answer)
    return status != TOO_MANY_REQUESTS


def _path(pod: Object) -> str:
    return f"/api/v1/namespaces/{pod['metadata']['namespace']}/pods/{pod['metadata']['name']}"
