# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which NVIDIADriver owns which node, as the GPU operator (26.7) says it by a label; the real one also reads nodeAffinity."""

from __future__ import annotations

import typing as t

from openshift_sandbox.stand_ins.gpu_labels import PRESENT
from openshift_sandbox.stand_ins.gpu_operands import Object

OWNER: t.Final = "nvidia.com/gpu-operator.driver.owner"
UPGRADE: t.Final = "nvidia.com/gpu-driver-upgrade-state"
UNFINISHED: t.Final = "NVIDIADriver upgrade has not completed; one or more NVIDIADriver-owned Nodes are marked pending, in-progress, or failed"


def labels(node: Object) -> dict[str, str]:
    return node["metadata"].get("labels") or {}


def candidates(driver: Object, nodes: t.Iterable[Object]) -> list[Object]:
    """GPU nodes that the selector finds; an empty one finds them all."""
    wanted = (driver["spec"].get("nodeSelector") or {}).items()
    return [node for node in nodes if labels(node).get(PRESENT) == "true" and wanted <= labels(node).items()]


def owners(drivers: t.Sequence[Object], nodes: t.Sequence[Object]) -> dict[str, list[str]]:
    """Node -> the drivers that would have it; the default one gets what no other wants."""
    found: dict[str, list[str]] = {}
    for driver in drivers:
        if not driver["spec"].get("default"):
            for node in candidates(driver, nodes):
                found.setdefault(node["metadata"]["name"], []).append(driver["metadata"]["name"])
    for driver in (one for one in drivers if one["spec"].get("default")):
        for node in candidates(driver, nodes):
            found.setdefault(node["metadata"]["name"], [driver["metadata"]["name"]])
    return found


def conflicting(drivers: t.Sequence[Object], nodes: t.Sequence[Object]) -> dict[str, list[str]]:
    """Driver -> nodes that another one would have, too."""
    found: dict[str, list[str]] = {}
    for node, names in owners(drivers, nodes).items():
        for name in names if len(names) > 1 else []:
            found.setdefault(name, []).append(node)
    return found


def unfinished(nodes: t.Iterable[Object]) -> bool:
    """Whether a node that an NVIDIADriver owns has not ended its upgrade."""
    return any(labels(node).get(OWNER) and labels(node).get(UPGRADE) not in (None, "upgrade-done") for node in nodes)
