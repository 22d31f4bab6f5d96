# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""The result of the DRA stack: its nodes with their devices, its stages, and which pools are ready."""

from __future__ import annotations

import typing as t

from ..._core.objects import KubeObject, Snapshot, named
from ..._nodes import devices as node_devices, slices
from ..._nodes.labels import has_nvidia_pci, labels
from ..._nodes.pool_nodes import nodes_of
from .. import operands, stages, table
from ..clusterpolicy.manifest import reason, state
from ..node import late_outside, outside_as_result
from ..nvidiadriver.result import summarize as summarize_drivers
from ..params import StackPool
from ..stages import Finding, Stage
from .judge import CHAIN, judge
from .manifest import NAME
from .node import lacking


def summarize(
    snapshot: Snapshot,
    pools: t.Sequence[StackPool],
    wanted: t.Sequence[KubeObject],
    findings: t.Sequence[Finding] | None = None,
) -> dict[str, t.Any]:
    """Return the module's result.

    findings: from the judge of a wait; without them this judges the snapshot.
    """
    if findings is None:
        findings = judge(snapshot, pools, wanted)
    cluster, view = named(snapshot["clusters"], NAME), operands.view_of(snapshot)
    revisions = operands.current_revisions(snapshot["revisions"])

    def seen(node: KubeObject) -> t.Mapping[str, Stage]:
        if not cluster:
            is_labelled = has_nvidia_pci(labels(node))
            return table.before_object(CHAIN, node, is_labelled, "no NVIDIA PCI label")
        here = operands.on_node(node, view(node), revisions)
        shown = operands.shown_stages(node, here, operands.by_stage(lacking(node, here)))
        if (cluster["spec"].get("dcgmExporter") or {}).get("enabled") is False:
            shown[stages.METRICS] = Stage(stages.METRICS, evidence=("switched off in the GPUCluster",))
        return shown

    nodes = [_node(node, pool, snapshot) for pool in pools for node in nodes_of(snapshot["nodes"], pool)]
    return {
        "name": NAME,
        "state": state(cluster),
        "reason": reason(cluster),
        "driver_version": next((device["driverVersion"] for node in nodes for device in node["devices"]), ""),
        "nodes": nodes,
        "others": outside_as_result(late_outside(snapshot, pools)),
        "nvidia_drivers": summarize_drivers(snapshot, wanted),
        **table.summarize(CHAIN, snapshot, cluster, pools, findings, seen),
    }


def _node(node: KubeObject, pool: StackPool, snapshot: Snapshot) -> dict[str, t.Any]:
    devices = slices.offer(node["metadata"]["name"], snapshot["slices"]).devices
    facts = ("uuid", "productName", "driverVersion")
    return {
        "name": node["metadata"]["name"],
        "pool": pool["name"],
        "expected": node_devices.expected(node, pool.get("expected") or {}),
        "offered": slices.resources(devices),
        "devices": [
            {"name": one["name"], **{key: slices.attribute(one, key) for key in facts}} for one in devices
        ],
    }
