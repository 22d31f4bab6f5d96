# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""Drain of nodes: which pods must leave, and which of them need the user's permission."""

from __future__ import annotations

import typing as t
from dataclasses import dataclass

from .._catalogue.well_known import VENDORS
from .._core.errors import AcceleratorError
from .._core.objects import KubeObject, number_of
from .._kube.kinds import known
from .._kube.session import Query
from .placeholders import is_placeholder

MIRROR: t.Final = "kubernetes.io/config.mirror"
DEVICES: t.Final = (*VENDORS, "habana.ai/")
SHOWN: t.Final = 20
# With more nodes than this, one query reads all pods instead of one query for each node.
FEW: t.Final = 8
_WAIT: t.Final = (
    "Wait until they have ended, or set gpu_on_busy: drain (module option on_busy; the task evicts them) "
    "or gpu_on_busy: wait (the task waits for their end)."
)

_DATA: t.Final = "Save the data, then set gpu_delete_emptydir: true (module option delete_emptydir)."
_NOBODY: t.Final = (
    "No controller would recreate them on another node: delete them, or set gpu_evict_unmanaged: true "
    "(module option force)."
)


@dataclass(frozen=True)
class Rules:
    """What a drain may do.

    on_busy: C(fail), C(drain) or C(wait). delete_emptydir: whether it may evict pods with data in an
    emptyDir.
    force: whether it may evict pods without a controller.
    """

    on_busy: str = "fail"
    delete_emptydir: bool = False
    force: bool = False

    @classmethod
    def of(cls, params: t.Mapping[str, t.Any]) -> Rules:
        """Return the rules in a module's parameters."""
        return cls(
            params.get("on_busy") or "fail", bool(params.get("delete_emptydir")), bool(params.get("force"))
        )


def name(pod: KubeObject) -> str:
    """Return namespace/name of the pod."""
    return f"{pod['metadata']['namespace']}/{pod['metadata']['name']}"


def node_of(pod: KubeObject) -> str:
    """Return the name of the pod's node; empty before it is scheduled."""
    return str(pod["spec"].get("nodeName") or "")


def is_ended(pod: KubeObject) -> bool:
    return (pod.get("status") or {}).get("phase") in ("Succeeded", "Failed")


def is_terminating(pod: KubeObject) -> bool:
    return bool(pod["metadata"].get("deletionTimestamp"))


def leaving(pods: t.Iterable[KubeObject]) -> list[KubeObject]:
    """Return the pods that a drain must evict.

    These are all but ended ones, those of DaemonSets, which would come back at once, and the kubelet's static
    pods.
    """
    return [
        pod
        for pod in pods
        if not is_ended(pod) and (controller(pod) or {}).get("kind") != "DaemonSet" and not _is_mirror(pod)
    ]


def uses_devices(pod: KubeObject) -> bool:
    """Return True if the pod has devices, by a resource or by a claim. A placeholder does not need them."""
    spec = pod["spec"]
    if is_placeholder(pod):
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
    """Return the pods that use devices and are not terminating."""
    return [pod for pod in leaving(pods) if uses_devices(pod) and not is_terminating(pod)]


def busy_on(nodes: t.Container[str]) -> t.Callable[[KubeObject], KubeObject | None]:
    """Return a filter of pods: it keeps those that use devices on these nodes."""
    return lambda pod: pod if node_of(pod) in nodes and busy([pod]) else None


def refusal(pods: t.Iterable[KubeObject], rules: Rules, why: str) -> AcceleratorError | None:
    """Return the failure that names the pods which the rules do not allow to evict, or None.

    why: the reason for the drain, the beginning of the message.
    """
    going = [pod for pod in leaving(pods) if not is_terminating(pod)]
    working = busy(going)
    # Pods that end by themselves are not evicted.
    evicted = [pod for pod in going if rules.on_busy == "drain" or pod not in working]
    found = [
        ("NODE-BUSY", working if rules.on_busy == "fail" else [], "with GPUs", _WAIT),
        (
            "NODE-EMPTYDIR",
            [pod for pod in evicted if keeps_data(pod)] if not rules.delete_emptydir else [],
            "with data in an emptyDir",
            _DATA,
        ),
        (
            "NODE-UNMANAGED",
            [pod for pod in evicted if controller(pod) is None] if not rules.force else [],
            "without a controller",
            _NOBODY,
        ),
    ]
    wrong = [one for one in found if one[1]]
    if not wrong:
        return None
    code, those, what, remedy = wrong[0]
    nodes = sorted({node_of(pod) for pod in those})
    shown = ", ".join(map(name, those[:SHOWN]))
    message = (
        f"{why}, but the task may not evict {number_of(len(those), 'pod')} {what} on {', '.join(nodes)}: "
        f"{shown}. Nothing was changed."
    )
    evidence = [
        f"{code}: {name(pod)} on {node_of(pod)}" for code, those, _what, _remedy in wrong for pod in those
    ]
    return AcceleratorError(code, message, remedy, evidence)


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


def _is_mirror(pod: KubeObject) -> bool:
    return MIRROR in (pod["metadata"].get("annotations") or {})
