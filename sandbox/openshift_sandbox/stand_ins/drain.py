# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Stands in for the Machine API's drain: cordon and evict as kubectl drain does; unlike it, pods of a node that is gone are buried at once."""

from __future__ import annotations

import typing as t

from openshift_sandbox.client import ApiError
from openshift_sandbox.stand_ins.loop import Cluster, Object

EXCLUDED: t.Final = "machine.openshift.io/exclude-node-draining"
TOO_MANY_REQUESTS: t.Final = 429


def drained(cluster: Cluster, node: Object) -> bool:
    """Whether nothing but DaemonSets' pods is left; asks the others to go. A disruption budget may refuse: asked again next time."""
    name = node["metadata"]["name"]
    if not node["spec"].get("unschedulable"):
        cluster.patch("Node", name, None, {"spec": {"unschedulable": True}})
    left = [pod for pod in cluster.objects("Pod") if pod["spec"].get("nodeName") == name and _evictable(pod)]
    for pod in left:
        if not pod["metadata"].get("deletionTimestamp"):
            _evict(cluster, pod)
    return not left


def bury(cluster: Cluster, node: str) -> None:
    """Delete what still runs on a node that is gone; the pod garbage collector would take a minute."""
    for pod in cluster.objects("Pod"):
        if pod["spec"].get("nodeName") == node:
            cluster.client.request("DELETE", _path(pod), {"gracePeriodSeconds": 0})


def _evictable(pod: Object) -> bool:
    owners = {one["kind"] for one in pod["metadata"].get("ownerReferences") or []}
    return not owners & {"DaemonSet", "Node"} and pod.get("status", {}).get("phase") not in {"Succeeded", "Failed"}


def _evict(cluster: Cluster, pod: Object) -> None:
    metadata = {"name": pod["metadata"]["name"], "namespace": pod["metadata"]["namespace"]}
    body = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": metadata}
    status, answer = cluster.client.request("POST", f"{_path(pod)}/eviction", body)
    if status >= 300 and status not in {404, TOO_MANY_REQUESTS}:
        raise ApiError(status, answer.get("message") or "eviction", answer)


def _path(pod: Object) -> str:
    return f"/api/v1/namespaces/{pod['metadata']['namespace']}/pods/{pod['metadata']['name']}"
