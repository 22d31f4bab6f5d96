# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Stand in for the cluster autoscaler, and for its operator.

The real one also removes nodes that nobody needs, keeps limits, takes failed machines back, balances groups
and writes events and a status. Like the real one it accepts GPUs without the accelerator label: their nodes
count as ready before their GPUs exist, so it orders more of them.
"""

from __future__ import annotations

import typing as t

from openshift_sandbox.seed.nodes import MACHINE_NAMESPACE
from openshift_sandbox.stand_ins.autoscaler.machine_autoscalers import MAX_SIZE, MIN_SIZE, OPENSHIFT
from openshift_sandbox.stand_ins.core.conditions import find, holds
from openshift_sandbox.stand_ins.core.pod_fit import Room
from openshift_sandbox.stand_ins.core.quantities import amount, amounts
from openshift_sandbox.stand_ins.core.reconciler import Cluster, Object, Reconciler
from openshift_sandbox.stand_ins.machine_api.machine_sets import members

NAME: t.Final = "default"
COMPONENT: t.Final = "cluster-autoscaler"
DEPLOYMENT: t.Final = f"{COMPONENT}-{NAME}"
ACCELERATOR: t.Final = "cluster-api/accelerator"
GPU: t.Final = "nvidia.com/gpu"
MIB: t.Final = 2**20
STARTUP: t.Final = "startup-taint.cluster-autoscaler.kubernetes.io/"


class ClusterAutoscalers(Reconciler):
    """The operator: it makes a Deployment for the ClusterAutoscaler `default`, and ignores others."""

    kinds = ("ClusterAutoscaler", "Deployment")

    def reconcile(self, cluster: Cluster, now: float) -> None:
        autoscaler = cluster.find("ClusterAutoscaler", NAME)
        live = cluster.find("Deployment", DEPLOYMENT, MACHINE_NAMESPACE)
        if autoscaler is not None and live is None:
            cluster.apply(deployment(autoscaler))
        elif autoscaler is None and live and not live["metadata"].get("deletionTimestamp"):
            # The garbage collector would do it, but learns late about a new CRD.
            cluster.delete("Deployment", DEPLOYMENT, MACHINE_NAMESPACE)


class ClusterAutoscaler(Reconciler):
    """The autoscaler: it works while its Deployment is Available, and orders one node in each look."""

    kinds = ("ClusterAutoscaler", "Deployment", "Machine", "MachineSet", "Node", "Pod")

    def reconcile(self, cluster: Cluster, now: float) -> None:
        if (
            cluster.find("ClusterAutoscaler", NAME) is None
            or not cluster.available(DEPLOYMENT, MACHINE_NAMESPACE)
            or not cluster.due(COMPONENT, "autoscaler_scan", 1.0)
        ):
            return
        cluster.restart(COMPONENT, "autoscaler_scan")
        cluster.due(COMPONENT, "autoscaler_scan", 1.0)
        nodes, pods = cluster.objects("Node"), cluster.objects("Pod")
        rooms = [rest(node, pods) for node in nodes if ready(node)]
        groups = [one for one in cluster.objects("MachineSet", MACHINE_NAMESPACE) if bounds(one)[1]]
        machines = cluster.objects("Machine")
        for one in groups:
            rooms += [template(one)] * upcoming(one, machines, nodes)
        waiting = [pod for pod in pods if waits(pod) and not placed(pod, rooms)]
        for pod in waiting[:1]:
            able = [one for one in groups if size(one) < bounds(one)[1] and template(one).fits(pod)]
            for one in able[:1]:
                body = {"spec": {"replicas": size(one) + 1}}
                cluster.patch("MachineSet", one["metadata"]["name"], MACHINE_NAMESPACE, body, "scale")
                cluster.resync("MachineSet")  # a scale request does not answer with a MachineSet


def size(machine_set: Object) -> int:
    return int(machine_set["spec"].get("replicas", 1))


def bounds(machine_set: Object) -> tuple[int, int]:
    """Return the fewest and the most nodes of a set; (0, 0) without a MachineAutoscaler."""
    annotations = machine_set["metadata"].get("annotations") or {}
    return int(annotations.get(MIN_SIZE, 0)), int(annotations.get(MAX_SIZE, 0))


def template(machine_set: Object) -> Room:
    """Return what the next node of a set has, by the annotations of its provider."""
    told = machine_set["metadata"].get("annotations") or {}
    spec = machine_set["spec"]["template"]["spec"]
    free = {"cpu": amount(told.get(f"{OPENSHIFT}vCPU", 0)), GPU: amount(told.get(f"{OPENSHIFT}GPU", 0))}
    free |= {"memory": amount(told.get(f"{OPENSHIFT}memoryMb", 0)) * MIB, "pods": 110.0}
    return Room((spec.get("metadata") or {}).get("labels") or {}, lasting(spec), free)


def lasting(spec: Object) -> list[Object]:
    """Return the taints of a node or a Machine that are there to stay; the real one ignores others, too."""
    return [one for one in spec.get("taints") or [] if not one["key"].startswith(STARTUP)]


def ready(node: Object) -> bool:
    """Return whether a node counts: one with the accelerator label does when its GPUs exist."""
    gpus = amount((node.get("status", {}).get("allocatable") or {}).get(GPU, 0))
    return holds(node, "Ready") and not (ACCELERATOR in (node["metadata"].get("labels") or {}) and not gpus)


def upcoming(machine_set: Object, machines: list[Object], nodes: t.Sequence[Object]) -> int:
    """Return how many ordered nodes are not ready, or lack the labels of their Machine."""
    labels = template(machine_set).labels.items()
    own = {one["spec"].get("providerID") for one in members(machine_set, machines)} - {None}
    up = [node for node in nodes if node["spec"].get("providerID") in own and ready(node)]
    return max(
        0, size(machine_set) - sum(labels <= (node["metadata"].get("labels") or {}).items() for node in up)
    )


def rest(node: Object, pods: t.Sequence[Object]) -> Room:
    """Return the room that the pods of a node leave."""
    spec, free = node["spec"], amounts(node["status"].get("allocatable"))
    room = Room(node["metadata"].get("labels") or {}, lasting(spec), free)
    for pod in pods:
        is_over = pod.get("status", {}).get("phase") in {"Succeeded", "Failed"}
        if pod["spec"].get("nodeName") == node["metadata"]["name"] and not is_over:
            room = room.without(pod)
    return room


def waits(pod: Object) -> bool:
    """Return whether the scheduler found no node for a pod whose priority counts."""
    scheduled = find(pod, "PodScheduled")
    is_refused = (scheduled.get("status"), scheduled.get("reason")) == ("False", "Unschedulable")
    is_leaving = pod["spec"].get("nodeName") or pod["metadata"].get("deletionTimestamp")
    return is_refused and not is_leaving and (pod["spec"].get("priority") or 0) >= -10


def placed(pod: Object, rooms: list[Room]) -> bool:
    """Return whether a room has place for a pod, and take that place."""
    for place, room in enumerate(rooms):
        if room.fits(pod):
            rooms[place] = room.without(pod)
            return True
    return False


def deployment(autoscaler: Object) -> Object:
    """Return the Deployment that the operator makes."""
    metadata, labels = autoscaler["metadata"], {"k8s-app": COMPONENT}
    owner = {
        "apiVersion": autoscaler["apiVersion"],
        "kind": "ClusterAutoscaler",
        "name": metadata["name"],
        "uid": metadata["uid"],
        "controller": True,
        "blockOwnerDeletion": True,
    }
    container = {
        "name": COMPONENT,
        "image": "quay.io/openshift-release-dev/ocp-v4.0-art-dev:cluster-autoscaler",
    }
    pod = {
        "nodeSelector": {"node-role.kubernetes.io/master": ""},
        "tolerations": [{"key": "node-role.kubernetes.io/master", "operator": "Exists"}],
        "containers": [container],
    }
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": DEPLOYMENT, "namespace": MACHINE_NAMESPACE, "ownerReferences": [owner]},
        "spec": {
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": pod},
        },
    }
