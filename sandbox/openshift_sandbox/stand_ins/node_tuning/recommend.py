# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which TuneD profile a node gets from the recommend rules of all Tuneds: the lowest priority wins."""

from __future__ import annotations

import typing as t
from dataclasses import dataclass

from openshift_sandbox.seed.tuning import NODE
from openshift_sandbox.stand_ins.core.selectors import matches

Object = dict[str, t.Any]
Labels = t.Mapping[str, str]


@dataclass(frozen=True)
class Rule:
    """One recommend rule."""

    profile: str
    priority: int
    match: t.Sequence[Object] | None
    machine_config_labels: Labels | None
    operand: Object


@dataclass(frozen=True)
class Choice:
    """The profile of a node. `machine_config_labels` is None unless these labels chose it."""

    profile: str = NODE
    machine_config_labels: Labels | None = None
    operand: t.Mapping[str, t.Any] | None = None


@dataclass(frozen=True)
class Place:
    """A node as the rules see it: its labels and its pools."""

    labels: Labels
    pools: t.Sequence[Object]


def rules(tuneds: t.Sequence[Object]) -> list[Rule]:
    """Return all rules: by priority, then by the name of their Tuned."""
    found = [
        Rule(
            profile=one["profile"],
            priority=one["priority"],
            match=one.get("match"),
            machine_config_labels=one.get("machineConfigLabels"),
            operand=one.get("operand") or {},
        )
        for tuned in sorted(tuneds, key=lambda one: str(one["metadata"]["name"]))
        for one in tuned["spec"].get("recommend") or []
    ]
    return sorted(found, key=lambda rule: rule.priority)


def choice(found: t.Sequence[Rule], place: Place) -> Choice:
    """Return what the first rule that matches a node gives it."""
    for rule in found:
        if (rule.match is not None or rule.machine_config_labels is None) and matched(rule.match, place):
            return Choice(rule.profile, None, rule.operand)
        if rule.machine_config_labels and any(
            selects(pool, rule.machine_config_labels) for pool in place.pools
        ):
            return Choice(rule.profile, rule.machine_config_labels, rule.operand)
    return Choice()


def matched(match: t.Sequence[Object] | None, place: Place) -> bool:
    """Return whether an item matches together with one of the items inside it; no item is a match."""
    return not match or any(_label(one, place) and matched(one.get("match"), place) for one in match)


def selects(pool: Object, labels: Labels) -> bool:
    """Return whether a MachineConfigPool selects a MachineConfig with these labels; no selector does not."""
    selector = pool["spec"].get("machineConfigSelector") or {}
    return bool(selector) and matches(selector, labels)


def definitions(tuneds: t.Sequence[Object]) -> list[Object]:
    """Return the profiles of all Tuneds, by name."""
    found = {
        one["name"]: {"name": one["name"], "data": one["data"]}
        for tuned in sorted(tuneds, key=lambda one: str(one["metadata"]["name"]))
        for one in tuned["spec"].get("profile") or []
    }
    return [found[name] for name in sorted(found)]


def _label(item: Object, place: Place) -> bool:
    wanted = item.get("value")
    return item["label"] in place.labels and wanted in (None, place.labels[item["label"]])
