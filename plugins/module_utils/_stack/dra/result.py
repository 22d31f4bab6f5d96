# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""What is told of the DRA stack: its nodes with their devices, its stages, and which pools are ready."""

from __future__ import annotations

import typing as t

from ansible_collections.accelerators.openshift.plugins.module_utils._core.objects import Snapshot
from ansible_collections.accelerators.openshift.plugins.module_utils._core.readiness import PENDING
from ansible_collections.accelerators.openshift.plugins.module_utils._nodes import (
    devices as node_devices,
    slices,
)
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
    manifest as clusterpolicy_manifest,
    result as clusterpolicy_result,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.dra import (
    manifest as dra_manifest,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.dra.judge import (
    CHAIN,
    judge,
    live,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.dra.node import absent
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.finding import Part
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.nvidiadriver import (
    judge as nvidiadriver_judge,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.stages import Stage

Data = dict[str, t.Any]


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
        "name": dra_manifest.NAME,
        "state": clusterpolicy_manifest.state(found),
        "reason": clusterpolicy_manifest.reason(found),
        "driver_version": next((device["driverVersion"] for node in nodes for device in node["devices"]), ""),
        "nodes": nodes,
        "others": clusterpolicy_result.others(snapshot, pools),
        "nvidia_drivers": nvidiadriver_judge.summarize(snapshot, wanted),
        **table.summarize(CHAIN, snapshot, found, pools, judged, seen),
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
            if has_nvidia_pci(labels(node))
            else Stage(stages.LABELS, PENDING, "", (f"{name}: no NVIDIA PCI label",))
        )
        return stages.waiting(CHAIN) | {stages.LABELS: labelled}
    lacking: dict[str, list[str]] = {}
    for component in absent(node, here):
        lacking.setdefault(stages.OF_COMPONENT[component], []).append(component)
    shown = operand_stages.seen(name, here, lacking)
    if (found["spec"].get("dcgmExporter") or {}).get("enabled") is False:
        shown[stages.METRICS] = Stage(stages.METRICS, evidence=("switched off in the GPUCluster",))
    return shown
