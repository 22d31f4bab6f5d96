# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Judge the DRA stack stage by stage, and return its result: nodes with their devices, stages, pools.

A GPUCluster is `ready` once its DaemonSets are; only ResourceSlices show what pods can claim.
"""

from __future__ import annotations

import typing as t

from ..._core.conditions import find, is_true, since
from ..._core.errors import text_of
from ..._core.objects import KubeObject, Snapshot, name, named
from ..._core.readiness import FAILED, PENDING, READY
from ..._nodes import devices as node_devices, dra
from ..._nodes.labels import has_nvidia_pci, labels
from ..._nodes.pool_nodes import nodes_of
from .. import operands, stages, table
from ..clusterpolicy.manifest import reason, state
from ..drivers import kernel
from ..judge import OF_OPERANDS, StackJudge, judge_pools, patience
from ..node import late_outside, outside_as_result, with_status
from ..nvidiadriver import judge as driver_judge
from ..params import StackParams, StackPool
from ..stages import Finding, Stage, not_yet, on_object
from .manifest import NAME
from .node import PLUGIN, judge_node, lacking

_NEEDED: t.Final = (stages.DRIVER, stages.CRD, stages.LABELS)
CHAIN: t.Final = stages.chain(
    {
        stages.LABELS: (),
        stages.DRIVER: (stages.CRD, stages.LABELS),
        stages.DRA: _NEEDED,
        # The pods of validator and exporter claim devices.
        stages.VALIDATOR: (stages.DRA, *_NEEDED),
        stages.METRICS: (stages.DRA, *_NEEDED),
        stages.ALLOCATABLE: (stages.DRA, *_NEEDED),
    },
    "gpu-operator",
)
# Stage -> name prefixes of the pods whose logs say why it is not ready.
PODS: t.Final = {
    stages.CRD: ("gpu-operator-",),
    stages.LABELS: ("gpu-operator-",),
    stages.DRIVER: ("nvidia-gpu-driver-",),
    stages.DRA: (PLUGIN,),
    stages.VALIDATOR: ("nvidia-dra-validator", PLUGIN),
    stages.METRICS: ("nvidia-dcgm-",),
    stages.ALLOCATABLE: (PLUGIN,),
}
# Every healthy start shows these codes for a moment; one that lasts fails the task.
PASSING: t.Final = ("GPU-DRA-SLICES", *OF_OPERANDS, *driver_judge.PASSING, *kernel.PASSING)


def judging(params: StackParams, wanted: t.Sequence[KubeObject], clock: t.Callable[[], float]) -> StackJudge:
    """Return the judge of a wait. wanted: the NVIDIADriver objects."""
    return StackJudge(
        lambda snapshot: judge(snapshot, params.pools, wanted), CHAIN, patience(params, clock, PASSING)
    )


def judge(snapshot: Snapshot, pools: t.Sequence[StackPool], wanted: t.Sequence[KubeObject]) -> list[Finding]:
    """Return the findings, causes before consequences; the last is the status of the GPUCluster.

    wanted: the NVIDIADriver objects.
    """
    cluster = named(snapshot["clusters"], NAME)
    if not cluster:
        return [not_yet(f"GPUCluster {NAME}", "NoCluster", "GPU-DRA-NOT-READY", operands.NAMESPACE)]
    error = find(cluster, "Error")
    if error.get("status") == "True" and error.get("reason") == "PrerequisiteNotMet":
        message = f"GPUCluster {NAME}: {error.get('message', '')}"
        remedy = (
            "Run `oc delete clusterpolicy` with its name before the GPUCluster is created. Its drivers go, "
            "and pods with GPUs end."
        )
        return [on_object(FAILED, "Conflict", message, "GPU-CP-CONFLICT", remedy)]
    drivers = driver_judge.judge(snapshot, wanted, pools)
    driven = {one.node for one in drivers}
    of_nodes = judge_pools(
        snapshot, pools, lambda node, pool, view: judge_node(node, pool, view, name(node) in driven)
    )
    late = late_outside(snapshot, pools)
    return with_status([*drivers, *of_nodes], _judge_status(cluster), late, f"GPUCluster {NAME}")


def _judge_status(cluster: KubeObject) -> Finding:
    """Return the status of the GPUCluster as a finding.

    The operator writes state and conditions one after the other: ready means that both say so.
    """
    error, when = find(cluster, "Error"), since(cluster, "Ready")
    if state(cluster) == "ready" and error.get("status") != "True" and is_true(cluster, "Ready"):
        return on_object(READY, "Reconciled", since=when)
    said = f": {error['message']}" if error.get("message") else ""
    wrong = f"state {state(cluster) or 'unknown'}{said}"
    text = text_of("GPU-DRA-NOT-READY", cluster=NAME, why=wrong)
    waits = error.get("reason") != "ReconcileFailed"
    return on_object(PENDING, "NotReady", **text._asdict(), since=when, waits=waits)


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
        "nvidia_drivers": driver_judge.summarize(snapshot, wanted),
        **table.summarize(CHAIN, snapshot, cluster, pools, findings, seen),
    }


def _node(node: KubeObject, pool: StackPool, snapshot: Snapshot) -> dict[str, t.Any]:
    devices = dra.offer(node["metadata"]["name"], snapshot["slices"]).devices
    facts = ("uuid", "productName", "driverVersion")
    return {
        "name": node["metadata"]["name"],
        "pool": pool["name"],
        "expected": node_devices.expected(node, pool.get("expected") or {}),
        "offered": dra.resources(devices),
        "devices": [
            {"name": one["name"], **{key: dra.attribute(one, key) for key in facts}} for one in devices
        ],
    }
