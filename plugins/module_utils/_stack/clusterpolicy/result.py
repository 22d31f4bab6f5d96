# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""The result of a ClusterPolicy's stack: its nodes, its stages, and which pools are ready."""

from __future__ import annotations

import typing as t

from ..._core.objects import KubeObject, Snapshot, at, name, named
from ..._core.readiness import FAILED, READY
from ..._nodes import devices
from ..._nodes.labels import has_nvidia_pci, labels
from ..._nodes.pool_nodes import nodes_of
from .. import operands, stages, table
from ..drivers import kernel
from ..node import late_outside, outside_as_result
from ..params import StackPool
from ..stages import Finding, Stage
from . import gpudirect
from .judge import CHAIN, RDMA_CHAIN, judge
from .manifest import reason, state

MONITORED: t.Final = "openshift.io/cluster-monitoring"
_EXPORTER: t.Final = "nvidia-dcgm-exporter"
_JUDGED: t.Final = (
    "judged: the exporter's pods, its ServiceMonitor and the namespace's label; Prometheus "
    "itself is not asked"
)


def summarize(
    snapshot: Snapshot,
    object_name: str,
    pools: t.Sequence[StackPool],
    findings: t.Sequence[Finding] | None = None,
) -> dict[str, t.Any]:
    """Return the module's result.

    findings: from the judge of a wait; without them this judges the snapshot.
    """
    if findings is None:
        findings = judge(snapshot, object_name, pools)
    policy, view = named(snapshot["policies"], object_name), operands.view_of(snapshot)
    revisions = operands.current_revisions(snapshot["revisions"])

    def operands_of(node: KubeObject) -> list[operands.Operand]:
        return operands.on_node(node, view(node), revisions)

    nodes = [
        _node(node, pool, operands_of(node), kernel.match(node, policy, view(node)))
        for pool in pools
        for node in nodes_of(snapshot["nodes"], pool)
    ]

    is_rdma = gpudirect.is_asked(policy)

    def seen(node: KubeObject) -> t.Mapping[str, Stage]:
        found = _seen(node, policy, snapshot["daemonsets"], operands_of(node) if policy else ())
        return {**found, gpudirect.STAGE: gpudirect.seen(node, policy, view(node))} if is_rdma else found

    # The stage of metrics is known only if the snapshot has the monitoring objects.
    besides = {stages.METRICS: judge_metrics(snapshot, policy)} if policy and "monitors" in snapshot else None
    return {
        "name": object_name,
        "state": state(policy),
        "reason": reason(policy),
        "driver_version": next((node["driver_version"] for node in nodes if node["driver_version"]), ""),
        "nodes": nodes,
        "others": outside_as_result(late_outside(snapshot, pools)),
        **table.summarize(RDMA_CHAIN if is_rdma else CHAIN, snapshot, policy, pools, findings, seen, besides),
    }


def _seen(
    node: KubeObject,
    policy: KubeObject,
    daemonsets: t.Sequence[KubeObject],
    found: t.Sequence[operands.Operand],
) -> t.Mapping[str, Stage]:
    """Return the stages that a node shows by its labels and its operands. policy: may be empty."""
    if not policy:
        return table.before_object(CHAIN, node, has_nvidia_pci(labels(node)), "no NVIDIA PCI label")
    lacking = operands.lacking(node, daemonsets, policy.get("spec") or {})
    return operands.shown_stages(node, found, operands.by_stage(lacking))


def _node(
    node: KubeObject, pool: StackPool, found: t.Sequence[operands.Operand], match: kernel.Match
) -> dict[str, t.Any]:
    return {
        "name": name(node),
        "pool": pool["name"],
        "expected": devices.expected(node, pool.get("expected") or {}),
        "allocatable": devices.resources(node),
        "driver_version": devices.driver_version(node),
        "product": devices.product(node),
        "kernel": match.to_dict(),
        "operands": [{"name": one.component, "ready": one.ready, "pod": one.pod} for one in found],
    }


def judge_metrics(snapshot: Snapshot, policy: KubeObject) -> Stage:
    """Return whether the GPUs' metrics can reach the cluster's monitoring, judged by the setup alone."""
    exporter = "spec.dcgmExporter"
    if any(at(policy, f"{exporter}{one}.enabled") is False for one in ("", ".serviceMonitor")):
        return Stage(stages.METRICS, evidence=("switched off in the ClusterPolicy",))
    empty: KubeObject = {"metadata": {}}
    namespace = next(iter(snapshot["namespaces"]), empty)["metadata"]
    object_name, missing = namespace.get("name", ""), []
    if not any(_scrapes(one) for one in snapshot["monitors"]):
        missing.append(f"no ServiceMonitor in namespace {object_name} selects {_EXPORTER}")
    if (namespace.get("labels") or {}).get(MONITORED) != "true":
        label = f"namespace {object_name} lacks the label {MONITORED}=true"
        missing.append(f"{label}; the operator sets it only in nvidia-gpu-operator")
    return Stage(stages.METRICS, FAILED if missing else READY, evidence=tuple(missing) or (_JUDGED,))


def _scrapes(monitor: KubeObject) -> bool:
    return _EXPORTER in (name(monitor), at(monitor, "spec.selector.matchLabels.app"))
