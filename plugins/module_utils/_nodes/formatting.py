# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""What results and messages say of a node."""

from __future__ import annotations

import typing as t

from .._catalogue.well_known import INSTANCE_TYPE, ZONE
from .._core import conditions
from .labels import labels
from .node import Node, is_ready, name


def zone(node: Node) -> str:
    return labels(node).get(ZONE, "")


def instance_type(node: Node) -> str:
    return labels(node).get(INSTANCE_TYPE, "")


def unpause(pool: str, when: str = "") -> str:
    """Return the remedy that unpauses a MachineConfigPool, and what that ends. when: words about the time."""
    command = f'oc patch machineconfigpool {pool} --type merge -p \'{{"spec":{{"paused":false}}}}\''
    return f"Run `{command}`{when}: its nodes are then drained and reboot one by one, and their pods end."


def why_not_ready(node: Node) -> str:
    """Return `not Ready` with the text of the Ready condition."""
    ready = conditions.find(node, "Ready")
    text = ready.get("message") or ready.get("reason") or "no Ready condition yet"
    return f"not Ready: {text}"


def summarize(node: Node, expected: t.Mapping[str, int] | None = None) -> dict[str, t.Any]:
    return {
        "name": name(node),
        "zone": zone(node),
        "instance_type": instance_type(node),
        "ready": is_ready(node),
        "expected": dict(expected or {}),
    }
