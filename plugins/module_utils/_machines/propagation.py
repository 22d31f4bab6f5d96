# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Labels and taints on their way from a machine set's template to its Machines and their Nodes.

A template's change reaches no existing Machine, and a label that a Machine loses stays on its Node. So a note
on each Machine names what this collection gave it, apart from what others set. The note is updated last, so
that the next run resumes an interrupted one.
"""

from __future__ import annotations

import json
import typing as t
from dataclasses import dataclass, field

from .._catalogue.well_known import MIG_CONFIG, OPERANDS, VGPU_CONFIG, WORKLOAD
from .._core.objects import KubeObject
from .._nodes.taints import STARTUP
from .._sharing import mig_name

Mark = tuple[str, str, str]
NOTE: t.Final = "accelerators.openshift/handed-down"


@dataclass(frozen=True)
class Given:
    """Labels and taints that nodes get."""

    labels: dict[str, str] = field(default_factory=dict)
    taints: list[KubeObject] = field(default_factory=list)

    def __bool__(self) -> bool:
        return bool(self.labels or self.taints)

    @property
    def note(self) -> str:
        """Return the text of the annotation; equal content gives equal text."""
        taints = [
            {key: taint[key] for key in ("key", "value", "effect") if taint.get(key)}
            for taint in sorted(self.taints, key=mark)
        ]
        return json.dumps({"labels": self.labels, "taints": taints}, sort_keys=True, separators=(",", ":"))

    def without(self, other: Given) -> Given:
        """Return what only this one has: labels compared by key, taints by key, value and effect."""
        marks = set(map(mark, other.taints))
        labels = {key: value for key, value in self.labels.items() if key not in other.labels}
        return Given(labels, [taint for taint in self.taints if mark(taint) not in marks])

    def joined(self, other: Given) -> Given:
        """Return the union; `self` wins where both set a label."""
        return Given({**other.labels, **self.labels}, [*self.taints, *other.without(self).taints])


def of_template(machine_set: t.Mapping[str, t.Any]) -> Given:
    """Return what every node of the set has.

    A pool's MIG configuration and its workload are left out: a new node gets them from the template, and
    gpu_repartition and special_resource give them to a node that is there, since that ends pods.
    """
    spec = machine_set["spec"]["template"]["spec"]
    marks = dict((spec.get("metadata") or {}).get("labels") or {})
    if mig_name.pool_prefix(str(marks.get(MIG_CONFIG, ""))):
        del marks[MIG_CONFIG]
    for key in (WORKLOAD, VGPU_CONFIG, OPERANDS):
        marks.pop(key, None)
    return Given(marks, list(spec.get("taints") or []))


def noted(machine: t.Mapping[str, t.Any]) -> Given:
    """Return the labels and taints that the Machine's note names; none if the note cannot be parsed."""
    try:
        found = json.loads((machine["metadata"].get("annotations") or {}).get(NOTE, "{}"))
        return Given(dict(found.get("labels") or {}), list(found.get("taints") or []))
    except (ValueError, AttributeError):
        return Given()


def given_up(machine: t.Mapping[str, t.Any], wanted: Given) -> Given:
    """Return the noted labels and taints that the pool no longer wants."""
    return noted(machine).without(wanted)


def machine_patch(machine: t.Mapping[str, t.Any], wanted: Given) -> KubeObject:
    """Return the merge patch that gives a Machine the template's labels and taints; empty if it has them."""
    spec, old = machine["spec"], given_up(machine, wanted)
    have = (spec.get("metadata") or {}).get("labels") or {}
    labels: KubeObject = {key: value for key, value in wanted.labels.items() if have.get(key) != value}
    labels |= {key: None for key, value in old.labels.items() if have.get(key) == value}
    patch: KubeObject = {"metadata": {"labels": labels}} if labels else {}
    taints = spec.get("taints") or []
    if (merged := _merged(taints, wanted, old)) is not None:
        patch["taints"] = merged
    # The note keeps what the pool gave up until the Node has lost it too.
    text = wanted.joined(old).note
    note = (
        {}
        if (machine["metadata"].get("annotations") or {}).get(NOTE) == text
        else {"metadata": {"annotations": {NOTE: text}}}
    )
    return {**note, **({"spec": patch} if patch else {})}


def node_patch(node: t.Mapping[str, t.Any], wanted: Given, old: Given) -> KubeObject:
    """Return the merge patch that removes given-up labels from a Node and corrects its taints, or {}.

    The patch holds the Node's resourceVersion if it writes taints, because others write that list too.
    """
    have = node["metadata"].get("labels") or {}
    labels = {key: None for key, value in old.labels.items() if have.get(key) == value}
    patch: KubeObject = {"metadata": {"labels": labels}} if labels else {}
    if (merged := _merged((node.get("spec") or {}).get("taints") or [], wanted, old)) is not None:
        patch.setdefault("metadata", {})["resourceVersion"] = node["metadata"].get("resourceVersion")
        patch["spec"] = {"taints": merged}
    return patch


def note_patch(wanted: Given) -> KubeObject:
    """Return the patch of a Machine's note after its Node has lost what the pool gave up."""
    return {"metadata": {"annotations": {NOTE: wanted.note}}}


def mark(taint: t.Mapping[str, t.Any]) -> Mark:
    return str(taint["key"]), str(taint.get("value") or ""), str(taint["effect"])


def _merged(taints: t.Sequence[KubeObject], wanted: Given, old: Given) -> list[KubeObject] | None:
    """Return the taints with the wanted ones added and the old ones removed; None if nothing changes.

    The startup taint comes with the template alone: whoever has lost it has passed.
    """
    gone, right = set(map(mark, old.taints)), set(map(mark, wanted.taints))
    ours = {(taint["key"], taint["effect"]) for taint in wanted.taints}
    kept = [
        taint
        for taint in taints
        if mark(taint) in right or (mark(taint) not in gone and (taint["key"], taint["effect"]) not in ours)
    ]
    there = set(map(mark, kept))
    new = [taint for taint in wanted.taints if mark(taint) not in there and taint["key"] != STARTUP]
    merged = [*kept, *new]
    return None if sorted(map(mark, merged)) == sorted(map(mark, taints)) else merged
