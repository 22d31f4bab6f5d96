# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""The truth about the DRA stack, stage by stage. `ready` of a GPUCluster means that DaemonSets have what they want; ResourceSlices tell what pods can claim."""

from __future__ import annotations

import typing as t

from ansible_collections.accelerators.openshift.plugins.module_utils import _cluster_policy as cluster_policy
from ansible_collections.accelerators.openshift.plugins.module_utils import _gpu_cluster as gpu_cluster
from ansible_collections.accelerators.openshift.plugins.module_utils import _kernel_match as kernel_match
from ansible_collections.accelerators.openshift.plugins.module_utils import (
    _nvidia_driver_truth as driver_truth,
)
from ansible_collections.accelerators.openshift.plugins.module_utils import _operands as operands
from ansible_collections.accelerators.openshift.plugins.module_utils import _stages as stages
from ansible_collections.accelerators.openshift.plugins.module_utils._core.readiness import (
    FAILED,
    PENDING,
    READY,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._gpu_cluster_nodes import (
    PLUGIN,
    judge_node,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._nodes.pool_nodes import (
    judge_size,
    nodes_of,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._stack_foreign import behind, with_status
from ansible_collections.accelerators.openshift.plugins.module_utils._stack_part import Part, part, placed

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
    *driver_truth.PASSING,
    *kernel_match.PASSING,
)


def live(snapshot: Snapshot) -> Data:
    """Empty while it is not there."""
    return next(
        (one for one in snapshot["clusters"] if one["metadata"]["name"] == gpu_cluster.NAME),
        dict[str, t.Any](),
    )


def judge(snapshot: Snapshot, pools: t.Sequence[Data], wanted: t.Sequence[Data]) -> list[Part]:
    """Causes come before consequences; the last part is what the operator says of itself. wanted: the NVIDIADrivers."""
    found, name = live(snapshot), gpu_cluster.NAME
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
    error = cluster_policy.condition(found, "Error")
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
    drivers = driver_truth.parts(snapshot, wanted, pools)
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
    since = str(cluster_policy.condition(found, "Ready").get("lastTransitionTime") or "")
    if cluster_policy.state(found) == "ready":
        return part(READY, "Reconciled", stage=stages.CRD, since=since)
    said = f": {error['message']}" if error.get("message") else ""
    message = f"GPUCluster {gpu_cluster.NAME} is {cluster_policy.state(found) or 'without a state'}{said}."
    remedy = f"Look at `oc describe gpucluster {gpu_cluster.NAME}` and at the log of the GPU operator."
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
