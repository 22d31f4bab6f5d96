# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""What is told of the network adapters' stack: its components, its nodes, its stages, and which pools are ready."""

from __future__ import annotations

import typing as t

from ansible_collections.accelerators.openshift.plugins.module_utils._core.objects import Snapshot
from ansible_collections.accelerators.openshift.plugins.module_utils._core.readiness import PENDING
from ansible_collections.accelerators.openshift.plugins.module_utils._nodes import devices
from ansible_collections.accelerators.openshift.plugins.module_utils._nodes.labels import labels
from ansible_collections.accelerators.openshift.plugins.module_utils._nodes.pool_nodes import nodes_of
from ansible_collections.accelerators.openshift.plugins.module_utils._stack import (
    operand_stages,
    stages,
    table,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.finding import Part
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.nicclusterpolicy import (
    judge as nic_judge,
    manifest as nic_manifest,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.nicclusterpolicy.node import (
    PRESENT,
    SECONDARY,
    WAITS,
    here,
    key_of,
    stage_of,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.operands import by_node
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.outside_nodes import told
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.stages import Stage

Data = dict[str, t.Any]
_UNASKED: t.Final = "nothing of it is asked for"


def summarize(
    snapshot: Snapshot,
    pools: t.Sequence[Data],
    offered: t.Sequence[str],
    parts: t.Sequence[Part] | None = None,
) -> Data:
    """parts: as a judge with a memory saw them."""
    policy, pods = nic_judge.policy_of(snapshot), by_node(snapshot["pods"])
    nodes = [
        {
            "name": node["metadata"]["name"],
            "pool": pool["name"],
            "expected": {
                name: number for name, number in (pool.get("expected") or {}).items() if name in offered
            },
            "allocatable": {name: devices.offered(node, name) for name in offered},
            "driver_loaded": labels(node).get(WAITS) == "false",
        }
        for pool in pools
        for node in nodes_of(snapshot["nodes"], pool)
    ]

    def seen(node: Data) -> t.Mapping[str, Stage]:
        return _seen(node, policy, {**snapshot, "pods": pods.get(node["metadata"]["name"], [])}, offered)

    judged = nic_judge.judge(snapshot, pools, offered) if parts is None else parts
    return {
        "name": nic_manifest.NAME,
        "state": nic_manifest.state(policy),
        "reason": nic_manifest.judge(policy).reason if policy else "",
        "components": nic_manifest.components(policy),
        "nodes": nodes,
        "others": told(nic_judge.others(snapshot, policy, pools)) if policy else [],
        **table.summarize(nic_judge.CHAIN, snapshot, policy, pools, judged, seen),
    }


def _seen(node: Data, policy: Data, snapshot: Snapshot, offered: t.Sequence[str]) -> t.Mapping[str, Stage]:
    name = str(node["metadata"]["name"])
    if not policy:
        labelled = (
            Stage(stages.LABELS)
            if labels(node).get(PRESENT) == "true"
            else Stage(stages.LABELS, PENDING, "", (f"{name}: no label {PRESENT}",))
        )
        return stages.waiting(nic_judge.CHAIN) | {stages.LABELS: labelled}
    found = here(node, policy, snapshot)
    lacking: dict[str, list[str]] = {}
    for key in found.lacking:
        lacking.setdefault(stage_of(key), []).append(key)
    keys = {one["metadata"]["name"]: key_of(one) for one in found.daemonsets}
    shown = operand_stages.seen(name, found.found, lacking, lambda one: stage_of(keys[one.daemonset]))
    missing = [one for one in (stages.DRIVER, stages.PLUGIN, SECONDARY) if one not in shown]
    if not offered:
        missing.append(stages.ALLOCATABLE)
    return {one: Stage(one, evidence=(_UNASKED,)) for one in missing} | shown
