# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""Nodes outside the pools: the custom resource is notReady for them too."""

from __future__ import annotations

import typing as t
from dataclasses import replace

from .._core.objects import KubeObject, Snapshot, name
from .._core.readiness import READY
from .._nodes.pool_nodes import nodes_of
from . import operands
from .finding import Finding, on_object
from .params import StackPool
from .stages import CRD

# Node -> component that is not Ready there -> what is wrong.
Late = t.Mapping[str, t.Mapping[str, str]]


def late_outside(
    snapshot: Snapshot, pools: t.Sequence[StackPool], daemonsets: t.Sequence[KubeObject] | None = None
) -> dict[str, dict[str, str]]:
    """Return nodes outside the pools with the operands that are not Ready there; nothing without pools.

    daemonsets: those of the stack, where they are not the GPU operator's.
    """
    if not pools:
        return {}
    ours = {name(node) for pool in pools for node in nodes_of(snapshot["nodes"], pool)}
    revisions = operands.current_revisions(snapshot["revisions"])
    if daemonsets is None:
        daemonsets = [one for one in snapshot["daemonsets"] if operands.is_operand(one)]
    found: dict[str, dict[str, str]] = {}
    for node, pods in operands.by_node(snapshot["pods"]).items():
        if node in ours or not node:
            continue
        here = [operands.of_daemonset(one, pods, revisions) for one in daemonsets]
        if notes := {one.component: one.note for one in here if one.pod and not one.ready}:
            found[node] = notes
    return found


def as_phrases(late: Late) -> str:
    """Return the nodes for a sentence, each with the first operand that is not Ready."""
    return "; ".join(
        f"{node} ({next(iter(notes))} {next(iter(notes.values()))})" for node, notes in sorted(late.items())
    )


def as_result(late: Late) -> list[dict[str, t.Any]]:
    """Return the nodes as a result has them: nothing waits for them."""
    return [
        {"name": node, "operands": [{"name": one, "note": note} for one, note in notes.items()]}
        for node, notes in sorted(late.items())
    ]


def ready_but_outside(late: Late, title: str) -> Finding:
    """Return the finding that only nodes outside the pools keep the custom resource from being ready."""
    what = f"{title} is notReady for nodes outside the pools alone: {as_phrases(late)}."
    return on_object(READY, "OthersNotReady", what)


def with_status(findings: t.Sequence[Finding], status: Finding, late: Late, title: str) -> list[Finding]:
    """Return the findings with what the custom resource says of itself at the end.

    A custom resource that is not ready only for nodes outside the pools holds nothing up. Where nothing else
    explains that it is not ready, it is the trouble itself.
    """
    said = [one for one in [*findings, status] if one.stage == CRD and one.waits]
    if not said or not all(one.is_ready or one in said for one in findings):
        return [*findings, status]
    if not late:
        return [replace(one, waits=False) if one in said else one for one in [*findings, status]]
    return [*(one for one in findings if one not in said), ready_but_outside(late, title)]
