# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""The truth about the DRA stack, stage by stage. `ready` of a GPUCluster means that DaemonSets have what they want; ResourceSlices tell what pods can claim."""

from __future__ import annotations

import typing as t

from ansible_collections.accelerators.openshift.plugins.module_utils._core.readiness import (
    FAILED,
    PENDING,
    READY,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._nodes.pool_nodes import (
    judge_size,
    nodes_of,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._stack import operands, stages
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.clusterpolicy import (
    manifest as clusterpolicy_manifest,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.dra import (
    manifest as dra_manifest,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.dra.node import PLUGIN, judge_node
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.drivers import kernel
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.finding import Part, part, placed
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.nvidiadriver import (
    judge as nvidiadriver_judge,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.outside_nodes import (
    behind,
    with_status,
)

Data = dict[str, t.Any]
Snapshot = t.Mapping[str, t.Sequence[Data]]

_NEEDED: t.Final = (stages.DRIVER, stages.CRD, stages.LABELS)
CHAIN: t.Final = stages.chain(
    {
        stages.LABELS: (),
        stages.DRIVER: (stages.CRD, stages.LABELS),
        stages.DRA: _NEEDED,
        # The validator and the exporter are pods with claims.
        stages.VALIDATOR: (stages.DRA, *_NEEDED),
        stages.METRICS: (stages.DRA, *_NEEDED),
        stages.ALLOCATABLE: (stages.DRA, *_NEEDED),
    },
    "gpu-operator",
)
# Stage -> beginnings of the names of the pods that know why it is not ready.
PODS: t.Final = {
    stages.CRD: ("gpu-operator-",),
    stages.LABELS: ("gpu-operator-",),
    stages.DRIVER: ("nvidia-gpu-driver-",),
    stages.DRA: (PLUGIN,),
    stages.VALIDATOR: ("nvidia-dra-validator", PLUGIN),
    stages.METRICS: ("nvidia-dcgm-",),
    stages.ALLOCATABLE: (PLUGIN,),
}
# Seen in the first moments of every healthy start, and final when they last.
PASSING: t.Final = (
    "GPU-NFD-EMPTY",
    "GPU-DRV-CRASH",
    "GPU-OPERAND-CRASH",
    "GPU-OPERAND-LACKING",
    "GPU-OPTED-OUT",
    "GPU-PAUSED",
    "GPU-IMAGE",
    "GPU-MODE",
    "GPU-DRA-SLICES",
    *nvidiadriver_judge.PASSING,
    *kernel.PASSING,
)


def live(snapshot: Snapshot) -> Data:
    """Empty while it is not there."""
    return next(
        (one for one in snapshot["clusters"] if one["metadata"]["name"] == dra_manifest.NAME),
        dict[str, t.Any](),
    )


def judge(snapshot: Snapshot, pools: t.Sequence[Data], wanted: t.Sequence[Data]) -> list[Part]:
    """Causes come before consequences; the last part is what the operator says of itself. wanted: the NVIDIADrivers."""
    found, name = live(snapshot), dra_manifest.NAME
    if not found:
        remedy = "Look at the events of the GPU operator."
        return [
            part(
                PENDING,
                "NoCluster",
                f"GPUCluster {name} is not there yet.",
                code="GPU-DRA-NOTREADY",
                remedy=remedy,
                stage=stages.CRD,
                waits=True,
            )
        ]
    error = clusterpolicy_manifest.condition(found, "Error")
    if error.get("status") == "True" and error.get("reason") == "PrerequisiteNotMet":
        remedy = "Keep one of the two stacks; the ClusterPolicy has to go before a GPUCluster is made."
        return [
            part(
                FAILED,
                "Conflict",
                f"GPUCluster {name}: {error.get('message', '')}",
                code="GPU-CP-CONFLICT",
                remedy=remedy,
                stage=stages.CRD,
            )
        ]
    nodes = [(pool, node) for pool in pools for node in nodes_of(snapshot["nodes"], pool)]
    drivers = nvidiadriver_judge.parts(snapshot, wanted, pools)
    parts = [*drivers, *(placed(judge_size(snapshot["nodes"], pool), pool["name"]) for pool in pools)]
    pods, driven = operands.by_node(snapshot["pods"]), {one.node for one in drivers}
    for pool, node in nodes:
        parts += judge_node(
            node,
            pool,
            {**snapshot, "pods": pods.get(node["metadata"]["name"], [])},
            node["metadata"]["name"] in driven,
        )
    return with_status(
        parts, _judge_status(found, error), behind(snapshot, pools) if pools else {}, f"GPUCluster {name}"
    )


def _judge_status(found: Data, error: Data) -> Part:
    since = str(clusterpolicy_manifest.condition(found, "Ready").get("lastTransitionTime") or "")
    if clusterpolicy_manifest.state(found) == "ready":
        return part(READY, "Reconciled", stage=stages.CRD, since=since)
    said = f": {error['message']}" if error.get("message") else ""
    message = (
        f"GPUCluster {dra_manifest.NAME} is {clusterpolicy_manifest.state(found) or 'without a state'}{said}."
    )
    remedy = f"Look at `oc describe gpucluster {dra_manifest.NAME}` and at the log of the GPU operator."
    waits = error.get("reason") != "ReconcileFailed"
    return part(
        PENDING,
        "NotReady",
        message,
        code="GPU-DRA-NOTREADY",
        remedy=remedy,
        stage=stages.CRD,
        since=since,
        waits=waits,
    )
