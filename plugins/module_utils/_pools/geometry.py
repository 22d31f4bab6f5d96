# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""Geometry: the devices that a node should offer, given its GPUs and how they are shared."""

from __future__ import annotations

import typing as t
from dataclasses import dataclass

from .._catalogue.gpus import Gpu
from .._catalogue.well_known import GPU
from .._sharing import profile
from .model import JsonObject, Pool


class GeometryError(ValueError):
    """The GPU does not support this sharing. where: the wrong option below C(sharing)."""

    def __init__(self, where: str, message: str, remedy: str) -> None:
        super().__init__(message)
        self.where = where
        self.message = message
        self.remedy = remedy


@dataclass(frozen=True)
class Geometry:
    """The devices of a node. resources: as in its allocatable. layout: MIG profiles of a GPU, or empty."""

    resources: dict[str, int]
    layout: dict[str, int]


def geometry(instance_type: str, gpus: int, gpu: Gpu, sharing: t.Mapping[str, t.Any]) -> Geometry:
    """Return the geometry of one node. Raises GeometryError."""
    if "mig" in sharing:
        return _mig(instance_type, gpus, gpu, sharing["mig"])
    return Geometry({profile.resource(sharing): gpus * profile.replicas(sharing)}, {})


def counted(sharing: t.Mapping[str, t.Any]) -> str:
    """Return the resource by which a quota counts the devices of a pool; "" if they have several names."""
    mig = sharing.get("mig") or {}
    if mig.get("strategy") == "mixed" or "layout" in mig:
        return ""
    return profile.resource(sharing)


def renames(sharing: t.Mapping[str, t.Any]) -> bool:
    """Return True if pods must request another resource than nvidia.com/gpu."""
    return counted(sharing) != GPU


def _mig(instance_type: str, gpus: int, gpu: Gpu, mig: t.Mapping[str, t.Any]) -> Geometry:
    if not gpu.mig_capable:
        raise GeometryError(
            "mig",
            f"{instance_type} has {gpu.model} GPUs, which cannot be partitioned.",
            "Use time_slicing or mps, or an instance type with A100, H100 or later.",
        )
    layout = _layout(instance_type, gpu, mig)
    if mig.get("strategy") == "mixed" or "layout" in mig:
        return Geometry(
            {f"nvidia.com/mig-{profile}": gpus * count for profile, count in layout.items()}, layout
        )
    return Geometry({GPU: gpus * sum(layout.values())}, layout)


def _layout(instance_type: str, gpu: Gpu, mig: t.Mapping[str, t.Any]) -> dict[str, int]:
    if "slices" in mig:
        wanted = mig["slices"]
        match = next((name for name, profile in gpu.profiles.items() if profile.most == wanted), None)
        if match is None:
            counts = sorted({profile.most for profile in gpu.profiles.values()})
            raise GeometryError(
                "mig.slices",
                f"{gpu.model} of {instance_type} cannot be cut into {wanted} equal parts.",
                f"Possible: {', '.join(map(str, counts))}.",
            )
        return {match: wanted}
    if "layout" in mig:
        for name in mig["layout"]:
            _known(instance_type, gpu, name, f"mig.layout.{name}")
        _fits(gpu, mig["layout"], instance_type)
        return dict(mig["layout"])
    profile = mig["profile"]
    if isinstance(profile, t.Mapping):
        if instance_type not in profile:
            raise GeometryError(
                "mig.profile",
                f"no profile is given for the candidate {instance_type}.",
                f"Add {instance_type}: one of {', '.join(gpu.profiles)}.",
            )
        profile = profile[instance_type]
    _known(instance_type, gpu, profile, "mig.profile")
    return {profile: gpu.profiles[profile].most}


def _known(instance_type: str, gpu: Gpu, profile: str, where: str) -> None:
    if profile not in gpu.profiles:
        raise GeometryError(
            where,
            f"{gpu.model} {gpu.memory_gib} GB of {instance_type} has no MIG profile {profile!r}.",
            f"It has {', '.join(gpu.profiles)}; or give slices, a fraction that fits every candidate.",
        )


def _fits(gpu: Gpu, layout: t.Mapping[str, int], instance_type: str) -> None:
    compute = sum(gpu.profiles[name].compute * count for name, count in layout.items())
    memory = sum(gpu.profiles[name].memory * count for name, count in layout.items())
    all_compute = max(profile.compute for profile in gpu.profiles.values())
    all_memory = max(profile.memory for profile in gpu.profiles.values())
    too_many = [name for name, count in layout.items() if count > gpu.profiles[name].most]
    if too_many or compute > all_compute or memory > all_memory:
        text = ", ".join(f"{count} x {name}" for name, count in layout.items())
        raise GeometryError(
            "mig.layout",
            f"{text} does not fit on one {gpu.model} of {instance_type}: "
            f"it needs {compute} of {all_compute} compute and {memory} of {all_memory} memory slices.",
            "Use fewer or smaller partitions.",
        )


def inputs(pools: t.Iterable[Pool]) -> list[JsonObject]:
    """Return an entry for every pool, as gpu_sharing's option C(pools) takes it.

    A pool of whole GPUs is in the list too: what it had before has to go.
    """
    found = []
    for pool in pools:
        is_known = all(one.expected == pool.expected for one in pool.candidates)
        found.append(
            {
                "name": pool.name,
                "node_selector": dict(pool.node_selector),
                "sharing": dict(pool.sharing),
                "expected": dict(pool.expected) if pool.sharing and is_known else {},
            }
        )
    return found
