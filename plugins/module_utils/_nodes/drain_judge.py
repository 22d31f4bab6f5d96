# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Judge of a running drain: which pods to evict now, which ones it waits for, and what makes it stop."""

from __future__ import annotations

import typing as t
from dataclasses import dataclass, field

from .._core.errors import AcceleratorError, text_of
from .._core.objects import KubeObject, Snapshot, number_of
from .._core.readiness import Readiness, failed, pending, ready
from . import node as node_facts
from .drain import busy, controller, is_terminating, keeps_data, leaving, name, node_of, owner, uses_devices
from .taints import UNSCHEDULABLE, tolerates

SHOWN: t.Final = 20
# The beginning of each snapshot key that holds Nodes; the other keys hold pods, or what the caller watches.
NODES: t.Final = "node/"
NEW_WORK: t.Final = "NODE-NEW-WORK"
# Seconds between two evictions of a pod that the API server refused; kubectl uses the same.
_AGAIN: t.Final = 5.0
# The API server's own words about a PodDisruptionBudget; other refusals come from webhooks.
_BUDGET: t.Final = "disruption budget"


def no_fault(_snapshot: Snapshot) -> Readiness | None:
    """Return None: the caller of the drain watches nothing else."""
    return None


@dataclass
class Emptied:
    """Judge of a drain: ready when no pod is left, or when an eviction is due.

    lost: nodes that are not Ready, so that nothing ends their pods; a terminating pod there counts as gone.
    cordoned: node -> time of its cordon, for nodes that an earlier run drained.
    refused: uid -> text of the refused eviction (empty if it was not refused) and its time.
    first: uids of the pods that this run must evict. A pod that tolerates the cordon and came later would
    come back after each eviction: the drain only reports it if it has no device, and waits for its end if it
    has one.
    fault: what else makes the drain stop, such as another number of replicas; None while nothing does.
    """

    nodes: frozenset[str]
    rules: Rules
    clock: t.Callable[[], float]
    lost: frozenset[str] = frozenset()
    cordoned: t.Mapping[str, str] = field(default_factory=dict)
    refused: dict[str, tuple[str, float]] = field(default_factory=dict)
    first: frozenset[str] | None = None
    fault: t.Callable[[Snapshot], Readiness | None] = no_fault

    def left(self, snapshot: Snapshot) -> list[KubeObject]:
        """Return the pods that the drain still waits for."""
        return [pod for pod in self._here(snapshot) if uses_devices(pod) or not self._is_back(pod)]

    def warnings(self, snapshot: Snapshot) -> list[str]:
        """Return a warning about pods that came to the nodes despite the cordon, or nothing."""
        back = [pod for pod in self._here(snapshot) if self._is_back(pod) and not uses_devices(pod)]
        if not back:
            return []
        lines = "; ".join(map(_came_back, back[:SHOWN]))
        return [f"{lines}. The drain does not wait for pods that tolerate the cordon and have no GPU."]

    def _here(self, snapshot: Snapshot) -> list[KubeObject]:
        seen = [one for key, found in snapshot.items() if not key.startswith(NODES) for one in found]
        pods = [pod for pod in seen if node_of(pod) in self.nodes]
        here = leaving(pods)
        if self.rules.on_busy != "drain":
            here += [pod for pod in busy(pods) if pod not in here]
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
        keeps_work = self.rules.on_busy != "drain"
        asked = [
            pod
            for pod in pods
            if not is_terminating(pod) and not (keeps_work and uses_devices(pod)) and not self._is_back(pod)
        ]
        return [
            pod
            for pod in asked
            if now - self.refused.get(pod["metadata"]["uid"], ("", now - _AGAIN))[1] >= _AGAIN
        ]

    def __call__(self, snapshot: Snapshot) -> Readiness:
        left = self.left(snapshot)
        if stop := self._uncordoned(snapshot) or self.fault(snapshot) or self._new_work(left):
            return stop
        if not left:
            return ready("Drained", "no pod is left")
        if self.due(left):
            return ready("Due", "pods have to be evicted")
        lines = tuple(sorted(map(self._line, left)))
        if any(self._why(pod) for pod in left):
            return self._kept(left, lines)
        if all(self._is_back(pod) for pod in left):
            text = text_of("NODE-RETURNS", pods="; ".join(map(_came_back, left[:SHOWN])))
            return pending("Back", **text._asdict(), details=lines)
        keeps_work = self.rules.on_busy != "drain" and busy(left)
        text = text_of(
            "NODE-DRAIN",
            pods=f"{number_of(len(left), 'pod')}: {self._listed(left)}",
            name=left[0]["metadata"]["name"],
            namespace=left[0]["metadata"]["namespace"],
            also="End those with GPUs, or set gpu_on_busy: drain (module option on_busy), which ends them. "
            if keeps_work
            else "",
        )
        return pending("Leaving", **text._asdict(), details=lines)

    def _kept(self, left: t.Sequence[KubeObject], lines: tuple[str, ...]) -> Readiness:
        """Return the verdict on pods whose eviction is refused: by budgets, else by a webhook."""
        refused = [pod for pod in left if self._why(pod)]
        kept = [pod for pod in refused if _BUDGET in self._why(pod).lower()]
        others = [pod for pod in refused if pod not in kept]
        if kept:
            also = f"; other evictions are refused: {self._listed(others)}" if others else ""
            text = text_of("NODE-PDB", pods=self._listed(kept), also=also)
        else:
            name, namespace = (others[0]["metadata"][key] for key in ("name", "namespace"))
            text = text_of("NODE-EVICTION", pods=self._listed(others), name=name, namespace=namespace)
        return pending("Kept", **text._asdict(), details=lines)

    def _uncordoned(self, snapshot: Snapshot) -> Readiness | None:
        """Return a failure if a node is schedulable again, so that new pods come while the old ones leave."""
        nodes = [one for key, found in snapshot.items() if key.startswith(NODES) for one in found]
        gone = sorted(
            node_facts.name(node)
            for node in nodes
            if node_facts.name(node) in self.nodes and not node_facts.is_cordoned(node)
        )
        if not gone:
            return None
        return failed(
            "Uncordoned",
            **text_of("NODE-UNCORDONED", nodes=", ".join(gone))._asdict(),
        )

    def _new_work(self, left: t.Sequence[KubeObject]) -> Readiness | None:
        """Return a failure if on_busy is fail and a pod with devices came after the check for such pods."""
        came = [
            pod
            for pod in left
            if self.rules.on_busy == "fail"
            and uses_devices(pod)
            and not is_terminating(pod)
            and not self._is_back(pod)
        ]
        if not came:
            return None
        return failed(
            "NewWork",
            **text_of(NEW_WORK, pods=number_of(len(came), "pod"), listed=self._listed(came))._asdict(),
            details=tuple(sorted(map(self._line, came))),
        )

    def _listed(self, pods: t.Sequence[KubeObject]) -> str:
        return ", ".join(f"{name(pod)} on {node_of(pod)}{self._why(pod)}" for pod in pods[:SHOWN])

    def _why(self, pod: KubeObject) -> str:
        text = self.refused.get(pod["metadata"]["uid"], ("", 0.0))[0]
        return f" ({text})" if text and not is_terminating(pod) else ""

    def _line(self, pod: KubeObject) -> str:
        state = "ends" if is_terminating(pod) else "is kept" if self._why(pod) else "runs"
        return f"{node_of(pod)}: pod {name(pod)} {state}{self._why(pod)}"


