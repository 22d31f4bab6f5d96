# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""GPU limits of the ClusterAutoscaler: raised for pools, and restored later.

An annotation records per GPU type the limit before, the limit that we wrote, and what each pool needs.
"""

from __future__ import annotations

import json
import typing as t

from .._core.errors import AcceleratorError
from .._core.objects import KubeObject
from .._core.ownership import MANAGED_BY, MANAGER, owned
from .._pools.autoscale import BOOKED, CLUSTER_AUTOSCALER, gpu_limits, limits_manager
from .._pools.model import ACCELERATOR, Pool
from .machine_set import node_labels, template_accelerator

RECORD: t.Final = "accelerators.openshift/gpu-limits"


def needs(pool: Pool, sets: t.Sequence[KubeObject]) -> dict[str, int]:
    """Return the GPUs of the pool at its largest size, by accelerator label.

    A pool without sets counts with its first candidate. The autoscaler counts allocatable GPUs, so a node
    counts with these if they are more.
    """
    found = {}
    first = node_labels(pool, pool.candidates[0])[ACCELERATOR]
    for label in sorted(set(map(template_accelerator, sets)) or {first}):
        one = next(
            (one for one in pool.candidates if node_labels(pool, one)[ACCELERATOR] == label),
            pool.candidates[0],
        )
        found[label] = pool.most_nodes * max(one.gpus_per_node, one.expected.get(BOOKED, 0))
    return found


def counted(
    pools: t.Sequence[Pool], sets: t.Mapping[str, t.Sequence[KubeObject]]
) -> dict[str, dict[str, int]]:
    """Return the needed GPUs by pool and label. Fixed pools count too, for labels of pools with autoscale."""
    every = {pool.name: needs(pool, sets[pool.name]) for pool in pools}
    kinds = {kind for pool in pools if pool.autoscale for kind in every[pool.name]}
    return {
        name: {kind: gpus for kind, gpus in found.items() if kind in kinds} for name, found in every.items()
    }


def build() -> KubeObject:
    """Return a ClusterAutoscaler that removes idle nodes, without limits."""
    metadata = {"name": CLUSTER_AUTOSCALER, "labels": dict(MANAGED_BY)}
    return {
        "apiVersion": "autoscaling.openshift.io/v1",
        "kind": "ClusterAutoscaler",
        "metadata": metadata,
        "spec": {"scaleDown": {"enabled": True}},
    }


def recorded(live: KubeObject) -> dict[str, KubeObject]:
    """Return the record by GPU type; empty if the annotation cannot be parsed."""
    try:
        found = json.loads((live["metadata"].get("annotations") or {}).get(RECORD, "{}"))
        return {
            str(kind): {"before": int(one["before"]), "now": int(one["now"]), "pools": dict(one["pools"])}
            for kind, one in found.items()
        }
    except (ValueError, TypeError, KeyError, AttributeError):
        return {}


def merged(live: KubeObject, wanted: t.Mapping[str, t.Mapping[str, int]]) -> KubeObject:
    """Return the merge patch that sets limits and record; empty when nothing changes.

    wanted: GPUs by type, by pool; empty for a pool that is no longer scaled. A limit that somebody changed
    after us becomes the one to restore: it is raised if it is too low, and else left.
    """
    record = recorded(live)
    for own in record.values():
        own["pools"] = {pool: gpus for pool, gpus in own["pools"].items() if pool not in wanted}
    for pool, needed in wanted.items():
        for kind, gpus in needed.items():
            record.setdefault(kind, {"before": 0, "now": 0, "pools": {}})["pools"][pool] = gpus
    entries = {limit["type"]: dict(limit) for limit in gpu_limits(live)}
    for kind, own in record.items():
        have = entries.get(kind, {}).get("max", 0)
        own["before"] = own["before"] if have == own["now"] else have
        own["now"] = max(own["before"], sum(own["pools"].values()))
        if own["now"]:
            entries[kind] = {"min": 0, **entries.get(kind, {"type": kind}), "max": own["now"]}
        else:
            entries.pop(kind, None)
    kept = {kind: own for kind, own in sorted(record.items()) if own["pools"]}
    patch: KubeObject = {}
    if kept != recorded(live):
        patch["metadata"] = {"annotations": {RECORD: json.dumps(kept, sort_keys=True) if kept else None}}
    if list(entries.values()) != gpu_limits(live):
        patch["spec"] = {"resourceLimits": {"gpus": list(entries.values()) or None}}
    return patch


def with_patch(live: KubeObject, patch: KubeObject) -> KubeObject:
    """Return the object after the patch."""
    gpus = patch["spec"]["resourceLimits"]["gpus"] or [] if "spec" in patch else gpu_limits(live)
    text = (
        patch["metadata"]["annotations"][RECORD]
        if "metadata" in patch
        else (live["metadata"].get("annotations") or {}).get(RECORD)
    )
    metadata = {
        **live["metadata"],
        "annotations": {**(live["metadata"].get("annotations") or {}), RECORD: text or "{}"},
    }
    spec = live.get("spec") or {}
    return {
        **live,
        "metadata": metadata,
        "spec": {**spec, "resourceLimits": {**(spec.get("resourceLimits") or {}), "gpus": gpus}},
    }


def holds(live: KubeObject, pool: str) -> bool:
    """Return whether the limits let exactly this pool grow to its max, and nothing else."""
    own = [one for one in recorded(live).values() if pool in one["pools"]]
    return bool(own) and all(one["now"] == one["pools"][pool] for one in own)


def is_unused(live: KubeObject) -> bool:
    """Return whether this collection made the ClusterAutoscaler and nobody uses it.

    The API server records its defaults under the name of the client that created the object.
    """
    others = [
        entry
        for entry in live["metadata"].get("managedFields") or ()
        if entry["manager"] != MANAGER and "f:spec" in (entry.get("fieldsV1") or {})
    ]
    return owned(live) and not recorded(live) and not gpu_limits(live) and not others


def check(live: KubeObject, patch: KubeObject) -> None:
    """Raise AcceleratorError if another manager keeps limits that the patch would raise."""
    if "spec" not in patch or not limits_manager(live):
        return
    limits = ", ".join(
        f"{{type: {gpu['type']}, min: {gpu['min']}, max: {gpu['max']}}}"
        for gpu in patch["spec"]["resourceLimits"]["gpus"] or []
    )
    raise AcceleratorError(
        "MACH-AUTOSCALER-LIMITS", name=CLUSTER_AUTOSCALER, manager=limits_manager(live), limits=limits
    )


def warnings(live: KubeObject) -> list[str]:
    """Return a warning if the ClusterAutoscaler keeps idle nodes."""
    if ((live.get("spec") or {}).get("scaleDown") or {}).get("enabled"):
        return []
    return [
        f"This collection did not make the ClusterAutoscaler {CLUSTER_AUTOSCALER}, and its "
        "spec.scaleDown.enabled is not true: the autoscaler does not remove idle nodes."
    ]
