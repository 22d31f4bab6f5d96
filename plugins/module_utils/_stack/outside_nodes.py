# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""Nodes that are in none of the pools: theirs may be broken, and the ClusterPolicy says notReady for all."""

from __future__ import annotations

import typing as t
from dataclasses import replace

from ansible_collections.accelerators.openshift.plugins.module_utils._core.objects import Snapshot
from ansible_collections.accelerators.openshift.plugins.module_utils._core.readiness import READY
from ansible_collections.accelerators.openshift.plugins.module_utils._nodes.pool_nodes import nodes_of
from ansible_collections.accelerators.openshift.plugins.module_utils._stack import operands
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.finding import Part, part
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.stages import CRD


def behind(
    snapshot: Snapshot,
    pools: t.Sequence[dict[str, t.Any]],
    daemonsets: t.Sequence[dict[str, t.Any]] | None = None,
) -> dict[str, dict[str, str]]:
    """Node outside the pools -> operands of it that are not Ready, with what is wrong. daemonsets: theirs, where they are not the GPU operator's."""
    ours = {node["metadata"]["name"] for pool in pools for node in nodes_of(snapshot["nodes"], pool)}
    revisions = operands.current_revisions(snapshot["revisions"])
    found: dict[str, dict[str, str]] = {}
    daemonsets = (
        [one for one in snapshot["daemonsets"] if operands.is_operand(one)]
        if daemonsets is None
        else daemonsets
    )
    for node, pods in operands.by_node(snapshot["pods"]).items():
        notes = (
            {}
            if node in ours or not node
            else {one.component: one.note for one in _late(daemonsets, pods, revisions)}
        )
        if notes:
            found[node] = notes
    return found


def _late(
    daemonsets: t.Iterable[dict[str, t.Any]], pods: list[dict[str, t.Any]], revisions: t.Mapping[str, str]
) -> list[operands.Operand]:
    found = [operands.of_daemonset(one, pods, revisions) for one in daemonsets]
    return [one for one in found if one.pod and not one.ready]


def named(others: t.Mapping[str, t.Mapping[str, str]]) -> list[str]:
    return [
        f"{node} ({next(iter(notes))} {next(iter(notes.values()))})" for node, notes in sorted(others.items())
    ]


def told(others: t.Mapping[str, t.Mapping[str, str]]) -> list[dict[str, t.Any]]:
    """For the reader: nothing waits for them."""
    return [
        {"name": node, "operands": [{"name": one, "note": note} for one, note in notes.items()]}
        for node, notes in sorted(others.items())
    ]


def with_status(
    parts: t.Sequence[Part], status: Part, others: t.Mapping[str, t.Mapping[str, str]], title: str
) -> list[Part]:
    """A custom resource that is not ready for nodes outside the pools alone holds nothing up; where nothing else explains it, it is the trouble itself."""
    said = [one for one in [*parts, status] if one.stage == CRD and one.waits]
    if not said or not all(one.is_ready or one in said for one in parts):
        return [*parts, status]
    if not others:
        return [replace(one, waits=False) if one in said else one for one in [*parts, status]]
    what = f"{title} is notReady for nodes outside the pools alone: {'; '.join(named(others))}."
    return [*(one for one in parts if one not in said), part(READY, "OthersNotReady", what, stage=CRD)]
