# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""What is told of the DRA stack: its nodes with their devices, its stages, and which pools are ready."""

from __future__ import annotations

import typing as t

from ansible_collections.accelerators.openshift.plugins.module_utils import _cluster_policy as cluster_policy
from ansible_collections.accelerators.openshift.plugins.module_utils import _gpu_cluster as gpu_cluster
from ansible_collections.accelerators.openshift.plugins.module_utils import (
    _nvidia_driver_truth as driver_truth,
)
from ansible_collections.accelerators.openshift.plugins.module_utils import _operands as operands
from ansible_collections.accelerators.openshift.plugins.module_utils import _stack_summary as stack_summary
from ansible_collections.accelerators.openshift.plugins.module_utils import _stage_operands as stage_operands
from ansible_collections.accelerators.openshift.plugins.module_utils import _stage_table as stage_table
from ansible_collections.accelerators.openshift.plugins.module_utils import _stages as stages
from ansible_collections.accelerators.openshift.plugins.module_utils._core.readiness import PENDING
from ansible_collections.accelerators.openshift.plugins.module_utils._gpu_cluster_nodes import absent
from ansible_collections.accelerators.openshift.plugins.module_utils._gpu_cluster_truth import (
    CHAIN,
    judge,
    live,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._nodes import devices as node_devices
from ansible_collections.accelerators.openshift.plugins.module_utils._nodes import slices
from ansible_collections.accelerators.openshift.plugins.module_utils._nodes.labels import has_nvidia_pci
from ansible_collections.accelerators.openshift.plugins.module_utils._nodes.pool_nodes import nodes_of
from ansible_collections.accelerators.openshift.plugins.module_utils._stack_part import Part
from ansible_collections.accelerators.openshift.plugins.module_utils._stages import Stage

Data = dict[str, t.Any]
Snapshot = t.Mapping[str, t.Sequence[Data]]


def summarize(
    snapshot: Snapshot,
    pools: t.Sequence[Data],
    wanted: t.Sequence[Data],
    parts: t.Sequence[Part] | None = None,
) -> Data:
    """parts: as a judge with a memory saw them."""
    found = live(snapshot)
    nodes = [_node(node, pool, snapshot) for pool in pools for node in nodes_of(snapshot["nodes"], pool)]
    revisions, pods = operands.current_revisions(snapshot["revisions"]), operands.by_node(snapshot["pods"])

    def seen(node: Data) -> t.Mapping[str, Stage]:
        return _seen(
            node,
            found,
            operands.on_node(node, snapshot["daemonsets"], pods.get(node["metadata"]["name"], []), revisions),
        )

    judged = judge(snapshot, pools, wanted) if parts is None else parts
    return {
        "name": gpu_cluster.NAME,
        "state": cluster_policy.state(found),
        "reason": cluster_policy.reason(found),
        "driver_version": next((device["driverVersion"] for node in nodes for device in node["devices"]), ""),
        "nodes": nodes,
        "others": stack_summary.others(snapshot, pools),
        "nvidia_drivers": driver_truth.summarize(snapshot, wanted),
        **stage_table.summarize(CHAIN, snapshot, found, pools, judged, seen),
    }


def _node(node: Data, pool: Data, snapshot: Snapshot) -> Data:
    devices = slices.offer(node["metadata"]["name"], snapshot["slices"]).devices
    shown = [
        {
            "name": one["name"],
            **{key: slices.attribute(one, key) for key in ("uuid", "productName", "driverVersion")},
        }
        for one in devices
    ]
    expected, offered = (
        node_devices.expected(node, pool.get("expected") or {}),
        slices.resources(devices),
    )
    return {
        "name": node["metadata"]["name"],
        "pool": pool["name"],
        "expected": expected,
        "offered": offered,
        "devices": shown,
    }


def _seen(node: Data, found: Data, here: t.Sequence[operands.Operand]) -> t.Mapping[str, Stage]:
    name = str(node["metadata"]["name"])
    if not found:
        labelled = (
            Stage(stages.LABELS)
            if has_nvidia_pci(node_devices.labels(node))
            else Stage(stages.LABELS, PENDING, "", (f"{name}: no NVIDIA PCI label",))
        )
        return stages.waiting(CHAIN) | {stages.LABELS: labelled}
    lacking: dict[str, list[str]] = {}
    for component in absent(node, here):
        lacking.setdefault(stages.OF_COMPONENT[component], []).append(component)
    shown = stage_operands.seen(name, here, lacking)
    if (found["spec"].get("dcgmExporter") or {}).get("enabled") is False:
        shown[stages.METRICS] = Stage(stages.METRICS, evidence=("switched off in the GPUCluster",))
    return shown
