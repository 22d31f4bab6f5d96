# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Gangs: pods that work together on one job, so that each of them waits when one of them ends."""

from __future__ import annotations

import typing as t
from dataclasses import dataclass

from ..._core.objects import KubeObject, name, number_of
from ..._nodes import drain
from ..._nodes.labels import labels
from ..._tuning.selectors import selects

# What a gang is called, and the labels of its pods whose values name it. The first one that a pod has counts:
# the pods of a JobSet also have the labels of a Job.
_MARKS: t.Final = (
    ("JobSet", ("jobset.sigs.k8s.io/jobset-name",)),
    (
        "LeaderWorkerSet",
        ("leaderworkerset.sigs.k8s.io/name", "leaderworkerset.sigs.k8s.io/group-index"),
    ),
    ("training job", ("training.kubeflow.org/job-name",)),
    ("pod group", ("kueue.x-k8s.io/pod-group-name",)),
    ("pod group", ("scheduling.x-k8s.io/pod-group",)),
)
_JOB: t.Final = ("batch.kubernetes.io/job-name", "job-name")
# Only pods of a Job whose completionMode is Indexed have it; before Kubernetes 1.28 as an annotation alone.
_INDEX: t.Final = "batch.kubernetes.io/job-completion-index"
_SHOWN: t.Final = 20
# Kind, namespace and name.
Key = tuple[str, str, str]


@dataclass(frozen=True)
class Gang:
    """The pods of one job that run now; at least two."""

    kind: str
    namespace: str
    name: str
    pods: tuple[KubeObject, ...]

    @property
    def object_name(self) -> str:
        """Return kind, namespace and name."""
        return f"{self.kind} {self.namespace}/{self.name}"

    @property
    def nodes(self) -> list[str]:
        """Return the names of the nodes on which its pods run."""
        return sorted({drain.node_of(pod) for pod in self.pods})

    @property
    def line(self) -> str:
        """Return one line for the plan."""
        shown = ", ".join(self.nodes[:_SHOWN]) + (" and more" if len(self.nodes) > _SHOWN else "")
        return f"{self.object_name} ends whole or not at all: {number_of(len(self.pods), 'pod')} on {shown}"

    def is_on(self, nodes: t.Collection[str]) -> bool:
        """Return whether one of its pods with devices runs on one of these nodes."""
        return any(drain.node_of(pod) in nodes for pod in drain.busy(self.pods, drain.ends_with_driver))

    def left(self, pods: t.Iterable[KubeObject]) -> list[KubeObject]:
        """Return those of these pods that belong to the gang and have not ended."""
        own = {uid(pod) for pod in self.pods}
        return [pod for pod in pods if uid(pod) in own and not drain.is_ended(pod)]


def uid(pod: KubeObject) -> str:
    """Return the uid of a pod, which no other pod of the same name has."""
    return str(pod["metadata"].get("uid") or drain.name(pod))


def key(pod: KubeObject) -> Key | None:
    """Return what names the gang of a pod, or None for a pod that works alone."""
    marks, namespace = labels(pod), str(pod["metadata"]["namespace"])
    for kind, keys in _MARKS:
        if all(marks.get(one) for one in keys):
            return kind, namespace, "-".join(marks[one] for one in keys)
    job = next((marks[one] for one in _JOB if marks.get(one)), "")
    is_indexed = _INDEX in marks or _INDEX in (pod["metadata"].get("annotations") or {})
    return ("Job", namespace, job) if job and is_indexed else None


def is_member(pod: KubeObject) -> bool:
    """Return whether the pod runs on a node and belongs to a gang."""
    return bool(drain.node_of(pod) and not drain.is_ended(pod) and not drain.is_terminating(pod) and key(pod))


def find(pods: t.Iterable[KubeObject]) -> list[Gang]:
    """Return the gangs of at least two pods, in the order of their titles."""
    found: dict[Key, list[KubeObject]] = {}
    for pod in pods:
        if is_member(pod) and (one := key(pod)):
            found.setdefault(one, []).append(pod)
    return [Gang(*one, tuple(members)) for one, members in sorted(found.items()) if len(members) > 1]


def touched(gangs: t.Iterable[Gang], nodes: t.Collection[str]) -> list[Gang]:
    """Return the gangs that have a pod with devices on one of these nodes."""
    return [one for one in gangs if one.is_on(nodes)]


def kept(pods: t.Sequence[KubeObject], budgets: t.Iterable[KubeObject]) -> list[str]:
    """Return a line for each PodDisruptionBudget that does not allow the end of all these pods at once.

    The API server answers for one pod at a time, so it would allow the first pods of a gang and refuse the
    rest.
    """
    lines = []
    for one in budgets:
        covered = [
            pod
            for pod in pods
            if pod["metadata"]["namespace"] == one["metadata"].get("namespace")
            and not drain.is_terminating(pod)
            and _covers(one, pod)
        ]
        allowed = int((one.get("status") or {}).get("disruptionsAllowed") or 0)
        if len(covered) > allowed:
            lines.append(
                f"PodDisruptionBudget {one['metadata']['namespace']}/{name(one)} allows the end of {allowed} "
                f"of {number_of(len(covered), 'pod')}"
            )
    return lines


def _covers(budget: KubeObject, pod: KubeObject) -> bool:
    selector = (budget.get("spec") or {}).get("selector")
    # An empty selector of a budget selects each pod of its namespace.
    return selector == {} or selects(selector, labels(pod))
