# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Drain of nodes: which pods must leave, and which of them need the user's permission."""

from __future__ import annotations

import typing as t

from .._catalogue.well_known import VENDORS
from .._core.objects import KubeObject
from .._kube.kinds import known
from .._kube.session import Query
from .labels import labels
from .placeholders import is_placeholder

MIRROR: t.Final = "kubernetes.io/config.mirror"
DEVICES: t.Final = (*VENDORS, "habana.ai/")
# On pods of NVIDIA's DRA driver, which do no work.
_COMPUTE_DOMAIN: t.Final = "resource.nvidia.com/computeDomain"
# With more nodes than this, one query reads all pods instead of one query for each node.
FEW: t.Final = 8


def name(pod: KubeObject) -> str:
    return f"{pod['metadata']['namespace']}/{pod['metadata']['name']}"


def node_of(pod: KubeObject) -> str:
    """Return the name of the pod's node; empty before it is scheduled."""
    return str(pod["spec"].get("nodeName") or "")


def is_ended(pod: KubeObject) -> bool:
    return (pod.get("status") or {}).get("phase") in ("Succeeded", "Failed")


def is_terminating(pod: KubeObject) -> bool:
    return bool(pod["metadata"].get("deletionTimestamp"))


def leaving(pods: t.Iterable[KubeObject]) -> list[KubeObject]:
    """Return the pods that a drain must evict: not static ones, nor those of DaemonSets, which come back."""
    left = [pod for pod in pods if not (is_ended(pod) or _is_of_daemonset(pod))]
    return [pod for pod in left if MIRROR not in (pod["metadata"].get("annotations") or {})]


def uses_devices(pod: KubeObject) -> bool:
    """Return True if the pod has devices, by a resource or by a claim. A placeholder does not need them."""
    spec = pod["spec"]
    if is_placeholder(pod) or (_is_of_daemonset(pod) and _COMPUTE_DOMAIN in labels(pod)):
        return False
    if spec.get("resourceClaims"):
        return True
    containers = [*(spec.get("containers") or []), *(spec.get("initContainers") or [])]
    limits = [
        {**(resources.get("requests") or {}), **(resources.get("limits") or {})}
        for one in containers
        if (resources := one.get("resources") or {})
    ]
    return any(key.startswith(DEVICES) and str(value) != "0" for one in limits for key, value in one.items())


def keeps_data(pod: KubeObject) -> bool:
    return any("emptyDir" in volume for volume in pod["spec"].get("volumes") or [])


def busy(pods: t.Iterable[KubeObject]) -> list[KubeObject]:
    """Return the pods that use devices and do not end yet, also those of DaemonSets."""
    return [pod for pod in pods if uses_devices(pod) and not (is_ended(pod) or is_terminating(pod))]


def busy_on(nodes: t.Container[str]) -> t.Callable[[KubeObject], KubeObject | None]:
    """Return a filter of pods: it keeps those that use devices on these nodes."""
    return lambda pod: pod if node_of(pod) in nodes and busy([pod]) else None


def controller(pod: KubeObject) -> KubeObject | None:
    return next((one for one in pod["metadata"].get("ownerReferences") or [] if one.get("controller")), None)


def on(node: str) -> str:
    """Return the field selector of the pods on the node."""
    return f"spec.nodeName={node}"


def pod_queries(nodes: t.Collection[str]) -> dict[str, Query]:
    """Return what a wait looks at to see the pods on these nodes."""
    pods = known("Pod")
    if len(nodes) > FEW:
        return {"pods": Query(pods)}
    return {node: Query(pods, fields=on(node)) for node in sorted(nodes)}


def owner(pod: KubeObject) -> str:
    """Return kind and name of the pod's controller, or an empty text."""
    found = controller(pod)
    return f"{found['kind']} {found['name']}" if found else ""


def _is_of_daemonset(pod: KubeObject) -> bool:
    return (controller(pod) or {}).get("kind") == "DaemonSet"
