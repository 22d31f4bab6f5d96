# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Judge whether the GPUs of nodes are partitioned as their pool says; find the nodes that are not."""

from __future__ import annotations

import typing as t

from .._catalogue.well_known import GPU, GPU_COUNT, MIG_CONFIG, MIG_STATE, PARTITION
from .._core.errors import text_of
from .._core.objects import KubeObject, Snapshot, name
from .._core.readiness import Readiness, failed, pending, ready
from .._nodes import devices
from .._nodes.labels import labels
from . import mig_name, profile
from .judge import of_all, pool_of
from .options import Shared

MANAGER: t.Final = "nvidia-mig-manager"
SUCCESS, FAILED = "success", "failed"
RUNNING: t.Final = "GPU-MIG-RUNNING"


def wanted(node: KubeObject, pool: Shared) -> str | None:
    """Return the value that the node's label has to have; None if the label is not the pool's concern."""
    if found := pool.mig_config(node):
        return found
    is_ours = mig_name.pool_prefix(label_of(node)) == mig_name.prefix(pool.name)
    return "" if is_ours else None


def label_of(node: KubeObject) -> str:
    """Return the name of the MIG configuration that the node's label chooses, or ""."""
    return labels(node).get(MIG_CONFIG, "")


def is_at_work(node: KubeObject) -> bool:
    """Return True if the node offers GPUs, or its stack has counted them, so that pods may use them.

    The state of the MIG manager stays on a node whose stack is gone. Only a change that is under way counts.
    """
    marks = labels(node)
    is_changing = marks.get(MIG_STATE) in ("pending", "rebooting")
    return is_changing or GPU_COUNT in marks or bool(devices.resources(node))


def differing(nodes: t.Iterable[KubeObject], pools: t.Sequence[Shared]) -> list[tuple[KubeObject, Shared]]:
    """Return the nodes whose label is not what their pool wants, each with its pool."""
    found = [(node, pool_of(node, pools)) for node in nodes]
    return [
        (node, pool)
        for node, pool in found
        if pool is not None and wanted(node, pool) not in (None, label_of(node))
    ]


def managers(pods: t.Iterable[KubeObject], object_name: str) -> dict[str, KubeObject]:
    """Return the pods of the MIG manager that read the ConfigMap, by node."""
    return {
        str(pod["spec"].get("nodeName")): pod
        for pod in pods
        if labels(pod).get("app") == MANAGER
        and any(
            (volume.get("configMap") or {}).get("name") == object_name
            for volume in pod["spec"].get("volumes") or []
        )
    }


class MigJudge:
    """Judge the nodes of pools with partitions. object_name: the ConfigMap.

    Nodes whose label differs, and nodes whose MIG manager does not read the ConfigMap, are left out.
    """

    def __init__(self, pools: t.Sequence[Shared], object_name: str) -> None:
        self._pools, self._object_name = [pool for pool in pools if pool.is_cut], object_name

    def __call__(self, snapshot: Snapshot) -> Readiness:
        hosts = managers(snapshot["pods"], self._object_name)
        here = [(node, pool_of(node, self._pools)) for node in snapshot["nodes"] if name(node) in hosts]
        verdicts = [
            judge_node(node, pool)
            for node, pool in here
            if pool is not None and label_of(node) == pool.mig_config(node)
        ]
        return of_all(verdicts, "Partitioned", "with partitioned GPUs")


def is_done(node: KubeObject, pool: Shared) -> bool:
    """Return True if the node has the pool's partitions, and offers all of them."""
    return label_of(node) == pool.mig_config(node) and judge_node(node, pool).is_ready


def judge_node(node: KubeObject, pool: Shared) -> Readiness:
    """Return ready if the MIG manager is done and the node offers every partition, and no other."""
    return judge_state(node, pool.name, missing(node, pool))


def judge_state(node: KubeObject, pool: str, short: t.Sequence[str]) -> Readiness:
    """Return what the MIG manager says of the configuration in the node's label. short: what is missing."""
    where, config, state = name(node), label_of(node), labels(node).get(MIG_STATE) or "no state yet"
    if state == FAILED:
        return failed("MigFailed", **text_of("GPU-MIG-FAILED", node=where, config=config)._asdict())
    if state != SUCCESS:
        return pending("Mig", **text_of(RUNNING, node=where, config=config, state=state)._asdict())
    if short:
        text = text_of("GPU-MIG-SHARES", node=where, pool=pool, shares=", ".join(short))
        return pending("Devices", **text._asdict())
    return ready("Partitioned", f"node {where} of pool {pool} offers its partitions")


def missing(node: KubeObject, pool: Shared) -> list[str]:
    """Return a phrase for each resource of which the node offers another number than its partitions.

    Partitions that the device plugin does not share yet, or shares among another number of pods, are whole:
    the label of GPU feature discovery says how many share one.
    """
    found = pool.partition_of(node)
    expected = found.expected if found else {}
    short = lacking(node, expected)
    if not (short and pool.is_shared):
        return short
    now = {
        name: number * max(1, devices.count(labels(node).get(f"{name}.replicas", 1)))
        for name, number in profile.once(expected, pool.sharing).items()
    }
    return short if lacking(node, now) else []


def lacking(node: KubeObject, expected: t.Mapping[str, int]) -> list[str]:
    """Return a phrase for each resource of which the node offers another number than expected.

    Partitions and whole GPUs that are not expected at all count too. Nothing expected means not known.
    """
    if not expected:
        return []
    more = [
        resource for resource in devices.resources(node) if resource == GPU or resource.startswith(PARTITION)
    ]
    return [
        f"{resource} {devices.offered(node, resource)} of {expected.get(resource, 0)}"
        for resource in dict.fromkeys([*expected, *more])
        if devices.offered(node, resource) != expected.get(resource, 0)
    ]
