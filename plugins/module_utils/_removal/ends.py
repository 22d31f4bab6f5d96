# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""Pods with devices that a removal ends, the refusal while they run, and the table of the whole removal."""

from __future__ import annotations

import typing as t

from .._core.errors import AcceleratorError
from .._core.objects import KubeObject, number_of
from .._core.ownership import owned
from .._core.readiness import Readiness, pending, ready
from .._nodes import drain
from .._nodes.drain import Rules
from .needs import Stay

_SHOWN: t.Final = 20
BY_DRAIN: t.Final = "drain by this run"
BY_STACK: t.Final = "removal of the driver stack"
_REMEDIES: t.Final = {
    "NODE-BUSY": "Wait until they have ended, or run the playbook again with -e gpu_on_busy=drain.",
    "NODE-EMPTYDIR": "Save the data, then run the playbook again with -e gpu_delete_emptydir=true.",
    "NODE-UNMANAGED": "Delete the pods, or run the playbook again with -e gpu_evict_unmanaged=true.",
}


class Loss(t.NamedTuple):
    """What a node loses. why: for people. by: what ends the pods."""

    why: str
    by: str


class End(t.NamedTuple):
    """A pod with devices that would end."""

    pod: KubeObject
    loss: Loss

    def as_result(self) -> dict[str, t.Any]:
        """Return the pod as the module returns it."""
        return {
            "node": drain.node_of(self.pod),
            "namespace": self.pod["metadata"]["namespace"],
            "pod": self.pod["metadata"]["name"],
            "owner": drain.owner(self.pod),
            "why": self.loss.why,
            "by": self.loss.by,
        }

    @property
    def line(self) -> str:
        """Return the pod as a line of the table."""
        owner = f" of {drain.owner(self.pod)}" if drain.owner(self.pod) else ""
        return f"{drain.name(self.pod)}{owner} on {drain.node_of(self.pod)}: {self.loss.why}, {self.loss.by}"


def ending(pods: t.Iterable[KubeObject], losses: t.Mapping[str, Loss]) -> list[End]:
    """Return the pods with devices on nodes that lose something.

    Validation pods of this collection do not count: the run removes them first.
    """
    busy = [pod for pod in drain.busy(pods) if drain.node_of(pod) in losses and not owned(pod)]
    return [End(pod, losses[drain.node_of(pod)]) for pod in sorted(busy, key=drain.name)]


def refusal(
    ends: t.Sequence[End], pods: t.Iterable[KubeObject], rules: Rules, what: str
) -> AcceleratorError | None:
    """Return the failure that names pods which may not end, or None. pods: those on nodes to drain."""
    if ends and rules.on_busy == "fail":
        shown = [f"{drain.name(one.pod)} on {drain.node_of(one.pod)}" for one in ends[:_SHOWN]]
        spaces = {one.pod["metadata"]["namespace"] for one in ends}
        message = (
            f"{what} would end {number_of(len(ends), 'pod')} with GPUs of "
            f"{number_of(len(spaces), 'namespace')}: {', '.join(shown)}{', …' if ends[_SHOWN:] else ''}. "
            "Nothing was changed."
        )
        return AcceleratorError("NODE-BUSY", message, _REMEDIES["NODE-BUSY"])
    problem = drain.refusal([pod for pod in pods if not owned(pod)], rules, what)
    if problem:
        problem.remedy = _REMEDIES.get(problem.code, problem.remedy)
    return problem


def idle(losses: t.Mapping[str, Loss]) -> t.Callable[[t.Mapping[str, t.Sequence[KubeObject]]], Readiness]:
    """Return a judge that is ready once no pod with devices runs on the nodes."""

    def judge(snapshot: t.Mapping[str, t.Sequence[KubeObject]]) -> Readiness:
        left = ending((pod for pods in snapshot.values() for pod in pods), losses)
        if not left:
            return ready("Idle", "no pod with GPUs is left")
        return pending(
            "Busy",
            f"the removal waits for {number_of(len(left), 'pod')} with GPUs",
            code="NODE-BUSY",
            remedy=_REMEDIES["NODE-BUSY"],
            details=tuple(one.line for one in left),
        )

    return judge


def table(removes: t.Iterable[str], stays: t.Iterable[Stay], ends: t.Iterable[End]) -> list[str]:
    """Return the lines for people: what goes, what stays and for whom, which pods end."""
    return [
        *(f"remove  {one}" for one in removes),
        *(f"keep    {one.what}, needed by {', '.join(one.needed_by)}" for one in stays),
        *(f"end     {one.line}" for one in ends),
    ]
