# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""Drain of nodes: which pods must leave, which need the user's permission, and which block the drain."""

from __future__ import annotations

import typing as t
from dataclasses import dataclass, field

from .._catalogue.well_known import VENDORS
from .._core.errors import AcceleratorError
from .._core.objects import KubeObject, Snapshot, number_of
from .._core.readiness import Readiness, pending, ready
from .taints import tolerates_cordon

MIRROR: t.Final = "kubernetes.io/config.mirror"
DEVICES: t.Final = (*VENDORS, "habana.ai/")
# Seconds between two evictions of a pod that a disruption budget blocks; kubectl uses the same.
_AGAIN: t.Final = 5.0
_SHOWN: t.Final = 20
_AGAIN_RUN: t.Final = "run again: the next run resumes the drain."
_WAIT: t.Final = (
    "Wait until they have ended, or set on_busy: drain (the task evicts them) "
    "or on_busy: wait (the task waits for their end)."
)

_DATA: t.Final = "Save the data, then set delete_emptydir: true."
_NOBODY: t.Final = "No controller would recreate them on another node: delete them, or set force: true."


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
        if not is_ended(pod) and (_controller(pod) or {}).get("kind") != "DaemonSet" and not _is_mirror(pod)
    ]


def uses_devices(pod: KubeObject) -> bool:
    """Return True if the pod has devices, by a resource or by a claim."""
    spec = pod["spec"]
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
            [pod for pod in evicted if _controller(pod) is None] if not rules.force else [],
            "without a controller",
            _NOBODY,
        ),
    ]
    wrong = [one for one in found if one[1]]
    if not wrong:
        return None
    code, those, what, remedy = wrong[0]
    nodes = sorted({node_of(pod) for pod in those})
    shown = ", ".join(map(name, those[:_SHOWN]))
    message = (
        f"{why}, but the task may not evict {number_of(len(those), 'pod')} {what} on {', '.join(nodes)}: "
        f"{shown}. Nothing was changed."
    )
    evidence = [
        f"{code}: {name(pod)} on {node_of(pod)}" for code, those, _what, _remedy in wrong for pod in those
    ]
    return AcceleratorError(code, message, remedy, evidence)


@dataclass
class Emptied:
    """Judge of a drain: ready when no pod is left, or when an eviction is due.

    lost: nodes that are not Ready, so that nothing ends their pods; a terminating pod there counts as gone.
    cordoned: node -> time of its cordon, for nodes that an earlier run drained.
    refused: uid -> text of the disruption budget's refusal (empty if there was none) and its time.
    first: uids of the pods that this run must evict. A pod that tolerates the cordon and came later would
    come back
    after each eviction: the drain only reports it if it has no device, and waits for its end if it has one.
    """

    nodes: frozenset[str]
    rules: Rules
    clock: t.Callable[[], float]
    lost: frozenset[str] = frozenset()
    cordoned: t.Mapping[str, str] = field(default_factory=dict)
    refused: dict[str, tuple[str, float]] = field(default_factory=dict)
    first: frozenset[str] | None = None

    def left(self, snapshot: Snapshot) -> list[KubeObject]:
        """Return the pods that the drain still waits for."""
        return [pod for pod in self._here(snapshot) if uses_devices(pod) or not self._is_back(pod)]

    def remarks(self, snapshot: Snapshot) -> list[str]:
        """Return a warning about pods that came to the nodes despite the cordon, or nothing."""
        back = [pod for pod in self._here(snapshot) if self._is_back(pod) and not uses_devices(pod)]
        if not back:
            return []
        lines = "; ".join(map(_came_back, back[:_SHOWN]))
        return [f"{lines}. The drain does not wait for pods that tolerate the cordon and have no GPU."]

    def _here(self, snapshot: Snapshot) -> list[KubeObject]:
        here = leaving(pod for pods in snapshot.values() for pod in pods if node_of(pod) in self.nodes)
        if self.first is None:
            self.first = frozenset(pod["metadata"]["uid"] for pod in here)
        return [pod for pod in here if not (is_terminating(pod) and node_of(pod) in self.lost)]

    def _is_back(self, pod: KubeObject) -> bool:
        since = self.cordoned.get(node_of(pod), "")
        is_new = pod["metadata"]["uid"] not in (self.first or ()) or bool(
            since and str(pod["metadata"].get("creationTimestamp") or "") >= since
        )
        return is_new and bool(tolerates_cordon(pod))

    def due(self, pods: t.Iterable[KubeObject]) -> list[KubeObject]:
        """Return the pods to evict now."""
        now = self.clock()
        waits = self.rules.on_busy == "wait"
        asked = [
            pod
            for pod in pods
            if not is_terminating(pod) and not (waits and uses_devices(pod)) and not self._is_back(pod)
        ]
        return [
            pod
            for pod in asked
            if now - self.refused.get(pod["metadata"]["uid"], ("", now - _AGAIN))[1] >= _AGAIN
        ]

    def __call__(self, snapshot: Snapshot) -> Readiness:
        left = self.left(snapshot)
        if not left:
            return ready("Drained", "no pod is left")
        if self.due(left):
            return ready("Due", "pods have to be evicted")
        lines = tuple(sorted(map(self._line, left)))
        kept = [pod for pod in left if self._why(pod)]
        if kept:
            remedy = (
                "`oc get pdb -A`: run more pods of that application on other nodes, or raise the budget, "
                f"then {_AGAIN_RUN}"
            )
            return pending(
                "Kept",
                f"disruption budgets keep {self._listed(kept)}",
                code="NODE-PDB",
                remedy=remedy,
                details=lines,
            )
        if all(self._is_back(pod) for pod in left):
            remedy = f"Remove that toleration from the pods' controller, or scale it down, then {_AGAIN_RUN}"
            return pending(
                "Back",
                f"pods with GPUs: {'; '.join(map(_came_back, left[:_SHOWN]))}",
                code="NODE-RETURNS",
                remedy=remedy,
                details=lines,
            )
        remedy = f"Check their finalizers and terminationGracePeriodSeconds, then {_AGAIN_RUN}"
        return pending(
            "Leaving",
            f"the drain waits for {number_of(len(left), 'pod')}: {self._listed(left)}",
            code="NODE-DRAIN",
            remedy=remedy,
            details=lines,
        )

    def _listed(self, pods: t.Sequence[KubeObject]) -> str:
        return ", ".join(f"{name(pod)} on {node_of(pod)}{self._why(pod)}" for pod in pods[:_SHOWN])

    def _why(self, pod: KubeObject) -> str:
        text = self.refused.get(pod["metadata"]["uid"], ("", 0.0))[0]
        return f" ({text})" if text and not is_terminating(pod) else ""

    def _line(self, pod: KubeObject) -> str:
        state = "ends" if is_terminating(pod) else "is kept" if self._why(pod) else "runs"
        return f"{node_of(pod)}: pod {name(pod)} {state}{self._why(pod)}"


def _came_back(pod: KubeObject) -> str:
    owner = _controller(pod)
    by = f" of {owner['kind']} {owner['name']}" if owner else ""
    what = f"came to {node_of(pod)} although that is cordoned: it tolerates {tolerates_cordon(pod)}"
    return f"{name(pod)}{by} {what}"


def _controller(pod: KubeObject) -> KubeObject | None:
    return next((one for one in pod["metadata"].get("ownerReferences") or [] if one.get("controller")), None)


def _is_mirror(pod: KubeObject) -> bool:
    return MIRROR in (pod["metadata"].get("annotations") or {})
