# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Drain of nodes: which pods must leave, and which of them need the user's permission."""

from __future__ import annotations

import typing as t

from .._catalogue.well_known import GPU, PARTITION
from .._core.objects import KubeObject
from .._kube.kinds import known
from .._kube.session import Query
from .devices import is_device, is_gpu
from .labels import labels
from .placeholders import is_placeholder

MIRROR: t.Final = "kubernetes.io/config.mirror"
# On pods of NVIDIA's DRA driver, which do no work.
_COMPUTE_DOMAIN: t.Final = "resource.nvidia.com/computeDomain"
# With more nodes than this, one query reads all pods instead of one query for each node.
FEW: t.Final = 8


# The label of the pod in which a virtual machine runs.
LAUNCHER: t.Final = {"kubevirt.io": "virt-launcher"}


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
    return [pod for pod in pods if not (is_ended(pod) or is_passed_over(pod))]


def uses_devices(pod: KubeObject) -> bool:
    """Return True if the pod has devices of any kind, by a resource or by a claim.

    A placeholder does not need them.
    """
    return _uses(pod, is_device)


def uses_gpus(pod: KubeObject) -> bool:
    """Return True if the pod has accelerators, or a claim, which may be one for a GPU."""
    return _uses(pod, is_gpu)


def ends_with_driver(pod: KubeObject) -> bool:
    """Return True if the pod ends when the GPU operator's upgrade controller replaces the driver of its node.

    The controller also deletes pods that name a GPU or a partition with the number 0: the name alone counts.
    """
    return uses_gpus(pod) or (not is_placeholder(pod) and any(map(is_counted, requests(pod))))


def is_counted(resource: str) -> bool:
    """Return True for a resource whose name makes the upgrade controller delete a pod."""
    return resource.startswith((GPU, PARTITION))


def _uses(pod: KubeObject, is_wanted: t.Callable[[str], bool]) -> bool:
    if is_placeholder(pod) or (_is_of_daemonset(pod) and _COMPUTE_DOMAIN in labels(pod)):
        return False
    if pod["spec"].get("resourceClaims"):
        return True
    return any(is_wanted(key) and number != "0" for key, number in requests(pod).items())


def requests(pod: KubeObject) -> dict[str, str]:
    """Return the resources that containers of the pod ask for, each with its number; "0" if all say so."""
    found: dict[str, str] = {}
    for one in [*(pod["spec"].get("containers") or []), *(pod["spec"].get("initContainers") or [])]:
        resources = one.get("resources") or {}
        for key, value in {**(resources.get("requests") or {}), **(resources.get("limits") or {})}.items():
            if found.get(key, "0") == "0":
                found[key] = str(value)
    return found


def keeps_data(pod: KubeObject) -> bool:
    return any("emptyDir" in volume for volume in pod["spec"].get("volumes") or [])


def busy(
    pods: t.Iterable[KubeObject], counts: t.Callable[[KubeObject], bool] = uses_devices
) -> list[KubeObject]:
    """Return the pods that count and do not end yet, also those of DaemonSets."""
    return [pod for pod in pods if counts(pod) and not (is_ended(pod) or is_terminating(pod))]


def busy_on(
    nodes: t.Container[str], counts: t.Callable[[KubeObject], bool] = uses_devices
) -> t.Callable[[KubeObject], KubeObject | None]:
    """Return a filter of pods: it keeps those on these nodes that count."""
    return lambda pod: pod if node_of(pod) in nodes and busy([pod], counts) else None


def is_passed_over(pod: KubeObject) -> bool:
    """Return True if no drain ends the pod: it is static, or of a DaemonSet."""
    return _is_of_daemonset(pod) or MIRROR in (pod["metadata"].get("annotations") or {})


def is_refused(pod: KubeObject, rules: t.Mapping[str, t.Any]) -> bool:
    """Return True if a drain with these rules refuses the pod: it has data, or no controller.

    rules: force and deleteEmptyDir, as operators write them.
    """
    is_lost = keeps_data(pod) and not rules.get("deleteEmptyDir")
    return is_lost or (controller(pod) is None and not rules.get("force"))


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
