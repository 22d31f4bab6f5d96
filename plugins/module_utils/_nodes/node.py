# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Nodes: name, readiness, cordon and update."""

from __future__ import annotations

import typing as t

from .._core import conditions

Node = t.Mapping[str, t.Any]

# Annotations by the machine-config daemon.
_GROUP: t.Final = "machineconfiguration.openshift.io"
CURRENT: t.Final = f"{_GROUP}/currentConfig"
DESIRED: t.Final = f"{_GROUP}/desiredConfig"
STATE: t.Final = f"{_GROUP}/state"
REASON: t.Final = f"{_GROUP}/reason"
_GIVEN_UP: t.Final = ("Degraded", "Unreconcilable")


def name(node: Node) -> str:
    return str(node["metadata"]["name"])


def short(full_name: str) -> str:
    """Return a node's name without its domain, for progress lines."""
    host, dot, _domain = full_name.partition(".")
    return f"{host}…" if dot and not host.isdigit() else full_name


def is_ready(node: Node) -> bool:
    return conditions.is_true(node, "Ready")


def is_cordoned(node: Node) -> bool:
    """Return True if the scheduler puts no new pods on the node."""
    return bool((node.get("spec") or {}).get("unschedulable"))


class Update(t.NamedTuple):
    """Update of one node by the machine-config operator, which drains and reboots it.

    state: its daemon's (Working, Done, Degraded), or empty. reason: why Degraded.
    """

    state: str
    under_way: bool
    reason: str

    @property
    def is_stuck(self) -> bool:
        return self.state in _GIVEN_UP


def update(node: Node) -> Update:
    notes = node["metadata"].get("annotations") or {}
    state = str(notes.get(STATE) or "")
    differs = notes.get(CURRENT) != notes.get(DESIRED)
    return Update(state, bool(state) and (differs or state != "Done"), str(notes.get(REASON) or ""))
