# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""The result of operator_upgrade: the way of each operator, step by step, also as a table."""

from __future__ import annotations

import typing as t

from .._core.objects import KubeObject
from .._olm import catalogue, plans
from .crd_changes import CrdChange
from .upgrade_path import Way

_HEADING: t.Final = ("OPERATOR", "FROM", "TO", "CHANNEL", "PLAN", "STACK")


def step(
    package: str,
    channel: str,
    installed: str,
    plan: KubeObject | None,
    crds: t.Iterable[CrdChange],
    csv: str = "",
) -> dict[str, t.Any]:
    """Return one step. plan: None while OLM has not made it. csv: where it leads; the plan names it too."""
    named = [one for one in plans.names(plan or {}) if one.startswith(f"{package}.")]
    return {
        "from": installed,
        "to": next(iter(named), csv),
        "channel": channel,
        "install_plan": plan["metadata"]["name"] if plan else None,
        "crds": [one.as_result() for one in crds],
        "truth": None,
    }


def operator(way: Way, steps: t.Sequence[dict[str, t.Any]]) -> dict[str, t.Any]:
    """Return the way of one operator: the steps that were done, then those that are ahead.

    The catalogue predicts the steps ahead; OLM makes their plans.
    """
    done = [one["to"] for one in steps]
    ahead: list[dict[str, t.Any]] = []
    start = done[-1] if done else way.installed
    for channel, csv in ((stop.channel, csv) for stop in way.stops for csv in stop.passes):
        if catalogue.order(catalogue.version_of(csv)) > catalogue.order(catalogue.version_of(start)):
            ahead.append(step(way.package, channel, start, None, (), csv))
            start = csv
    return {
        "package": way.package,
        "installed": way.installed,
        "target": way.stops[-1].csv if way.stops else way.installed,
        "channel": way.channel,
        "steps": [*steps, *ahead],
    }


def table(operators: t.Iterable[t.Mapping[str, t.Any]]) -> list[str]:
    """Return the steps as text: a heading and a line for each step, or for an operator without one.

    Below a step stand the CRDs that lose something.
    """
    rows: list[tuple[str, ...]] = [_HEADING]
    notes: dict[int, list[str]] = {}
    for one in operators:
        for each in one["steps"]:
            rows.append(_row(one["package"], each))
            lost = [crd for crd in each["crds"] if crd["removed"] or crd["lost"] or crd["fields"]]
            notes[len(rows) - 1] = [f"    CRD {crd['summary']}" for crd in lost]
        if not one["steps"]:
            rows.append((one["package"], one["installed"], "-", one["channel"], "-", "nothing to upgrade"))
    widths = [max(len(row[column]) for row in rows) for column in range(len(_HEADING))]
    found: list[str] = []
    for at, row in enumerate(rows):
        found.append("  ".join(map(str.ljust, row, widths)).rstrip())
        found += notes.get(at, [])
    return found


def _row(package: str, one: t.Mapping[str, t.Any]) -> tuple[str, str, str, str, str, str]:
    plan, truth = one["install_plan"] or "OLM makes it", one["truth"] or "judged after the step"
    return (package, one["from"], one["to"], one["channel"], plan, truth)
