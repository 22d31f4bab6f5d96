# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the resourceLimits of a ClusterAutoscaler leave: cores, memory and GPUs of the whole cluster."""

from __future__ import annotations

import math
import typing as t

from openshift_sandbox.stand_ins.autoscaler.groups import ACCELERATOR, GPU, Group, gpus
from openshift_sandbox.stand_ins.core.pod_fit import Room
from openshift_sandbox.stand_ins.core.quantities import added, amounts

Object = dict[str, t.Any]

GIB: t.Final = 2**30


def left(limits: Object, groups: t.Sequence[Group], nodes: t.Sequence[Object]) -> dict[str, float]:
    """Return what is left, by the autoscaler's names, of those that have a limit.

    Groups count at the requested size.
    """
    caps: dict[str, float] = {one["type"]: one["max"] for one in limits.get("gpus") or []}
    caps |= {"cpu": limits["cores"]["max"]} if limits.get("cores") else {}
    caps |= {"memory": limits["memory"]["max"] * GIB} if limits.get("memory") else {}
    used: dict[str, float] = {}
    for group in groups:
        if group.template:
            used = added(used, weight(group.template), group.target)
    grouped = {node["metadata"]["name"] for group in groups for node in group.nodes}
    for node in nodes:
        if node["metadata"]["name"] not in grouped:
            used = added(used, _of_node(node))
    return {name: max(0.0, cap - used.get(name, 0.0)) for name, cap in caps.items() if cap > 0}


def weight(template: Room) -> dict[str, float]:
    """Return what one node takes from the limits.

    Its GPUs count only under the value of the accelerator label; without the label they do not count.
    """
    found = {name: template.free.get(name, 0.0) for name in ("cpu", "memory")}
    kind = template.labels.get(ACCELERATOR)
    return found | ({kind: template.free.get(GPU, 0.0)} if kind is not None else {})


def exceeded(room: t.Mapping[str, float], template: Room) -> list[str]:
    """Return the limits that one more such node would exceed."""
    return sorted(
        name for name, value in weight(template).items() if value and value > room.get(name, math.inf)
    )


def affordable(room: t.Mapping[str, float], template: Room, count: int) -> int:
    """Return how many more such nodes the limits allow, up to a count."""
    return min(
        [
            count,
            *(int(room[name] // value) for name, value in weight(template).items() if value and name in room),
        ]
    )


def _of_node(node: Object) -> dict[str, float]:
    kind = (node["metadata"].get("labels") or {}).get(ACCELERATOR)
    capacity = amounts((node.get("status") or {}).get("capacity"))
    return {name: capacity.get(name, 0.0) for name in ("cpu", "memory")} | (
        {kind: gpus(node)} if kind is not None else {}
    )
