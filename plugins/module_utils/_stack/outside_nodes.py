# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""Nodes that are in none of the pools: theirs may be broken, and the ClusterPolicy says notReady for all."""

from __future__ import annotations

import re
import typing as t
from dataclasses import replace

from ansible_collections.accelerators.openshift.plugins.module_utils._core.readiness import READY
from ansible_collections.accelerators.openshift.plugins.module_utils._nodes.pool_nodes import nodes_of
from ansible_collections.accelerators.openshift.plugins.module_utils._stack import operands
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.clusterpolicy import (
    manifest as clusterpolicy_manifest,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.finding import Part, part
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.stages import CRD

Snapshot = t.Mapping[str, t.Sequence[dict[str, t.Any]]]
# As the operator names its states -> component of the operand.
_STATES: t.Final = {
    "state-driver": "driver",
    "state-container-toolkit": "container-toolkit",
    "state-operator-validation": "operator-validator",
    "state-device-plugin": "device-plugin",
    "state-mps-control-daemon": "mps-control-daemon",
    "state-dcgm": "dcgm",
    "state-dcgm-exporter": "dcgm-exporter",
    "gpu-feature-discovery": "gpu-feature-discovery",
    "state-mig-manager": "mig-manager",
    "state-node-status-exporter": "node-status-exporter",
}
_LISTED: t.Final = re.compile(r"states not ready: \[([^\]]*)\]")


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


def blamed(snapshot: Snapshot, policy: dict[str, t.Any], pools: t.Sequence[dict[str, t.Any]]) -> list[str]:
    """One phrase a node, when nodes outside the pools explain every state that the policy calls not ready; else nothing."""
    message = clusterpolicy_manifest.condition(policy, "Error").get("message", "")
    states = [one for names in _LISTED.findall(message) for one in re.split(r"[;,\s]+", names) if one]
    if not pools or not states or clusterpolicy_manifest.reason(policy) != "OperandNotReady":
        return []
    others = behind(snapshot, pools)
    components = {component for notes in others.values() for component in notes}
    if not {_STATES.get(state, state) for state in states} <= components:
        return []
    return _named(others)


def _named(others: t.Mapping[str, t.Mapping[str, str]]) -> list[str]:
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
    what = f"{title} is notReady for nodes outside the pools alone: {'; '.join(_named(others))}."
    return [*(one for one in parts if one not in said), part(READY, "OthersNotReady", what, stage=CRD)]