def _came_back(pod: KubeObject) -> str:
    by = f" of {owner(pod)}" if owner(pod) else ""
    what = f"came to {node_of(pod)} although that is cordoned: it tolerates {tolerates_cordon(pod)}"
    return f"{name(pod)}{by} {what}"


@dataclass(frozen=True)
class Rules:
    """What a drain may do.

    on_busy: C(fail), C(drain) or C(wait). delete_emptydir: whether it may evict pods with data in an
    emptyDir.
    evict_unmanaged: whether it may evict pods without a controller.
    """

    on_busy: str = "fail"
    delete_emptydir: bool = False
    evict_unmanaged: bool = False

    @classmethod
    def of(cls, params: t.Mapping[str, t.Any]) -> Rules:
        """Return the rules in a module's parameters."""
        return cls(
            params.get("on_busy") or "fail",
            bool(params.get("delete_emptydir")),
            bool(params.get("evict_unmanaged")),
        )


def refusal(pods: t.Iterable[KubeObject], rules: Rules, why: str) -> AcceleratorError | None:
    """Return the failure that names the pods which the rules do not allow to evict, or None.

    why: the reason for the drain, the beginning of the message.
    """
    here = list(pods)
    going = [pod for pod in leaving(here) if not is_terminating(pod)]
    working = busy(here)
    # Pods that end by themselves are not evicted.
    evicted = [pod for pod in going if rules.on_busy == "drain" or pod not in working]
    found = [
        ("NODE-BUSY", working if rules.on_busy == "fail" else [], "with GPUs"),
        (
            "NODE-EMPTYDIR",
            [pod for pod in evicted if keeps_data(pod)] if not rules.delete_emptydir else [],
            "with data in an emptyDir",
        ),
        (
            "NODE-UNMANAGED",
            [pod for pod in evicted if controller(pod) is None] if not rules.evict_unmanaged else [],
            "without a controller",
        ),
    ]
    wrong = [refused for refused in found if refused[1]]
    if not wrong:
        return None
    code, those, what = wrong[0]
    nodes = sorted({node_of(pod) for pod in those})
    shown = ", ".join(map(name, those[:SHOWN]))
    message = (
        f"{why}, but the task may not evict {number_of(len(those), 'pod')} {what} on {', '.join(nodes)}: "
        f"{shown}. Nothing was changed."
    )
    evidence = [f"{code}: {name(pod)} on {node_of(pod)}" for code, those, _what in wrong for pod in those]
    return AcceleratorError(code, message, text_of(code).remedy, evidence)


def tolerates_cordon(pod: dict[str, t.Any]) -> str:
    """Return the pod's toleration for cordoned nodes as `{key: …, operator: …}`, or an empty text."""
    cordon = {"key": UNSCHEDULABLE, "effect": "NoSchedule"}
    for one in pod["spec"].get("tolerations") or []:
        if tolerates(one, cordon):
            shown = (f"{key}: {one[key]}" for key in ("key", "operator", "effect") if one.get(key))
            return f"{{{', '.join(shown)}}}"
    return ""
