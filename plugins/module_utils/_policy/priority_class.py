# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""PriorityClass: what the API server refuses, found before anything is written."""

from __future__ import annotations

import typing as t

from .._core import fields
from .._core.errors import AcceleratorError
from .._core.objects import KubeObject

# Names that begin so belong to Kubernetes; the API server refuses others of that kind.
RESERVED: t.Final = "system-"
_DEFAULT_POLICY: t.Final = "PreemptLowerPriority"
# The role gpu_policy writes this text for a class without a description.
_DEFAULT_DESCRIPTION: t.Final = "GPU work"
_DESCRIBE: t.Final = "Set description: {} in priority of the pool."


class Clash(t.NamedTuple):
    """A priority class that cannot become what the plan asks for. message, remedy: for an error."""

    name: str
    message: str
    remedy: str


def clashes(wanted: t.Iterable[t.Mapping[str, t.Any]], live: t.Iterable[KubeObject]) -> list[Clash]:
    """Return the classes of the plan that the API server would refuse.

    wanted: the priorities of the plan, with name, value and preemption_policy. live: those of the cluster.
    Value and preemptionPolicy of a class can never change. A description that another manager set is a
    conflict.
    """
    found, there = [], {str(obj["metadata"]["name"]): obj for obj in live}
    for priority in wanted:
        name, other = str(priority["name"]), there.get(str(priority["name"]))
        if name.startswith(RESERVED):
            message = f"PriorityClass {name} begins with {RESERVED}, which Kubernetes keeps for itself."
            found.append(Clash(name, message, "Give the class another name in priority of the pool."))
            continue
        differs = _differences(priority, other) if other else []
        if differs:
            message = f"PriorityClass {name} exists with {', '.join(differs)}. These fields never change."
            remedy = "Set these live values in priority of the pool, or give the class another name there."
            found.append(Clash(name, message, remedy))
        elif other:
            text = priority.get("description") or _DEFAULT_DESCRIPTION
            found += [
                Clash(name, f"PriorityClass {name}: {conflict.line}.", _DESCRIBE.format(conflict.live))
                for conflict in fields.conflicts(other, {"description": text}, under=())
            ]
    return found


def refuse(found: t.Sequence[Clash]) -> None:
    """Raise AcceleratorError (POOL-PRIORITY) with each clash and the remedy of the first."""
    if found:
        lines = [clash.message for clash in found]
        raise AcceleratorError(
            "POOL-PRIORITY", clashes=" ".join(lines), remedy=found[0].remedy, evidence=lines
        )


def _differences(wanted: t.Mapping[str, t.Any], live: KubeObject) -> list[str]:
    policy = wanted.get("preemption_policy") or _DEFAULT_POLICY
    pairs = [
        ("value", int(live.get("value") or 0), int(wanted["value"])),
        ("preemptionPolicy", live.get("preemptionPolicy") or _DEFAULT_POLICY, policy),
    ]
    return [f"{key} {now} (asked: {asked})" for key, now, asked in pairs if now != asked]
