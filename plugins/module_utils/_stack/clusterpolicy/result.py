# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""What is told of the stack: its nodes, its stages, and which pools are ready."""

from __future__ import annotations

import typing as t

from ansible_collections.accelerators.openshift.plugins.module_utils._core.objects import Snapshot
from ansible_collections.accelerators.openshift.plugins.module_utils._core.readiness import PENDING
from ansible_collections.accelerators.openshift.plugins.module_utils._nodes import devices
from ansible_collections.accelerators.openshift.plugins.module_utils._nodes.labels import (
    has_nvidia_pci,
    labels,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._nodes.pool_nodes import nodes_of
from ansible_collections.accelerators.openshift.plugins.module_utils._stack import (
    operand_stages,
    operands,
    stages,
    table,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.clusterpolicy import (
    judge as clusterpolicy_judge,
    manifest as clusterpolicy_manifest,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.drivers import kernel
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.finding import Part
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.outside_nodes import behind, told
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.stages import Stage

Data = dict[str, t.Any]


def summarize(
    snapshot: Snapshot, name: str, pools: t.Sequence[Data], parts: t.Sequence[Part] | None = None
) -> Data:
    """parts: as a judge with a memory saw them."""
    parts = clusterpolicy_judge.judge(snapshot, name, pools) if parts is None else parts
    policy = clusterpolicy_judge.policy_of(snapshot, name)
    revisions, pods = operands.current_revisions(snapshot["revisions"]), operands.by_node(snapshot["pods"])
    nodes = [
        {
            "name": node["metadata"]["name"],
            "pool": pool["name"],
            "expected": devices.expected(node, pool.get("expected") or {}),
            "allocatable": devices.resources(node),
            "driver_version": devices.driver_version(node),
            "product": devices.product(node),
            "kernel": kernel.match(
                node, policy, {**snapshot, "pods": pods.get(node["metadata"]["name"], [])}
            ).to_dict(),
            "operands": [
                {"name": one.component, "ready": one.ready, "pod": one.pod}
                for one in operands.on_node(
                    node, snapshot["daemonsets"], pods.get(node["metadata"]["name"], []), revisions
                )
            ],
        }
        for pool in pools
        for node in nodes_of(snapshot["nodes"], pool)
    ]
    return {
        "name": name,
        "state": clusterpolicy_manifest.state(policy),
        "reason": clusterpolicy_manifest.reason(policy),
        "driver_version": next((node["driver_version"] for node in nodes if node["driver_version"]), ""),
        "nodes": nodes,
        "others": others(snapshot, pools),
        **stages_of(snapshot, name, pools, parts),
    }


def stages_of(snapshot: Snapshot, name: str, pools: t.Sequence[Data], parts: t.Sequence[Part]) -> Data:
    """pools, stages and lines. How metrics are collected only where the snapshot has what was read of it."""
    policy = clusterpolicy_judge.policy_of(snapshot, name)
    revisions, pods = operands.current_revisions(snapshot["revisions"]), operands.by_node(snapshot["pods"])

    def seen(node: Data) -> t.Mapping[str, Stage]:
        return _seen(node, snapshot["daemonsets"], pods.get(node["metadata"]["name"], []), policy, revisions)

    besides = {stages.METRICS: metrics_of(snapshot, policy)} if policy and "monitors" in snapshot else None
    return table.summarize(stages.GPU_STACK, snapshot, policy, pools, parts, seen, besides)


def metrics_of(snapshot: Snapshot, policy: Data) -> Stage:
    from ansible_collections.accelerators.openshift.plugins.module_utils._stack import metrics_stage

    return metrics_stage.judge(policy, next(iter(snapshot["namespaces"]), None), snapshot["monitors"])


def _seen(
    node: Data,
    daemonsets: t.Sequence[Data],
    pods: t.Sequence[Data],
    policy: Data,
    revisions: t.Mapping[str, str],
) -> t.Mapping[str, Stage]:
    name = str(node["metadata"]["name"])
    if not policy:
        labelled = (
            Stage(stages.LABELS)
            if has_nvidia_pci(labels(node))
            else Stage(stages.LABELS, PENDING, "", (f"{name}: no NVIDIA PCI label",))
        )
        return stages.waiting(stages.GPU_STACK) | {stages.LABELS: labelled}
    absent: dict[str, list[str]] = {}
    for component in operands.lacking(node, daemonsets, policy.get("spec") or {}):
        absent.setdefault(stages.OF_COMPONENT[component], []).append(component)
    return operand_stages.seen(name, operands.on_node(node, daemonsets, pods, revisions), absent)


def others(snapshot: Snapshot, pools: t.Sequence[Data]) -> list[Data]:
    """Nodes outside the pools on which an operand is not Ready."""
    return told(behind(snapshot, pools)) if pools else []
