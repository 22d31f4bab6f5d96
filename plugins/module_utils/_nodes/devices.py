# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""What a live node says about its devices: resources, driver, sharing, and the fingerprint of all that."""

from __future__ import annotations

import typing as t

from ansible_collections.accelerators.openshift.plugins.module_utils._catalogue.well_known import (
    DRIVER_VERSION,
    GPU,
    GPU_COUNT,
    GPU_REPLICAS,
    VENDORS,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._nodes.labels import labels

_DRIVER_PARTS: t.Final = (
    "nvidia.com/cuda.driver.major",
    "nvidia.com/cuda.driver.minor",
    "nvidia.com/cuda.driver.rev",
)


def count(quantity: t.Any) -> int:
    """Extended resources are whole numbers; the API hands them over as text."""
    try:
        return int(str(quantity))
    except ValueError:
        return 0


def resources(node: dict[str, t.Any]) -> dict[str, int]:
    """Device resources that the node offers to pods now."""
    allocatable = node.get("status", {}).get("allocatable") or {}
    found = {name: count(value) for name, value in allocatable.items() if name.startswith(VENDORS)}
    return {name: number for name, number in sorted(found.items()) if number > 0}


def offered(node: dict[str, t.Any], resource: str) -> int:
    return count((node.get("status", {}).get("allocatable") or {}).get(resource, 0))


def driver_version(node: dict[str, t.Any]) -> str:
    """As GPU feature discovery labels it; the split form is the one of releases before v0.16."""
    marks = labels(node)
    parts = [marks[key] for key in _DRIVER_PARTS if marks.get(key)]
    return marks.get(DRIVER_VERSION) or ".".join(parts)


def product(node: dict[str, t.Any]) -> str:
    return labels(node).get("nvidia.com/gpu.product", "")


def is_shared(node: dict[str, t.Any]) -> bool:
    """Whether several pods may be handed the same device on this node."""
    marks = labels(node)
    return (
        marks.get("nvidia.com/gpu.sharing-strategy", "none") not in ("", "none")
        or count(marks.get(GPU_REPLICAS, 1)) > 1
        or any(name.endswith(".shared") for name in resources(node))
    )


def expected(node: dict[str, t.Any], wanted: t.Mapping[str, t.Any]) -> dict[str, int]:
    """What the pool promises; for a pool that promises nothing, what GPU feature discovery counted."""
    if wanted:
        return {name: count(number) for name, number in wanted.items()}
    marks = labels(node)
    gpus = count(marks.get(GPU_COUNT, 0)) * max(1, count(marks.get(GPU_REPLICAS, 1)))
    cut = (
        marks.get("nvidia.com/mig.capable") == "true"
        and marks.get("nvidia.com/mig.strategy", "none") != "none"
    )
    whole = gpus and not cut and not is_shared(node)
    return {GPU: gpus} if whole else resources(node)


def fingerprint(node: dict[str, t.Any]) -> str:
    """Changes when the node was rebooted, its driver replaced or its devices cut differently."""
    boot = node.get("status", {}).get("nodeInfo", {}).get("bootID", "")
    geometry = ",".join(f"{name}={number}" for name, number in resources(node).items())
    return f"boot={boot} driver={driver_version(node) or 'unknown'} geometry={geometry or 'none'}"
