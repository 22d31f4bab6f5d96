# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Nodes of gated pools: closed by a startup taint until they pass; a condition says why one does not."""

from __future__ import annotations

import typing as t

from .._core import conditions
from .._core.codes.code import Code
from .._core.errors import text_of
from .._core.objects import KubeObject, name
from .taints import STARTUP, taints

# Condition of a node: True if it passed, False with the reason if not.
CONDITION: t.Final = "accelerators.openshift/GPUValidated"
LINK: t.Final = "machine.openshift.io/machine"


def is_closed(one: KubeObject) -> bool:
    """Return whether the Node or the Machine has the startup taint."""
    return any(taint.get("key") == STARTUP for taint in taints(one))


def machine_of(node: KubeObject) -> tuple[str, str]:
    """Return namespace and name of the node's Machine; empty texts without one."""
    place, _slash, machine = str((node["metadata"].get("annotations") or {}).get(LINK, "")).rpartition("/")
    return place, machine


def failure(node: KubeObject) -> Code | None:
    """Return what keeps the node closed, since when, and what to do; None if nothing is known to fail."""
    found = conditions.find(node, CONDITION)
    if not is_closed(node) or found.get("status") != "False":
        return None
    return text_of(
        "NODE-GATED",
        node=name(node),
        since=found.get("lastTransitionTime") or "an unknown time",
        why=found.get("message") or found.get("reason") or "no reason given",
    )


def open_machine(machine: KubeObject) -> KubeObject | None:
    """Return the merge patch that takes the startup taint from the Machine, None if it has none."""
    if not is_closed(machine):
        return None
    kept = [taint for taint in taints(machine) if taint.get("key") != STARTUP]
    version = machine["metadata"].get("resourceVersion")
    return {"metadata": {"resourceVersion": version}, "spec": {"taints": kept}}


def passed(node: KubeObject, now: str) -> KubeObject | None:
    """Return the merge patch of the status that says the node passed, None if nothing says that it failed."""
    if conditions.find(node, CONDITION).get("status") in (None, "True"):
        return None
    made = {
        "type": CONDITION,
        "status": "True",
        "reason": "Passed",
        "message": "a run validated the node",
        "lastHeartbeatTime": now,
        "lastTransitionTime": now,
    }
    found = [made if one.get("type") == CONDITION else one for one in node["status"]["conditions"]]
    version = node["metadata"].get("resourceVersion")
    return {"metadata": {"resourceVersion": version}, "status": {"conditions": found}}
