# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which NVIDIADriver owns which node, as the GPU operator writes it into a label.

Compared with the source of v26.7.0 (2026-11); nothing is missing.
"""

from __future__ import annotations

import typing as t

from openshift_sandbox.stand_ins.gpu_operator.labels import PRESENT
from openshift_sandbox.stand_ins.gpu_operator.operands import Object

OWNER: t.Final = "nvidia.com/gpu-operator.driver.owner"
UPGRADE: t.Final = "nvidia.com/gpu-driver-upgrade-state"
SKIP: t.Final = "nvidia.com/gpu-driver-upgrade.skip"
UNFINISHED: t.Final = (
    "NVIDIADriver upgrade has not completed; one or more NVIDIADriver-owned Nodes are marked pending, "
    "in-progress, or failed"
)


def labels(node: Object) -> dict[str, str]:
    return node["metadata"].get("labels") or {}


def selected(drivers: t.Sequence[Object], node: Object) -> list[str]:
    """Return the drivers whose selector matches a node; an empty selector matches all nodes."""
    marks, plain = labels(node).items(), [one for one in drivers if not one["spec"].get("default")]
    return sorted(
        one["metadata"]["name"] for one in plain if (one["spec"].get("nodeSelector") or {}).items() <= marks
    )


def owners(drivers: t.Sequence[Object], nodes: t.Sequence[Object]) -> dict[str, str | None]:
    """Return the driver of each GPU node; the default driver gets the nodes that no other one selects."""
    rest = next((one["metadata"]["name"] for one in drivers if one["spec"].get("default")), None)
    return {
        node["metadata"]["name"]: next(iter(selected(drivers, node)), rest)
        for node in nodes
        if labels(node).get(PRESENT) == "true"
    }


def conflict(drivers: t.Sequence[Object], nodes: t.Sequence[Object]) -> tuple[str, str] | None:
    """Return reason and message for every driver, whichever is in conflict; nodes without a GPU count too."""
    defaults = sorted(one["metadata"]["name"] for one in drivers if one["spec"].get("default"))
    if len(defaults) > 1:
        return "ReconcileFailed", f"multiple default NVIDIADrivers found: {_listed(defaults)}"
    for node in nodes:
        if len(names := selected(drivers, node)) > 1:
            return (
                "ConflictingNodeSelector",
                f"multiple NVIDIADrivers match the same node {node['metadata']['name']}: {_listed(names)}",
            )
    return None


def _listed(names: t.Iterable[str]) -> str:
    return f"[{' '.join(names)}]"


def unfinished(nodes: t.Iterable[Object]) -> bool:
    """Return whether a node of an NVIDIADriver has not finished its upgrade."""
    left = [node for node in nodes if labels(node).get(OWNER) and labels(node).get(SKIP) != "true"]
    return any(labels(node).get(UPGRADE) not in (None, "upgrade-done") for node in left)
