# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the cluster autoscaler decides in one look.

It grows one node group, or says why no group helps a pod; and it finds the nodes that nobody needs.
"""

from __future__ import annotations

import typing as t
from collections import Counter
from dataclasses import dataclass, field

from openshift_sandbox.stand_ins.autoscaler import limits
from openshift_sandbox.stand_ins.autoscaler.groups import DELETED, Group, ready
from openshift_sandbox.stand_ins.core.conditions import find
from openshift_sandbox.stand_ins.core.pod_fit import Room, rejections
from openshift_sandbox.stand_ins.core.quantities import amounts

Object = dict[str, t.Any]

CUTOFF: t.Final = -10
TOTAL_REACHED: t.Final = "max total nodes in cluster reached"
BACKOFF: t.Final = "in backoff after failed scale-up"
MAX_REACHED: t.Final = "max node group size reached"
NOT_READY: t.Final = "not ready for scale-up"
KEEP: t.Final = "cluster-autoscaler.kubernetes.io/scale-down-disabled"
GONE: t.Final = {"Succeeded", "Failed"}


@dataclass(frozen=True)
class Plan:
    """A group with its new size and its pods, or the refused pods with the text of their event."""

    group: Group | None = None
    size: int = 0
    pods: list[Object] = field(default_factory=list)
    refused: list[tuple[Object, str]] = field(default_factory=list)

    @property
    def triggered(self) -> str:
        """The text of the event about a scale-up."""
        assert self.group is not None
        return (
            f"pod triggered scale-up: [{{{self.group.id} {self.group.target}->{self.size} (max: "
            f"{self.group.maximum})}}]"
        )


def unschedulable(pods: t.Sequence[Object], cutoff: int = CUTOFF) -> list[Object]:
    """Return the pods that the scheduler could not place, except those of a low priority."""
    return [pod for pod in pods if _waits(pod) and (pod["spec"].get("priority") or 0) >= cutoff]


def homeless(
    waiting: t.Sequence[Object],
    nodes: t.Sequence[Object],
    pods: t.Sequence[Object],
    startup: t.Collection[str],
) -> list[Object]:
    """Return the waiting pods that no ready node has room for.

    The scheduler has not looked yet at the others, for which the real autoscaler grows no group either.
    """
    bins = [_rest(node, pods) for node in nodes if ready(node, startup)]
    return [pod for pod in waiting if not _placed(pod, bins)]


def scale_up(
    pods: t.Sequence[Object],
    groups: t.Sequence[Group],
    nodes: t.Sequence[Object],
    caps: Object,
    backoff: t.Collection[str] = (),
) -> Plan:
    """Return the plan for pods.

    `caps` are the resourceLimits; the smallest waste wins, as with the expander least-waste.
    """
    waiting = _beyond_upcoming(pods, groups)
    if not waiting:
        return Plan()
    total = caps.get("maxNodesTotal") or 0
    if total and sum(ready(node, ()) for node in nodes) >= total:
        return Plan(refused=[(pod, _text([TOTAL_REACHED], counted=False)) for pod in waiting])
    room = limits.left(caps, groups, nodes)
    skipped = {group.id: reasons for group in groups if (reasons := _skipped(group, room, backoff))}
    options = []
    for group in groups:
        if group.id in skipped or group.template is None:
            continue
        helped = [pod for pod in waiting if not rejections(pod, group.template)]
        if helped:
            count = _packed(helped, group.template)
            options.append((_waste(helped, group.template, count), group.id, group, helped, count))
    if not options:
        return Plan(refused=[(pod, _refusal(pod, groups, skipped)) for pod in waiting])
    _score, _id, group, helped, count = min(options, key=lambda one: one[:2])
    assert group.template is not None
    count = min(
        limits.affordable(room, group.template, count),
        group.maximum - group.target,
        total - len(nodes) if total else count,
    )
    return Plan(group, group.target + count, helped)


def unneeded(group: Group, pods: t.Sequence[Object]) -> list[Object]:
    """Return ready nodes without pods of their own, as many as the group may lose.

    Nodes with pods that could move elsewhere stay.
    """
    busy = {pod["spec"].get("nodeName") for pod in pods if not _belongs_to_node(pod) and _lives(pod)}
    idle = [node for node in group.ready if node["metadata"]["name"] not in busy and not _kept(node)]
    return idle[: max(0, group.target - group.minimum)]


def broken(group: Group, overdue: t.Callable[[Object], bool]) -> list[Object]:
    """Return Machines that Failed without a node, or have no node when their time is over."""
    living = [
        one
        for one in group.machines
        if not one["metadata"].get("deletionTimestamp") and not (one.get("status") or {}).get("nodeRef")
    ]
    lost = [one for one in living if (one.get("status") or {}).get("phase") == "Failed" or overdue(one)]
    return lost[: max(0, group.target - group.minimum)]


def _waits(pod: Object) -> bool:
    scheduled = find(pod, "PodScheduled")
    refused = scheduled.get("status") == "False" and scheduled.get("reason") == "Unschedulable"
    return refused and not pod["spec"].get("nodeName") and not pod["metadata"].get("deletionTimestamp")


def _beyond_upcoming(pods: t.Sequence[Object], groups: t.Sequence[Group]) -> list[Object]:
    """Return the pods for which no node has been ordered yet."""
    bins = [group.template for group in groups if group.template for _node in range(group.upcoming)]
    return [pod for pod in pods if not _placed(pod, bins)]


def _rest(node: Object, pods: t.Sequence[Object]) -> Room:
    room = Room(
        node["metadata"].get("labels") or {},
        node["spec"].get("taints") or [],
        amounts(node["status"].get("allocatable")),
    )
    for pod in pods:
        if pod["spec"].get("nodeName") == node["metadata"]["name"] and _lives(pod):
            room = room.without(pod)
    return room


def _lives(pod: Object) -> bool:
    return pod.get("status", {}).get("phase") not in GONE


def _placed(pod: Object, bins: list[Room]) -> bool:
    for place, room in enumerate(bins):
        if not rejections(pod, room):
            bins[place] = room.without(pod)
            return True
    return False


def _packed(pods: t.Sequence[Object], template: Room) -> int:
    bins: list[Room] = []
    for pod in pods:
        if not _placed(pod, bins):
            bins.append(template.without(pod))
    return len(bins)


def _waste(pods: t.Sequence[Object], template: Room, count: int) -> float:
    rest = template
    for pod in pods:
        rest = rest.without(pod)
    return sum(
        ((count - 1) * template.free[name] + rest.free[name]) / (count * template.free[name])
        for name in ("cpu", "memory")
    )


def _skipped(group: Group, room: t.Mapping[str, float], backoff: t.Collection[str]) -> list[str]:
    if group.id in backoff:
        return [BACKOFF]
    if group.target >= group.maximum:
        return [MAX_REACHED]
    if group.template is None:
        return [NOT_READY]
    names = limits.exceeded(room, group.template)
    return [f"max cluster {', '.join(names)} limit reached"] if names else []


def _refusal(pod: Object, groups: t.Sequence[Group], skipped: t.Mapping[str, list[str]]) -> str:
    reasons: list[str] = []
    for group in groups:
        reasons += skipped.get(group.id) or (rejections(pod, group.template) if group.template else [])
    return _text(reasons)


def _text(reasons: list[str], counted: bool = True) -> str:
    parts = [f"{count} {reason}" if counted else reason for reason, count in sorted(Counter(reasons).items())]
    return f"pod didn't trigger scale-up: {', '.join(parts)}"


def _belongs_to_node(pod: Object) -> bool:
    return any(one["kind"] in {"DaemonSet", "Node"} for one in pod["metadata"].get("ownerReferences") or [])


def _kept(node: Object) -> bool:
    marked = any(one["key"] == DELETED for one in node["spec"].get("taints") or [])
    return marked or (node["metadata"].get("annotations") or {}).get(KEEP) == "true"
