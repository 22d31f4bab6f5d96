# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Labels of nodes, and selectors that find nodes by them."""

from __future__ import annotations

import typing as t

from .._catalogue.well_known import FEATURE, NVIDIA_PCI

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


def common_selector(selectors: t.Sequence[t.Mapping[str, t.Any]]) -> str | None:
    """Return a label selector that finds at least all nodes of these selectors; None means every node."""
    given = [{key: value for key, value in selector.items() if value is not None} for selector in selectors]
    shared = set.intersection(*(set(one) for one in given)) if given else set()
    return (
        ",".join(
            f"{key} in ({','.join(sorted({text(one[key]) or '' for one in given}))})"
            for key in sorted(shared)
        )
        or None
    )
