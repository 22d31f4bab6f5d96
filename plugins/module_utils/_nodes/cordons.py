# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Cordons by this collection: what each is for, and which run made it. Annotations of the node say so."""

from __future__ import annotations

import typing as t

from .._core.objects import KubeObject
from .node import Node, is_cordoned

# The value says what for. A later run removes cordons that an earlier one left.
MARK: t.Final = "accelerators.openshift/cordoned"
# The id of the run that cordoned the node.
RUN: t.Final = "accelerators.openshift/cordoned-by-run"
FOR_POOL, FOR_ADMIN, FOR_DRIVER, FOR_REPAIR, FOR_MIG = "pool", "admin", "driver", "repair", "mig"
# The annotations of a merge patch that uncordons a node.
REMOVED: t.Final[t.Mapping[str, None]] = {MARK: None, RUN: None}


def purpose(node: Node) -> str:
    """Return what this collection cordoned the node for, or an empty text if it did not."""
    return str((node["metadata"].get("annotations") or {}).get(MARK, ""))


def run(node: Node) -> str:
    """Return the id of the run that cordoned the node, or an empty text if none is recorded."""
    return str((node["metadata"].get("annotations") or {}).get(RUN, ""))


def is_for(node: Node, what: str) -> bool:
    """Return True if the node is cordoned, and this collection did it for that purpose."""
    return is_cordoned(node) and purpose(node) == what


def patch(what: str, run_id: str) -> KubeObject:
    """Return the merge patch that cordons a node for that purpose."""
    return {"metadata": {"annotations": {MARK: what, RUN: run_id}}, "spec": {"unschedulable": True}}
