"""Objects of a cluster that is scaled automatically, and the world that holds them."""

from __future__ import annotations

import typing as t

from unit.sandbox.fake_api import World

from openshift_sandbox.stand_ins.autoscaler.cluster_autoscaler import ClusterAutoscaler, ClusterAutoscalers
from openshift_sandbox.stand_ins.autoscaler.machine_autoscalers import MachineAutoscalers

NAMESPACE = "openshift-machine-api"
MACHINE_API = "machine.openshift.io/v1beta1"
ACCELERATOR = {"cluster-api/accelerator": "nvidia-t4"}
OPENSHIFT = {
    "machine.openshift.io/vCPU": "4",
    "machine.openshift.io/memoryMb": "16384",
    "machine.openshift.io/GPU": "1",
}
Data = dict[str, t.Any]


def machine_set(
    name: str = "gpu-a",
    labels: Data | None = None,
    replicas: int = 0,
    annotations: Data | None = None,
    taints: t.Sequence[Data] = (),
) -> Data:
    spec = {
        "metadata": {"labels": ACCELERATOR if labels is None else labels},
        "taints": list(taints),
        "providerSpec": {"value": {}},
    }
    selected = {"set": name}
    return {
        "apiVersion": MACHINE_API,
        "kind": "MachineSet",
        "metadata": {
            "name": name,
            "namespace": NAMESPACE,
            "annotations": OPENSHIFT if annotations is None else annotations,
        },
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": selected},
            "template": {"metadata": {"labels": selected}, "spec": spec},
        },
    }


def machine_autoscaler(target: str = "gpu-a", low: int = 0, high: int = 4) -> Data:
    reference = {"apiVersion": MACHINE_API, "kind": "MachineSet", "name": target}
    metadata = {"name": target, "namespace": NAMESPACE}
    spec = {"minReplicas": low, "maxReplicas": high, "scaleTargetRef": reference}
    return {
        "apiVersion": "autoscaling.openshift.io/v1beta1",
        "kind": "MachineAutoscaler",
        "metadata": metadata,
        "spec": spec,
    }


def pending(name: str = "train-0", gpus: int = 1, **spec: t.Any) -> Data:
    container = {
        "name": "c",
        "resources": {"requests": {"cpu": "500m", "memory": "1Gi", "nvidia.com/gpu": str(gpus)}},
    }
    unschedulable = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}
    metadata = {"name": name, "namespace": "default"}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": metadata,
        "spec": {"containers": [container]} | spec,
        "status": {"phase": "Pending", "conditions": [unschedulable]},
    }


def node(name: str, gpus: int | None = None, labels: Data | None = None) -> Data:
    capacity = {"cpu": "4", "memory": "16Gi", "pods": "250"} | (
        {} if gpus is None else {"nvidia.com/gpu": str(gpus)}
    )
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": labels or {}},
        "spec": {"providerID": f"aws:///a/{name}"},
        "status": {
            "capacity": capacity,
            "allocatable": capacity,
            "conditions": [{"type": "Ready", "status": "True"}],
        },
    }


def machine(name: str, target: str = "gpu-a", **status: t.Any) -> Data:
    owner = {
        "apiVersion": MACHINE_API,
        "kind": "MachineSet",
        "name": target,
        "uid": f"uid-{target}",
        "controller": True,
    }
    metadata = {"name": name, "namespace": NAMESPACE, "labels": {"set": target}, "ownerReferences": [owner]}
    return {
        "apiVersion": MACHINE_API,
        "kind": "Machine",
        "metadata": metadata,
        "spec": {"providerID": f"aws:///a/{name}"},
        "status": status,
    }


def make(*objects: Data, **spec: t.Any) -> World:
    world = World(MachineAutoscalers(), ClusterAutoscalers(), ClusterAutoscaler())
    for obj in objects:
        world.api.create(obj)
    metadata = {"name": "default"}
    world.api.create(
        {
            "apiVersion": "autoscaling.openshift.io/v1",
            "kind": "ClusterAutoscaler",
            "metadata": metadata,
            "spec": spec,
        }
    )
    world.settle()
    available = {"status": {"conditions": [{"type": "Available", "status": "True"}]}}
    world.api.patch("apps/v1", "deployments", "cluster-autoscaler-default", NAMESPACE, available, "status")
    world.settle(3)
    return world


def replicas(world: World, name: str = "gpu-a") -> int:
    return t.cast(int, world.api.get("MachineSet", name, NAMESPACE)["spec"]["replicas"])


def events(world: World, reason: str) -> list[str]:
    return sorted(one["message"] for one in world.api.all("Event") if one["reason"] == reason)
