# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Instance types from users: new types, or changed facts about a type of the catalogue."""

from __future__ import annotations

import re
import typing as t
from dataclasses import replace
from fractions import Fraction

from .._core.input import Field, Problems, read
from .._core.syntax import value_fault
from .gpus import GPUS, Gpu
from .instance_types import BUILT_IN, CLOUDS, FABRICS, Catalogue, InstanceType

Data = t.Mapping[str, t.Any]

# Platforms whose administrators define the flavors, templates or profiles.
OWN_CLOUDS: t.Final = ("baremetal", "vsphere", "openstack", "nutanix")
VENDORS: t.Final = tuple(dict.fromkeys(gpu.vendor for gpu in GPUS.values()))


def _share_fault(text: str) -> str:
    return (
        "" if text == "1" or re.fullmatch(r"1/([2-9]|[1-9]\d)", text) else "is no share of a GPU, such as 1/4"
    )


ENTRY: t.Final[dict[str, Field]] = {
    "platform": Field("text", required=True, choices=CLOUDS + OWN_CLOUDS),
    "instance_type": Field("text", required=True),
    "gpus": Field("integer", low=1, high=16),
    "gpu_model": Field("text", fault=value_fault),
    "gpu_memory_gib": Field("integer", low=1, high=4096),
    "gpu_share": Field("text", fault=_share_fault),
    "vendor": Field("text", choices=VENDORS),
    "driver": Field("text", choices=("datacenter", "grid")),
    "vcpus": Field("integer", low=1, high=4096),
    "memory_gib": Field("integer", low=1, high=131072),
    "arch": Field("text", choices=("amd64", "arm64")),
    "fabric": Field("text", choices=FABRICS),
    "rdma": Field("flag"),
    "nvlink": Field("flag"),
    "confidential": Field("flag"),
    "accelerator_type": Field("text"),
}
# Fields of an entry that a candidate of a pool accepts too.
FACTS: t.Final = (
    "gpus",
    "gpu_model",
    "gpu_memory_gib",
    "gpu_share",
    "vendor",
    "driver",
    "vcpus",
    "memory_gib",
    "arch",
)
_TAKEN_OVER: t.Final = (
    "gpus",
    "vcpus",
    "memory_gib",
    "arch",
    "fabric",
    "rdma",
    "nvlink",
    "confidential",
    "accelerator_type",
)


def extended(entries: t.Any, base: Catalogue = BUILT_IN, path: str = "catalogue") -> Catalogue:
    """Return the catalogue with the user's entries, which replace types with the same name.

    Raises InputError with the path of every problem.
    """
    problems = Problems()
    types = {cloud: dict(kinds) for cloud, kinds in base.types.items()}
    seen: set[tuple[str, str]] = set()
    for index, entry in enumerate(read(entries, Field("list", fields=ENTRY), path, problems)):
        where = f"{path}[{index}]"
        if problems.at(where):
            continue
        key = (entry["platform"], entry["instance_type"])
        if key in seen:
            name, remedy = f"{key[1]} of {key[0]}", "Describe it once."
            problems.add("POOL-DUPLICATE", f"{where}.instance_type", remedy=remedy, name=name)
        seen.add(key)
        kind = described(entry, base.find(*key), where, problems)
        if kind:
            types.setdefault(key[0], {})[kind.name] = kind
    problems.raise_if_any()
    return Catalogue(types)


def described(entry: Data, known: InstanceType | None, path: str, problems: Problems) -> InstanceType | None:
    """Return the type with the facts of an entry, or None after adding a problem.

    known: the catalogue's type, or None for a new type.
    """
    if known is None:
        for key in ("gpus", "gpu_model"):
            if key not in entry:
                also = " for a type that the catalogue does not have"
                problems.add("POOL-REQUIRED", f"{path}.{key}", also=also)
        if problems.at(path):
            return None
        known = InstanceType(
            entry["instance_type"], entry["platform"], 1, 0, 0, "amd64", Gpu(entry["gpu_model"], 0)
        )
    gpu = _gpu(entry, known, path, problems)
    if gpu is None:
        return None
    changes = {key: entry[key] for key in _TAKEN_OVER if key in entry}
    if "fabric" in entry and "rdma" not in entry:
        changes["rdma"] = entry["fabric"] != "efa"
    share = entry.get("gpu_share", known.share)
    grid = entry["driver"] == "grid" if "driver" in entry else known.grid or share != "1"
    return replace(known, gpu=gpu, share=share, grid=grid, as_of="", **changes)


def _gpu(entry: Data, known: InstanceType, path: str, problems: Problems) -> Gpu | None:
    """Return the GPU with this model, memory and share. Only a model of the catalogue has MIG profiles."""
    if not entry.keys() & {"gpu_model", "gpu_memory_gib", "gpu_share", "vendor"}:
        return known.gpu
    model = entry.get("gpu_model", known.gpu.model)
    share = Fraction(entry.get("gpu_share", known.share))
    wholes = [gpu for gpu in GPUS.values() if not gpu.part and gpu.model.lower() == model.lower()]
    sizes = sorted({gpu.memory_gib for gpu in wholes})
    if "gpu_memory_gib" in entry:
        memory = entry["gpu_memory_gib"]
    elif "gpu_model" not in entry and share == Fraction(known.share):
        memory = known.gpu.memory_gib
    elif len(sizes) > 1:
        listed = " or ".join(map(str, sizes))
        also = f", since {model} is sold with {listed} GiB"
        problems.add("POOL-REQUIRED", f"{path}.gpu_memory_gib", also=also)
        return None
    else:
        memory = int(sizes[0] * share) if sizes else 0
    whole = next((gpu for gpu in wholes if gpu.memory_gib == memory), None) if share == 1 else None
    found = whole or Gpu(
        wholes[0].model if wholes else model,
        memory,
        wholes[0].vendor if wholes else known.gpu.vendor,
        part=share != 1,
    )
    return (
        replace(found, vendor=entry["vendor"], profiles={})
        if entry.get("vendor", found.vendor) != found.vendor
        else found
    )
