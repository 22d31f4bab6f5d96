# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Pools that the autoscaler scales: their checks, the size of nodes to come, and the cluster's GPU limits."""

from __future__ import annotations

import typing as t

from .._catalogue.well_known import GPU
from .._core.input import Problems
from .._core.objects import KubeObject
from .._core.ownership import MANAGER
from .._platforms.platform import Reports
from .._platforms.registry import reports
from .geometry import renames
from .model import Candidate

# The name of the only ClusterAutoscaler of a cluster.
CLUSTER_AUTOSCALER: t.Final = "default"
# Key of a label or annotation -> the manager of the object.
_MANAGERS: t.Final = {
    "argocd.argoproj.io/tracking-id": "Argo CD",
    "argocd.argoproj.io/instance": "Argo CD",
    "kustomize.toolkit.fluxcd.io/name": "Flux",
    "helm.toolkit.fluxcd.io/name": "Flux",
    "meta.helm.sh/release-name": "Helm",
}
# Annotations of a machine set that describe a node which does not exist yet to the autoscaler.
PREFIX: t.Final = "capacity.cluster-autoscaler.kubernetes.io/"
CPU, MEMORY, GPUS, GPU_TYPE, LABELS = (
    f"{PREFIX}{name}" for name in ("cpu", "memory", "gpu-count", "gpu-type", "labels")
)
_MIB_OF_GIB: t.Final = 1024
# OpenShift's autoscaler uses only this resource for the GPUs of a node that does not exist yet. It ignores
# the annotation gpu-type.
BOOKED: t.Final = GPU
# A pool, or a part of it, as the user wrote it.
Description = dict[str, t.Any]


def check(
    pool: Description, path: str, problems: Problems, limits: t.Collection[str] | None, cloud: str | None
) -> None:
    """Add the problems of a pool with autoscale.

    limits: accelerator labels with a GPU limit; None if missing limits can be added or are not known.
    cloud: the catalogue's name of the platform.
    """
    scale = pool.get("autoscale") or {}
    if "min" not in scale or "max" not in scale:
        return
    _bounds(pool, scale, path, problems)
    if scale["min"] == 0:
        _from_zero(pool, path, problems, cloud)
    label = pool.get("accelerator") or next((one.accelerator for one in pool.get("resolved", [])), None)
    if limits is not None and label and label not in limits:
        problems.add(
            "POOL-ACCELERATOR",
            f"{path}.accelerator",
            label=label,
            known=", ".join(sorted(limits)) or "none yet",
        )


def _bounds(pool: Description, scale: t.Mapping[str, int], path: str, problems: Problems) -> None:
    """Add a problem for bounds that contradict each other or another option."""
    where = f"{path}.autoscale"
    if scale["min"] > scale["max"]:
        most = scale["max"]
        problems.add("POOL-TOO-MANY", f"{where}.min", value=scale["min"], limit=f"max {most}", most=most)
    if "min_replicas" in pool:
        remedy = "Remove min_replicas."
        problems.add("POOL-CONFLICT", f"{path}.min_replicas", remedy=remedy, other="autoscale, which has min")
    if pool.get("mixed"):
        also = ": the autoscaler would choose among the instance types by its own rules"
        remedy = "Make a pool for each instance type, or remove mixed."
        problems.add("POOL-CONFLICT", where, remedy=remedy, other="mixed", also=also)


def _from_zero(pool: Description, path: str, problems: Problems, cloud: str | None) -> None:
    """Add a problem for facts that the autoscaler needs about a node that does not exist yet."""
    where = f"{path}.autoscale.min"
    if not problems.at(f"{path}.sharing") and renames(pool.get("sharing") or {}):
        why, also = "this pool's are renamed or mixed", ", or use `sharing` that keeps the name"
        problems.add("POOL-AUTOSCALE-ZERO", where, booked=BOOKED, why=why, also=also)
    for index, candidate in enumerate(pool.get("resolved", [])):
        if candidate.vendor != "nvidia":
            why = f"those of {candidate.instance_type} have another name ({candidate.vendor})"
            problems.add("POOL-AUTOSCALE-ZERO", where, booked=BOOKED, why=why)
        elif missing := lacks_size(reports(cloud), candidate):
            problems.add(
                "POOL-SIZE",
                f"{path}.candidates[{index}].{missing[0]}",
                cloud=cloud,
                type=candidate.instance_type,
                keys=" and ".join(missing),
            )


def capacity_annotations(reports: Reports, candidate: Candidate) -> dict[str, str]:
    """Return the annotations for facts that the platform's controller does not write, or gets wrong.

    The keys are upstream's: the autoscaler prefers them, and no provider's controller writes them. Some
    controllers count devices of other vendors as NVIDIA's.
    """
    resource = BOOKED
    if candidate.vendor != "nvidia":
        resource = next((name for name in candidate.expected if "/" in name), BOOKED)
    # A node of shared GPUs offers more than it has: pods request shares.
    number = max(candidate.gpus_per_node, candidate.expected.get(BOOKED, 0))
    found = {GPUS: str(number), GPU_TYPE: resource}
    if reports == "all" and resource == BOOKED:
        return {} if number == candidate.gpus_per_node else found
    if reports != "all":
        found[LABELS] = f"kubernetes.io/arch={candidate.arch}"
    if reports != "size" and candidate.vcpus and candidate.memory_gib:
        memory = round(candidate.memory_gib * _MIB_OF_GIB)
        found |= {CPU: str(candidate.vcpus), MEMORY: f"{memory}Mi"}
    return found


def lacks_size(reports: Reports | None, candidate: Candidate) -> list[str]:
    """Return the missing keys of a candidate without which its machine set cannot scale up from 0.

    reports: None if the platform is not known.
    """
    if reports != "nothing":
        return []
    return [key for key in ("vcpus", "memory_gib") if not getattr(candidate, key)]


def gpu_limits(live: KubeObject) -> list[dict[str, t.Any]]:
    """Return the limits of a ClusterAutoscaler, each with type, min and max."""
    return list(((live.get("spec") or {}).get("resourceLimits") or {}).get("gpus") or [])


def limits_manager(live: KubeObject) -> str:
    """Return the other manager that would revert a change of the limits, or ""."""
    metadata = live["metadata"]
    marks = {**(metadata.get("labels") or {}), **(metadata.get("annotations") or {})}
    if named := next((name for key, name in _MANAGERS.items() if key in marks), ""):
        return named
    for entry in metadata.get("managedFields") or ():
        fields = (entry.get("fieldsV1") or {}).get("f:spec", {}).get("f:resourceLimits", {})
        if entry.get("operation") == "Apply" and entry.get("manager") != MANAGER and "f:gpus" in fields:
            return str(entry["manager"])
    return ""


def fixed_types(live: KubeObject | None) -> list[str] | None:
    """Return the types of the limits if another manager has them, or None if limits can be added."""
    return [one["type"] for one in gpu_limits(live)] if live is not None and limits_manager(live) else None
