# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Nodes that another program maintains: its drain and its uncordon would cross ours.

NVIDIA's maintenance operator has a NodeMaintenance for each node and requestor. The network operator marks a
node while it replaces the NIC driver.
"""

from __future__ import annotations

import typing as t

from .._catalogue.well_known import NIC_DRIVER_UPGRADE
from .._core import conditions
from .._core.objects import KubeObject, at, name
from .labels import labels

# States of the NIC driver's upgrade in which the operator does nothing with the node.
_IDLE: t.Final = ("", "upgrade-required", "upgrade-done", "upgrade-failed")


def claims(
    nodes: t.Container[str], maintenances: t.Iterable[KubeObject], marked: t.Iterable[KubeObject]
) -> list[str]:
    """Return who maintains these nodes, as clauses. marked: nodes with a label of a NIC driver's upgrade."""
    found = []
    for one in maintenances:
        if (node := str(at(one, "spec.nodeName") or "")) in nodes:
            state = conditions.find(one, "Ready").get("reason") or "Pending"
            place = f"{one['metadata'].get('namespace')}/{name(one)}"
            since = one["metadata"].get("creationTimestamp") or "an unknown time"
            who = at(one, "spec.requestorID") or "a requestor without a name"
            found.append(f"{node}: NodeMaintenance {place} of {who} ({state}, since {since})")
    for one in marked:
        state = labels(one).get(NIC_DRIVER_UPGRADE, "")
        if name(one) in nodes and state not in _IDLE:
            found.append(f"{name(one)}: the network operator replaces the NIC driver ({state})")
    return sorted(found)
