# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""Labels and taints on their way from a machine set's template over a Machine to its Node.

A template's change reaches no existing Machine, and what a Machine loses stays on its Node. Each Machine
carries a note of what it was given, so that what the pool has given up since is told from what somebody
else put there; the note is brought up to date last, so an interrupted run goes on where it was.
"""

from __future__ import annotations

import json
import typing as t
from dataclasses import dataclass, field

from .._core.objects import KubeObject

Mark = tuple[str, str, str]
NOTE: t.Final = "accelerators.openshift/handed-down"


@dataclass(frozen=True)
class Given:
    """What nodes are given."""

    labels: dict[str, str] = field(default_factory=dict)
    taints: list[KubeObject] = field(default_factory=list)

    def __bool__(self) -> bool:
        return bool(self.labels or self.taints)

    @property
    def note(self) -> str:
        """As an annotation's text, the same for the same content."""
        taints = [
            {key: taint[key] for key in ("key", "value", "effect") if taint.get(key)}
            for taint in sorted(self.taints, key=mark)
        ]
        return json.dumps({"labels": self.labels, "taints": taints}, sort_keys=True, separators=(",", ":"))

    def without(self, other: Given) -> Given:
        """What this has and the other has not: labels by key, taints by key, value and effect."""
        marks = set(map(mark, other.taints))
        labels = {key: value for key, value in self.labels.items() if key not in other.labels}
        return Given(labels, [taint for taint in self.taints if mark(taint) not in marks])

    def joined(self, other: Given) -> Given:
        return Given({**other.labels, **self.labels}, [*self.taints, *other.without(self).taints])


def of_template(machine_set: t.Mapping[str, t.Any]) -> Given:
    spec = machine_set["spec"]["template"]["spec"]
    return Given(dict((spec.get("metadata") or {}).get("labels") or {}), list(spec.get("taints") or []))


def noted(machine: t.Mapping[str, t.Any]) -> Given:
    """What the Machine was given by us; nothing where the note cannot be read."""
    try:
        found = json.loads((machine["metadata"].get("annotations") or {}).get(NOTE, "{}"))
        return Given(dict(found.get("labels") or {}), list(found.get("taints") or []))
    except (ValueError, AttributeError):
        return Given()


def given_up(machine: t.Mapping[str, t.Any], wanted: Given) -> Given:
    """What the Machine and its Node may still have of us, although the pool has it no more."""
    return noted(machine).without(wanted)


def machine_patch(machine: t.Mapping[str, t.Any], wanted: Given) -> KubeObject:
    """Return the merge patch that makes a Machine's labels and taints those of the template.

    Empty without changes.
    """
    spec, old = machine["spec"], given_up(machine, wanted)
    have = (spec.get("metadata") or {}).get("labels") or {}
    labels: KubeObject = {key: value for key, value in wanted.labels.items() if have.get(key) != value}
    labels |= {key: None for key, value in old.labels.items() if have.get(key) == value}
    patch: KubeObject = {"metadata": {"labels": labels}} if labels else {}
    taints = spec.get("taints") or []
    if (merged := _merged(taints, wanted, old)) is not None:
        patch["taints"] = merged
    # What was given up is remembered until the Node has lost it as well.
    text = wanted.joined(old).note
    note = (
        {}
        if (machine["metadata"].get("annotations") or {}).get(NOTE) == text
        else {"metadata": {"annotations": {NOTE: text}}}
    )
    return {**note, **({"spec": patch} if patch else {})}


def node_patch(node: t.Mapping[str, t.Any], wanted: Given, old: Given) -> KubeObject:
    """The merge patch that takes from a Node what the pool gave up and corrects taints; empty when it is so.

    It holds the Node's version where it writes taints: others write that list too.
    """
    have = node["metadata"].get("labels") or {}
    labels = {key: None for key, value in old.labels.items() if have.get(key) == value}
    patch: KubeObject = {"metadata": {"labels": labels}} if labels else {}
    if (merged := _merged((node.get("spec") or {}).get("taints") or [], wanted, old)) is not None:
        patch.setdefault("metadata", {})["resourceVersion"] = node["metadata"].get("resourceVersion")
        patch["spec"] = {"taints": merged}
    return patch


def settled(wanted: Given) -> KubeObject:
    """The patch of a Machine's note once its Node has lost what was given up."""
    return {"metadata": {"annotations": {NOTE: wanted.note}}}


def mark(taint: t.Mapping[str, t.Any]) -> Mark:
    return str(taint["key"]), str(taint.get("value") or ""), str(taint["effect"])


def _merged(taints: t.Sequence[KubeObject], wanted: Given, old: Given) -> list[KubeObject] | None:
    """Return the list with the wanted taints, without the old ones, and with all others.

    None without changes.
    """
    gone, right = set(map(mark, old.taints)), set(map(mark, wanted.taints))
    ours = {(taint["key"], taint["effect"]) for taint in wanted.taints}
    kept = [
        taint
        for taint in taints
        if mark(taint) in right or (mark(taint) not in gone and (taint["key"], taint["effect"]) not in ours)
    ]
    there = set(map(mark, kept))
    merged = [*kept, *(taint for taint in wanted.taints if mark(taint) not in there)]
    return None if sorted(map(mark, merged)) == sorted(map(mark, taints)) else merged
