# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""Labels of nodes, and expectations about them."""

from __future__ import annotations

import typing as t

from .._catalogue.well_known import FEATURE, NVIDIA_PCI
from .taints import matches

# The longer forms belong to deviceLabelFields: [class, vendor]; the GPU operator accepts all three.
NVIDIA_PCI_FORMS: t.Final = (NVIDIA_PCI, f"{FEATURE}pci-0302_10de.present", f"{FEATURE}pci-0300_10de.present")


def labels(obj: t.Mapping[str, t.Any]) -> dict[str, str]:
    """Return the labels of a node, or of any other object; an empty dict if it has none."""
    return obj["metadata"].get("labels") or {}


def has_nvidia_pci(marks: t.Mapping[str, str]) -> bool:
    """Return True if the labels say that the node has an NVIDIA PCI device."""
    return any(marks.get(key) == "true" for key in NVIDIA_PCI_FORMS)


def text(value: t.Any) -> str | None:
    """Return a value from YAML (true, 7) as the text of a label; None stands for an absent label."""
    if value is None:
        return None
    return str(value).lower() if isinstance(value, bool) else str(value)


def selected(nodes: t.Iterable[dict[str, t.Any]], choice: t.Mapping[str, t.Any]) -> list[dict[str, t.Any]]:
    """Return the nodes that `nodes` (names) or else `node_selector` of the choice select, sorted by name.

    A label of the selector with the value None must be absent.
    """
    names = choice.get("nodes") or []
    chosen = choice.get("node_selector") or {}
    wanted = {key: text(value) or "" for key, value in chosen.items() if value is not None}
    without = [key for key, value in chosen.items() if value is None]
    found = [
        node
        for node in nodes
        if (node["metadata"]["name"] in names if names else _fits(labels(node), wanted, without))
    ]
    return sorted(found, key=lambda node: str(node["metadata"]["name"]))


def _fits(marks: t.Mapping[str, str], wanted: t.Mapping[str, str], without: t.Iterable[str]) -> bool:
    return matches(wanted, marks) and not any(key in marks for key in without)


def unmet(node: dict[str, t.Any], wanted: t.Mapping[str, t.Any]) -> list[str]:
    """Return a phrase for each label that is not as expected."""
    marks, phrases = labels(node), []
    for key in unmet_keys(node, wanted):
        want, have = text(wanted[key]), marks.get(key)
        if want is None:
            phrases.append(f"has {key}={have}, which must be absent")
        else:
            phrases.append(f"lacks {key}={want}" if have is None else f"has {key}={have}, expected {want}")
    return phrases


def unmet_keys(node: dict[str, t.Any], wanted: t.Mapping[str, t.Any]) -> list[str]:
    """Return the keys of the labels that are not as expected, sorted."""
    marks = labels(node)
    return [key for key, value in sorted(wanted.items()) if not _is_met(key, text(value), marks)]


def _is_met(key: str, want: str | None, marks: t.Mapping[str, str]) -> bool:
    return want == marks.get(key) or (key == NVIDIA_PCI and want == "true" and has_nvidia_pci(marks))


def common_selector(selectors: t.Sequence[t.Mapping[str, t.Any]]) -> str | None:
    """Return a label selector that finds at least all nodes of these selectors; None means every node."""
    given = [{key: value for key, value in one.items() if value is not None} for one in selectors]
    shared = set.intersection(*(set(one) for one in given)) if given else set()
    return (
        ",".join(
            f"{key} in ({','.join(sorted({text(one[key]) or '' for one in given}))})"
            for key in sorted(shared)
        )
        or None
    )
