# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""Nodes outside the pools, which can keep the custom resource from being ready."""

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
    """Return nodes outside the pools with their operands that are not Ready; empty without pools.

    daemonsets: of the stack; the default is those of the GPU operator.
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
    """Return the nodes as part of a sentence, each with the first operand that is not Ready."""
    return "; ".join(
        f"{node} ({next(iter(notes))} {next(iter(notes.values()))})" for node, notes in sorted(late.items())
    )


def as_result(late: Late) -> list[dict[str, t.Any]]:
    """Return the nodes for the module's result."""
    return [
        {"name": node, "operands": [{"name": one, "note": note} for one, note in notes.items()]}
        for node, notes in sorted(late.items())
    ]


def ready_but_outside(late: Late, title: str) -> Finding:
    """Return the finding that only nodes outside the pools keep the custom resource from being ready."""
    what = f"{title} is notReady for nodes outside the pools alone: {as_phrases(late)}."
    return on_object(READY, "OthersNotReady", what)


def with_status(findings: t.Sequence[Finding], status: Finding, late: Late, title: str) -> list[Finding]:
    """Return the findings, with the status of the custom resource last.

    If only nodes outside the pools keep it from being ready, its status counts as ready. If nothing explains
    the status, it no longer counts as a consequence.
    """
    said = [one for one in [*findings, status] if one.stage == CRD and one.waits]
    if not said or not all(one.is_ready or one in said for one in findings):
        return [*findings, status]
    if not late:
        return [replace(one, waits=False) if one in said else one for one in [*findings, status]]
    return [*(one for one in findings if one not in said), ready_but_outside(late, title)]
