# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""Which pods of a node must go before it does, which may not go unasked, and which keep it up."""

from __future__ import annotations

import typing as t
from dataclasses import dataclass, field

from ansible_collections.accelerators.openshift.plugins.module_utils._catalogue.well_known import VENDORS
from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import AcceleratorError
from ansible_collections.accelerators.openshift.plugins.module_utils._core.readiness import (
    Readiness,
    pending,
    ready,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._nodes.taints import tolerates_cordon

Data = dict[str, t.Any]
MIRROR: t.Final = "kubernetes.io/config.mirror"
DEVICES: t.Final = (*VENDORS, "habana.ai/")
# Seconds until a pod that a disruption budget keeps is asked again; kubectl's.
_AGAIN: t.Final = 5.0
_SHOWN: t.Final = 20
_WAIT: t.Final = "Wait until they have ended, or say what may happen to them: on_busy: drain (evict them) or on_busy: wait."

_DATA: t.Final = "Save the data, then set delete_emptydir: true."
_NOBODY: t.Final = "Nobody would make them again elsewhere: delete them, or set force: true."


@dataclass(frozen=True)
class Rules:
    """on_busy: C(fail), C(drain) or C(wait). delete_emptydir, force: whether pods with such data, and pods that nobody makes again, may be evicted."""

    on_busy: str = "fail"
    delete_emptydir: bool = False
    force: bool = False

    @classmethod
    def of(cls, params: t.Mapping[str, t.Any]) -> Rules:
        return cls(
            params.get("on_busy") or "fail", bool(params.get("delete_emptydir")), bool(params.get("force"))
        )


def name(pod: Data) -> str:
    return f"{pod['metadata']['namespace']}/{pod['metadata']['name']}"


def node_of(pod: Data) -> str:
    return str(pod["spec"].get("nodeName") or "")


def is_ended(pod: Data) -> bool:
    return (pod.get("status") or {}).get("phase") in ("Succeeded", "Failed")


def is_terminating(pod: Data) -> bool:
    return bool(pod["metadata"].get("deletionTimestamp"))


def leaving(pods: t.Iterable[Data]) -> list[Data]:
    """The pods that a drain is about: neither ended ones, nor DaemonSets', which come back at once, nor the kubelet's own."""
    return [
        pod
        for pod in pods
        if not is_ended(pod) and (_controller(pod) or {}).get("kind") != "DaemonSet" and not _is_mirror(pod)
    ]


def uses_devices(pod: Data) -> bool:
    """Whether the pod has GPUs, by a resource or by a claim."""
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


def keeps_data(pod: Data) -> bool:
    return any("emptyDir" in volume for volume in pod["spec"].get("volumes") or [])


def busy(pods: t.Iterable[Data]) -> list[Data]:
    """Those that use GPUs, and are not about to end."""
    return [pod for pod in leaving(pods) if uses_devices(pod) and not is_terminating(pod)]


def refusal(pods: t.Iterable[Data], rules: Rules, why: str) -> AcceleratorError | None:
    """The failure that says which pods may not be evicted unasked. why: what the nodes have to go for."""
    going = [pod for pod in leaving(pods) if not is_terminating(pod)]
    working = busy(going)
    # What ends by itself is not evicted.
    evicted = [pod for pod in going if rules.on_busy == "drain" or pod not in working]
    found = [
        ("NODE-BUSY", working if rules.on_busy == "fail" else [], "run on GPUs", _WAIT),
        (
            "NODE-EMPTYDIR",
            [pod for pod in evicted if keeps_data(pod)] if not rules.delete_emptydir else [],
            "keep data in an emptyDir",
            _DATA,
        ),
        (
            "NODE-UNMANAGED",
            [pod for pod in evicted if _controller(pod) is None] if not rules.force else [],
            "belong to no controller",
            _NOBODY,
        ),
    ]
    wrong = [one for one in found if one[1]]
    if not wrong:
        return None
    code, those, what, remedy = wrong[0]
    nodes = sorted({node_of(pod) for pod in those})
    message = f"{why}: {len(those)} pods on {', '.join(nodes)} {what}: {', '.join(map(name, those[:_SHOWN]))}. Nothing was changed."
    evidence = [
        f"{code}: {name(pod)} on {node_of(pod)}" for code, those, _what, _remedy in wrong for pod in those
    ]
    return AcceleratorError(code, message, remedy, evidence)


@dataclass
class Emptied:
    """Judge: the nodes are free of pods that have to go, or there is something to ask again.

    lost: nodes that are not there to end their pods; a pod of theirs counts as gone once it was told to. cordoned: since when those are cordoned that a run
    before has emptied. refused: by uid, what a budget said (empty: nothing) and when. first: uids of the pods that this run is to send away. A pod that came
    after them, since it tolerates the cordon, would only come once more: without GPUs it is told of, with GPUs its end is waited for.
    """

    nodes: frozenset[str]
    rules: Rules
    clock: t.Callable[[], float]
    lost: frozenset[str] = frozenset()
    cordoned: t.Mapping[str, str] = field(default_factory=dict)
    refused: dict[str, tuple[str, float]] = field(default_factory=dict)
    first: frozenset[str] | None = None

    def left(self, snapshot: t.Mapping[str, t.Sequence[Data]]) -> list[Data]:
        return [pod for pod in self._here(snapshot) if uses_devices(pod) or not self._is_back(pod)]

    def remarks(self, snapshot: t.Mapping[str, t.Sequence[Data]]) -> list[str]:
        """What the node's owner should know of the pods that are on it all the same."""
        back = [pod for pod in self._here(snapshot) if self._is_back(pod) and not uses_devices(pod)]
        return (
            [
                f"{'; '.join(map(_came_back, back[:_SHOWN]))}. The drain does not wait for what tolerates the cordon and has no GPU."
            ]
            if back
            else []
        )

    def _here(self, snapshot: t.Mapping[str, t.Sequence[Data]]) -> list[Data]:
        here = leaving(pod for pods in snapshot.values() for pod in pods if node_of(pod) in self.nodes)
        if self.first is None:
            self.first = frozenset(pod["metadata"]["uid"] for pod in here)
        return [pod for pod in here if not (is_terminating(pod) and node_of(pod) in self.lost)]

    def _is_back(self, pod: Data) -> bool:
        since = self.cordoned.get(node_of(pod), "")
        is_new = pod["metadata"]["uid"] not in (self.first or ()) or bool(
            since and str(pod["metadata"].get("creationTimestamp") or "") >= since
        )
        return is_new and bool(tolerates_cordon(pod))

    def due(self, pods: t.Iterable[Data]) -> list[Data]:
        """Pods to be asked now."""
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

    def __call__(self, snapshot: t.Mapping[str, t.Sequence[Data]]) -> Readiness:
        left = self.left(snapshot)
        if not left:
            return ready("Drained", "no pod is left")
        if self.due(left):
            return ready("Due", "pods are to be asked again")
        lines = tuple(sorted(map(self._line, left)))
        kept = [pod for pod in left if self._why(pod)]
        if kept:
            remedy = "`oc get pdb -A`: let the budget's application run elsewhere too, or raise the budget, then run again; it goes on where it was."
            return pending(
                "Kept",
                f"disruption budgets keep {self._told(kept)}",
                code="NODE-PDB",
                remedy=remedy,
                details=lines,
            )
        if all(self._is_back(pod) for pod in left):
            remedy = "Take that toleration from what makes these pods, or scale it down, then run again; it goes on where it was."
            return pending(
                "Back",
                f"pods with GPUs: {'; '.join(map(_came_back, left[:_SHOWN]))}",
                code="NODE-RETURNS",
                remedy=remedy,
                details=lines,
            )
        remedy = "Look at these pods (finalizers, terminationGracePeriodSeconds), then run again; it goes on where it was."
        return pending(
            "Leaving",
            f"{len(left)} pods are still there: {self._told(left)}",
            code="NODE-DRAIN",
            remedy=remedy,
            details=lines,
        )

    def _told(self, pods: t.Sequence[Data]) -> str:
        return ", ".join(f"{name(pod)} on {node_of(pod)}{self._why(pod)}" for pod in pods[:_SHOWN])

    def _why(self, pod: Data) -> str:
        text = self.refused.get(pod["metadata"]["uid"], ("", 0.0))[0]
        return f" ({text})" if text and not is_terminating(pod) else ""

    def _line(self, pod: Data) -> str:
        state = "ends" if is_terminating(pod) else "is kept" if self._why(pod) else "runs"
        return f"{node_of(pod)}: pod {name(pod)} {state}{self._why(pod)}"


def _came_back(pod: Data) -> str:
    owner = _controller(pod)
    by = f" of {owner['kind']} {owner['name']}" if owner else ""
    return f"{name(pod)}{by} came to {node_of(pod)} although that is cordoned: it tolerates {tolerates_cordon(pod)}"


def _controller(pod: Data) -> Data | None:
    return next((one for one in pod["metadata"].get("ownerReferences") or [] if one.get("controller")), None)


def _is_mirror(pod: Data) -> bool:
    return MIRROR in (pod["metadata"].get("annotations") or {})
