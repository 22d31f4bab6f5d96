"""Pods, nodes and what the walk has seen, for tests of the diagnosis."""

from __future__ import annotations

import typing as t

from ansible_collections.accelerators.openshift.plugins.module_utils._diagnosis.model import Seen
from ansible_collections.accelerators.openshift.plugins.module_utils._diagnosis.placement import places

Data = dict[str, t.Any]
GPU = "nvidia.com/gpu"
MADE = "2026-11-28T09:00:00Z"
NOW = 1795860000.0  # 2026-11-28T10:00:00Z


def node(title: str, gpus: int = 8, capacity: int | None = None, ready: bool = True, **more: t.Any) -> Data:
    """Return a GPU node. more: labels, taints, cordoned, offers (instead of GPUs)."""
    offers = more.get("offers", {GPU: str(gpus)})
    room = {"cpu": "64", "memory": "256Gi", "pods": "250", **more.get("room", {})}
    told = {"type": "Ready", "status": "True" if ready else "Unknown", "message": "Kubelet stopped posting"}
    has = {GPU: str(gpus if capacity is None else capacity)} if "offers" not in more else offers
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": title,
            "labels": {
                "nvidia.com/gpu.present": "true",
                "kubernetes.io/hostname": title,
                **more.get("labels", {}),
            },
        },
        "spec": {"taints": more.get("taints", []), "unschedulable": more.get("cordoned", False)},
        "status": {"allocatable": {**room, **offers}, "capacity": {**room, **has}, "conditions": [told]},
    }


def pod(title: str = "train", gpus: int = 1, space: str = "team-a", on: str = "", **more: t.Any) -> Data:
    """Return a pod. more: limits, requests, meta (metadata), phase, told (the scheduler's answer), status,
    and fields of the spec."""
    limits = more.pop("limits", {GPU: str(gpus)} if gpus else {})
    requests = {**more.pop("requests", {}), **limits}
    meta, status = more.pop("meta", {}), more.pop("status", {})
    phase, told = more.pop("phase", "Running" if on else "Pending"), more.pop("told", "")
    if told:
        why = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": told}
        status = {**status, "conditions": [{**why, "lastTransitionTime": "2026-11-28T09:00:01Z"}]}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": title, "namespace": space, "uid": title, "creationTimestamp": MADE, **meta},
        "spec": {
            "schedulerName": "default-scheduler",
            "containers": [{"name": "main", "resources": {"limits": limits, "requests": requests}}],
            **({"nodeName": on} if on else {}),
            **more,
        },
        "status": {"phase": phase, **status},
    }


def event(
    about: str, reason: str, message: str, kind: str = "Pod", minute: int = 0, warns: bool = True
) -> Data:
    return {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"name": f"{about}.{minute}", "namespace": "team-a"},
        "involvedObject": {"kind": kind, "name": about, "namespace": "team-a"},
        "reason": reason,
        "message": message,
        "type": "Warning" if warns else "Normal",
        "lastTimestamp": f"2026-11-28T09:{minute:02}:00Z",
    }


def seen(asked: Data | str = "", *nodes: Data, **objects: list[Data]) -> Seen:
    """Return what the walk has read. asked: the pod of the option, or the name of one that is not there.

    crowd: pods on the nodes.
    """
    title = (
        asked if isinstance(asked, str) else f"{asked['metadata']['namespace']}/{asked['metadata']['name']}"
    )
    own = {} if isinstance(asked, str) else {"pod": [asked]}
    here = places(nodes, objects.pop("crowd", []))
    return Seen(objects={"nodes": [*nodes], **own, **objects}, now=NOW, pod=title, places=here)
