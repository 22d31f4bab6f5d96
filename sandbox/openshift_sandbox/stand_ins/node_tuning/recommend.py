# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which TuneD profile a node gets from the recommend rules of all Tuneds: the lowest priority wins."""

from __future__ import annotations

import typing as t
from dataclasses import dataclass

from openshift_sandbox.seed.tuning import KEYS, NODE
from openshift_sandbox.stand_ins.core.selectors import matches

Object = dict[str, t.Any]
Labels = t.Mapping[str, str]

DEFERRED: t.Final = f"{KEYS}deferred"
DEFER_MODES: t.Final = {"always", "update"}
"""Any other value of the annotation, such as `true`, is the same as no annotation."""


@dataclass(frozen=True)
class Rule:
    """One recommend rule, with the annotation of its Tuned."""

    profile: str
    priority: int
    match: t.Sequence[Object] | None
    machine_config_labels: Labels | None
    operand: Object
    deferred: str | None


@dataclass(frozen=True)
class Choice:
    """The profile of a node. `machine_config_labels` is None unless these labels chose it."""

    profile: str = NODE
    machine_config_labels: Labels | None = None
    operand: t.Mapping[str, t.Any] | None = None
    deferred: str | None = None


@dataclass(frozen=True)
class Place:
    """A node as the rules see it: its labels, those of each of its pods, its pools."""

    labels: Labels
    pods: t.Sequence[Labels]
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
            deferred=defer_mode(tuned),
        )
        for tuned in sorted(tuneds, key=lambda one: str(one["metadata"]["name"]))
        for one in tuned["spec"].get("recommend") or []
    ]
    return sorted(found, key=lambda rule: rule.priority)


def choice(found: t.Sequence[Rule], place: Place) -> Choice:
    """Return what the first rule that matches a node gives it."""
    for rule in found:
        if (rule.match is not None or rule.machine_config_labels is None) and matched(rule.match, place):
            return Choice(rule.profile, None, rule.operand, rule.deferred)
        if rule.machine_config_labels and any(
            selects(pool, rule.machine_config_labels) for pool in place.pools
        ):
            return Choice(rule.profile, rule.machine_config_labels, rule.operand, rule.deferred)
    return Choice()


def matched(match: t.Sequence[Object] | None, place: Place) -> bool:
    """Return whether an item matches together with one of the items inside it; no item is a match."""
    return not match or any(_label(one, place) and matched(one.get("match"), place) for one in match)


def selects(pool: Object, labels: Labels) -> bool:
    """Return whether a MachineConfigPool selects a MachineConfig with these labels; no selector does not."""
    selector = pool["spec"].get("machineConfigSelector") or {}
    return bool(selector) and matches(selector, labels)


def uses_pods(match: t.Sequence[Object] | None) -> bool:
    """Return whether an item looks at the labels of pods, which is deprecated."""
    return any(one.get("type") == "pod" or uses_pods(one.get("match")) for one in match or [])


def defer_mode(obj: Object) -> str | None:
    """Return `always` or `update`; None when changes apply at once."""
    value = (obj["metadata"].get("annotations") or {}).get(DEFERRED)
    return value if value in DEFER_MODES else None


def definitions(tuneds: t.Sequence[Object]) -> list[Object]:
    """Return the profiles of all Tuneds, by name; the last Tuned by name gives the text of a duplicate."""
    found = {
        one["name"]: {"name": one["name"], "data": one["data"]}
        for tuned in sorted(tuneds, key=lambda one: str(one["metadata"]["name"]))
        for one in tuned["spec"].get("profile") or []
    }
    return [found[name] for name in sorted(found)]


def duplicates(tuneds: t.Sequence[Object]) -> dict[str, str]:
    """Return, for each Tuned with a profile that another Tuned defines otherwise, the name of the profile."""
    texts: dict[str, dict[str, str]] = {}
    for tuned in tuneds:
        for one in tuned["spec"].get("profile") or []:
            texts.setdefault(one["name"], {})[tuned["metadata"]["name"]] = one["data"]
    return {
        tuned: profile
        for profile, by_tuned in texts.items()
        if len(set(by_tuned.values())) > 1
        for tuned in by_tuned
    }


def _label(item: Object, place: Place) -> bool:
    wanted = item.get("value")
    return any(
        item["label"] in labels and wanted in (None, labels[item["label"]])
        for labels in (place.pods if item.get("type") == "pod" else [place.labels])
    )
