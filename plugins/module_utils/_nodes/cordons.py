# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Cordons by this collection: what each is for, and which run made it. Annotations of the node say so."""

from __future__ import annotations

import typing as t

from .._core import run as runs
from .._core.objects import KubeObject
from .node import Node, is_cordoned, name
from .taints import UNSCHEDULABLE, taints

# The value says what for. A later run removes cordons that an earlier one left.
MARK: t.Final = "accelerators.openshift/cordoned"
# The id of the run that cordoned the node.
RUN: t.Final = "accelerators.openshift/cordoned-by-run"
FOR_POOL, FOR_ADMIN, FOR_DRIVER, FOR_REPAIR, FOR_MIG = "pool", "admin", "driver", "repair", "mig"
# The playbook that goes on where a run was killed, by what it cordoned the node for.
_GOES_ON: t.Final = {
    FOR_POOL: "enable_gpus -e @FILE",
    FOR_DRIVER: "upgrade_driver -e @FILE -e gpu_upgrade_action=resume",
    FOR_REPAIR: "repair_node -e gpu_node={node}",
    FOR_MIG: "repartition -e @FILE",
}
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


def since(node: Node) -> str:
    """Return when the node was cordoned, as the API writes times, or an empty text if no taint says it."""
    return next(
        (str(taint.get("timeAdded") or "") for taint in taints(node) if taint.get("key") == UNSCHEDULABLE), ""
    )


def goes_on(node: Node) -> str:
    """Return the command that goes on where the run that cordoned the node was killed, or an empty text."""
    playbook = _GOES_ON.get(purpose(node), "").format(node=name(node)) if run(node) else ""
    return f"ansible-playbook accelerators.openshift.{playbook}" if playbook else ""


def shown(node: Node) -> str:
    """Return `cordoned`; if a run of this collection did it, also since when, by which, and what goes on."""
    time = f" since {since(node)}" if since(node) else ""
    if not run(node):
        return f"cordoned{time}"
    text = f"cordoned{time} by the run of {runs.shown(run(node))}"
    return f"{text}; if that is over, `{goes_on(node)}` goes on" if goes_on(node) else text
