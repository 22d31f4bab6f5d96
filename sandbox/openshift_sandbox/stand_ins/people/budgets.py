# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Stand in for a team whose program may never be interrupted (foreign_budget).

It has a pod on each GPU node, or on each node that the trouble names, and a budget for each. With `gpus` the
pod uses GPUs, and a ReplicaSet makes it. The real one would have a Deployment, and would perhaps yield when
somebody asks.
"""

from __future__ import annotations

import typing as t

from openshift_sandbox.stand_ins.core.reconciler import Cluster, Object, Reconciler
from openshift_sandbox.stand_ins.core.troubles import LABELS, place

TROUBLE: t.Final = "foreign_budget"
NAMESPACE: t.Final = "another-team"
IMAGE: t.Final = "registry.access.redhat.com/ubi9/ubi-minimal"


class ForeignBudgets(Reconciler):
    kinds = ("Namespace", "Node", "Pod")

    def __init__(self) -> None:
        self._budgets: set[str] = set()

    def reconcile(self, cluster: Cluster, now: float) -> None:
        for trouble in cluster.troubles(TROUBLE):
            namespace = str(trouble.get("namespace", NAMESPACE))
            for node in cluster.objects("Node"):
                if meant(node, trouble) and not node["spec"].get("unschedulable"):
                    self._keep(cluster, namespace, node["metadata"]["name"], int(trouble.get("gpus", 0)))

    def _keep(self, cluster: Cluster, namespace: str, node: str, gpus: int) -> None:
        name = f"keeper-{node.partition('.')[0]}"
        if cluster.find("Namespace", namespace) is None:
            cluster.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}})
        if name not in self._budgets:
            cluster.apply(budget(name, namespace))
            if gpus:
                cluster.apply(replica_set(pod(name, namespace, node), gpus))
            self._budgets.add(name)
        if not gpus and cluster.find("Pod", name, namespace) is None:
            cluster.create(pod(name, namespace, node))


def meant(node: Object, trouble: Object) -> bool:
    """Return whether a trouble is for a node; without a place it is for all nodes of GPU pools."""
    where = place(node)
    named = {field: trouble[field] for field in ("node", *LABELS) if field in trouble}
    return all(where[field] == value for field, value in named.items()) if named else bool(where["pool"])


def budget(name: str, namespace: str) -> Object:
    """Return a budget that never allows a disruption, since there is one pod."""
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"minAvailable": 1, "selector": {"matchLabels": {"app": name}}},
    }


def pod(name: str, namespace: str, node: str) -> Object:
    """Return a pod that runs on a node whatever its taints are."""
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": namespace, "labels": {"app": name}},
        "spec": {
            "nodeName": node,
            "tolerations": [{"operator": "Exists"}],
            "containers": [{"name": "keeper", "image": IMAGE}],
        },
    }


def replica_set(one: Object, gpus: int) -> Object:
    """Return a ReplicaSet that makes a pod with GPUs, and makes it again on the same node."""
    metadata, spec = one["metadata"], one["spec"]
    limits = {"resources": {"limits": {"nvidia.com/gpu": str(gpus)}}}
    place = {"kubernetes.io/hostname": spec["nodeName"]}
    template = {
        "metadata": {"labels": metadata["labels"]},
        "spec": {
            "nodeSelector": place,
            "tolerations": spec["tolerations"],
            "containers": [container | limits for container in spec["containers"]],
        },
    }
    return {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "metadata": {"name": metadata["name"], "namespace": metadata["namespace"]},
        "spec": {"replicas": 1, "selector": {"matchLabels": metadata["labels"]}, "template": template},
    }
