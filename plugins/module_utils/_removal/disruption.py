# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Pods with devices that a removal ends, the refusal while they run, and the table of the whole removal."""

from __future__ import annotations

import typing as t

from .._core.errors import AcceleratorError
from .._core.objects import KubeObject, number_of
from .._core.ownership import owned
from .._core.readiness import Readiness, pending, ready
from .._impact.impact import Ending, Impact, endings
from .._nodes import drain_judge
from .._nodes.drain_judge import Rules
from .needs import Stay

_SHOWN: t.Final = 20
BY_DRAIN: t.Final = "drain by this run"
BY_STACK: t.Final = "removal of the driver stack"
_REMEDIES: t.Final = {
    "NODE-BUSY": "Wait until they have ended, or run the playbook again with -e gpu_on_busy=drain, "
    "which ends them.",
    "NODE-EMPTYDIR": "Save the data, then run the playbook again with -e gpu_delete_emptydir=true: "
    "what is in these volumes is lost.",
    "NODE-UNMANAGED": "Delete the pods, or run the playbook again with -e gpu_evict_unmanaged=true. "
    "Both end them for good.",
}


class Loss(t.NamedTuple):
    """What a node loses. why: for people. by: what ends the pods."""

    why: str
    by: str


def ending(pods: t.Iterable[KubeObject], losses: t.Mapping[str, Loss]) -> list[Impact]:
    """Return what the removal ends on nodes that lose something, one impact for each loss that ends pods.

    Validation pods of this collection do not count: the run removes them first.
    """
    present = [pod for pod in pods if not owned(pod)]
    nodes: dict[Loss, list[str]] = {}
    for node, loss in losses.items():
        nodes.setdefault(loss, []).append(node)
    found = [
        Impact(loss.why, loss.by, tuple(sorted(names)), tuple(endings(present, set(names))), is_certain=True)
        for loss, names in nodes.items()
    ]
    return [impact for impact in found if impact.endings]


def as_result(impacts: t.Iterable[Impact]) -> list[dict[str, t.Any]]:
    """Return the pods as the module returns them."""
    return [
        {
            "node": pod.node,
            "namespace": pod.namespace,
            "pod": pod.pod,
            "owner": pod.owner,
            "why": impact.cause,
            "by": impact.by,
        }
        for pod, impact in _each(impacts)
    ]


def lines(impacts: t.Iterable[Impact]) -> list[str]:
    """Return each pod as a line of the table."""
    return [
        f"{pod.object_name}{f' of {pod.owner}' if pod.owner else ''} on {pod.node}: "
        f"{impact.cause}, {impact.by}"
        for pod, impact in _each(impacts)
    ]


def _each(impacts: t.Iterable[Impact]) -> list[tuple[Ending, Impact]]:
    """Return the pods of all impacts, each with its impact, by namespace and name."""
    found = [(pod, impact) for impact in impacts for pod in impact.endings]
    return sorted(found, key=lambda pair: pair[0].object_name)


def refusal(
    impacts: t.Sequence[Impact], pods: t.Iterable[KubeObject], rules: Rules, what: str
) -> AcceleratorError | None:
    """Return the failure that names pods which may not end, or None. pods: those on nodes to drain."""
    endings = [pod for pod, _impact in _each(impacts)]
    if endings and rules.on_busy == "fail":
        shown = [f"{ending.object_name} on {ending.node}" for ending in endings[:_SHOWN]]
        spaces = {ending.namespace for ending in endings}
        message = (
            f"{what} would end {number_of(len(endings), 'pod')} with GPUs of "
            f"{number_of(len(spaces), 'namespace')}: {', '.join(shown)}{', …' if endings[_SHOWN:] else ''}. "
            "Nothing was changed."
        )
        return AcceleratorError("NODE-BUSY", message, _REMEDIES["NODE-BUSY"])
    problem = drain_judge.refusal([pod for pod in pods if not owned(pod)], rules, what)
    if problem:
        problem.remedy = _REMEDIES.get(problem.code, problem.remedy)
    return problem


def idle(losses: t.Mapping[str, Loss]) -> t.Callable[[t.Mapping[str, t.Sequence[KubeObject]]], Readiness]:
    """Return a judge that is ready once no pod with devices runs on the nodes."""

    def judge(snapshot: t.Mapping[str, t.Sequence[KubeObject]]) -> Readiness:
        left = lines(ending((pod for pods in snapshot.values() for pod in pods), losses))
        if not left:
            return ready("Idle", "no pod with GPUs is left")
        return pending(
            "Busy",
            f"the removal waits for {number_of(len(left), 'pod')} with GPUs",
            code="NODE-BUSY",
            remedy=_REMEDIES["NODE-BUSY"],
            details=tuple(left),
        )

    return judge


def table(removes: t.Iterable[str], stays: t.Iterable[Stay], impacts: t.Iterable[Impact]) -> list[str]:
    """Return the lines for people: what goes, what stays and for whom, which pods end."""
    return [
        *(f"remove  {removed}" for removed in removes),
        *(f"keep    {stay.what}, needed by {', '.join(stay.needed_by)}" for stay in stays),
        *(f"end     {line}" for line in lines(impacts)),
    ]
