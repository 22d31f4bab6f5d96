# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Families of feature labels, and the difference between the labels of two sets of nodes."""

from __future__ import annotations

import typing as t
from collections import Counter

from .._catalogue.well_known import FEATURE

Labels = t.Mapping[str, str]
# Beginning of a label's name, after NFD's prefix -> family. A longer beginning stands before a shorter one.
FAMILIES: t.Final = {
    "cpu-cpuid.": "cpuid",
    "cpu-": "cpu",
    "kernel-": "kernel",
    "pci-": "pci",
    "usb-": "usb",
    "storage-": "storage",
    "system-os_release.": "os_release",
    "system-": "system",
    "memory-": "memory",
    "network-": "network",
}
# Family of other labels with NFD's prefix: of rules, feature files, other publishers. Other prefixes are
# families.
CUSTOM: t.Final = "custom"
ABSENT: t.Final = "-"
# Labels that differ between any two nodes, or repeat another label under its old name.
_PERSONAL: t.Final = (
    "kubernetes.io/hostname",
    "topology.kubernetes.io/",
    "failure-domain.beta.kubernetes.io/",
    "beta.kubernetes.io/",
    "topology.ebs.csi.aws.com/",
)


def split(label: str) -> tuple[str, str]:
    """Return family and short name of a label; the family of a label without NFD's prefix is its domain."""
    if not label.startswith(FEATURE):
        domain, slash, name = label.rpartition("/")
        return (domain, name) if slash else ("", label)
    name = label.removeprefix(FEATURE)
    return next(
        ((family, name.removeprefix(start)) for start, family in FAMILIES.items() if name.startswith(start)),
        (CUSTOM, name),
    )


def families(labels: Labels) -> dict[str, dict[str, str]]:
    """Return the feature labels of one node: family -> short name -> value."""
    found: dict[str, dict[str, str]] = {}
    for label, value in sorted(labels.items()):
        if label.startswith(FEATURE):
            family, name = split(label)
            found.setdefault(family, {})[name] = value
    return found


def difference(sets: t.Mapping[str, t.Mapping[str, Labels]]) -> dict[str, t.Any]:
    """Compare two sets of nodes (name of the set -> node -> labels). Return sets, labels, equal and table.

    Each entry of `labels` is a label whose values are not the same in both sets, with its kind: `only` one
    set has
    it, it `differs` (one value per set), or it `varies` (the nodes of one set have several values).
    """
    first, second = sets
    keys = sorted(
        {
            label
            for nodes in sets.values()
            for marks in nodes.values()
            for label in marks
            if not label.startswith(_PERSONAL)
        },
        key=_order,
    )
    rows, equal = [], 0
    for label in keys:
        values = {name: Counter(marks.get(label) for marks in nodes.values()) for name, nodes in sets.items()}
        if set(values[first]) == set(values[second]):
            equal += 1
            continue
        family, short = split(label)
        shown = {
            name: {str(value): count for value, count in counted.items() if value is not None}
            for name, counted in values.items()
        }
        rows.append({"family": family, "name": short, "label": label, "kind": _kind(values), "values": shown})
    return {
        "sets": {name: sorted(nodes) for name, nodes in sets.items()},
        "labels": rows,
        "equal": equal,
        "table": table(sets, rows, equal),
    }


def _order(label: str) -> tuple[int, str, str]:
    """Return a label's sort key: PCI, then NFD's other families as listed above, then other domains."""
    family, name = split(label)
    known = ["pci", *(one for one in FAMILIES.values() if one != "pci"), CUSTOM]
    return (known.index(family) if family in known else len(known), family, name)


def _kind(values: t.Mapping[str, Counter[str | None]]) -> str:
    first, second = values
    if set(values[first]) == {None}:
        return f"only {second}"
    if set(values[second]) == {None}:
        return f"only {first}"
    return "differs" if all(len(counted) == 1 for counted in values.values()) else "varies"


def table(
    sets: t.Mapping[str, t.Mapping[str, Labels]], rows: t.Sequence[dict[str, t.Any]], equal: int
) -> list[str]:
    """Return the lines of a table with a column per set, and a dash where a label is missing."""
    sizes = {name: len(nodes) for name, nodes in sets.items()}
    heading = (
        "FAMILY",
        "LABEL",
        *(f"{name.upper()} ({count} {'node' if count == 1 else 'nodes'})" for name, count in sizes.items()),
    )
    lines = [
        heading,
        *(
            (
                row["family"] or ABSENT,
                row["name"],
                *(_cell(row["values"][name], sizes[name]) for name in sets),
            )
            for row in rows
        ),
    ]
    widths = [max(len(line[column]) for line in lines) for column in range(len(heading))]
    text = [
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in lines
    ]
    return [
        *text,
        f"{equal} more labels are the same on both sides."
        if equal != 1
        else "1 more label is the same on both sides.",
    ]


def _cell(values: t.Mapping[str, int], size: int) -> str:
    """Return the one value, or the first two values with their numbers of nodes."""
    if not values:
        return ABSENT
    if len(values) == 1 and sum(values.values()) == size:
        return next(iter(values)) or '""'
    parts = [
        f"{value or chr(34) * 2} ({count})"
        for value, count in sorted(values.items(), key=lambda one: (-one[1], one[0]))
    ]
    missing = size - sum(values.values())
    shown = [
        *parts[:2],
        *([f"{len(parts) - 2} more values"] if len(parts) > 2 else []),
        *([f"{ABSENT} ({missing})"] if missing else []),
    ]
    return ", ".join(shown)
