# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""GPU instance types: their facts, the tables of the clouds, and searches by the names that people write."""

from __future__ import annotations

import difflib
import math
import re
import typing as t
from dataclasses import dataclass, replace

from . import aws, azure, gcp, ibm, oci
from .gpus import GPUS, Gpu

FABRICS: t.Final = ("efa", "infiniband", "roce")


@dataclass(frozen=True)
class InstanceType:
    """One instance type of one cloud. vcpus and memory_gib are 0 if no source has them.

    gpu: one device as the machine sees it; a share of a GPU has the memory of the share. share: the share,
    such as C(1/6), or 1 for whole GPUs. grid: needs NVIDIA's vGPU guest driver. fabric: C(efa),
    C(infiniband), C(roce) or empty. rdma: the fabric supports RDMA. nvlink: None if not known.
    accelerator_type: GCP's name of the GPU. attachable: the GPUs are attached to a machine without GPUs.
    as_of: date of the newest source of the cloud's table, or empty for a type from the user.
    """

    name: str
    cloud: str
    gpus: int
    vcpus: int
    memory_gib: int
    arch: str
    gpu: Gpu
    share: str = "1"
    grid: bool = False
    fabric: str = ""
    rdma: bool = False
    nvlink: bool | None = None
    confidential: bool = False
    accelerator_type: str = ""
    attachable: bool = False
    as_of: str = ""

    @property
    def accelerator(self) -> str:
        """Return the value of the label cluster-api/accelerator; a resource name is not a valid value."""
        return f"{self.gpu.vendor}-{self.gpu.model.lower()}"

    @property
    def machine_type(self) -> str:
        """Return the provider's instance type: the name without attached GPUs."""
        return self.name.partition("+")[0]

    @property
    def gpu_memory_gib(self) -> int:
        """Return the memory of all GPUs together in GiB."""
        return self.gpus * self.gpu.memory_gib

    @property
    def driver(self) -> str:
        """Return NVIDIA's driver for the GPUs, C(grid) or C(datacenter), or "" for another vendor."""
        if self.gpu.vendor != "nvidia":
            return ""
        return "grid" if self.grid else "datacenter"

    @property
    def order(self) -> tuple[t.Any, ...]:
        """Return the sort key: NVIDIA first, then by model, small before big, unknown sizes last."""
        size = (self.gpu.memory_gib, self.gpus, self.vcpus or math.inf, self.memory_gib or math.inf)
        return (self.gpu.vendor != "nvidia", self.gpu.model, *size, self.cloud, self.name)

    def to_dict(self) -> dict[str, t.Any]:
        """Return the type as a JSON object, with None for unknown facts."""
        return {
            "instance_type": self.name,
            "platform": self.cloud,
            "gpus": self.gpus,
            "gpu_model": self.gpu.model,
            "gpu_memory_gib": self.gpu.memory_gib or None,
            "gpu_memory_total_gib": self.gpu_memory_gib or None,
            "gpu_share": self.share,
            "vendor": self.gpu.vendor,
            "driver": self.driver or None,
            "vcpus": self.vcpus or None,
            "memory_gib": self.memory_gib or None,
            "arch": self.arch,
            "mig_capable": self.gpu.mig_capable,
            "mig_profiles": list(self.gpu.profiles),
            "fabric": self.fabric or None,
            "rdma": self.rdma,
            "nvlink": self.nvlink if self.gpus > 1 else None,
            "confidential": self.confidential,
            "accelerator": self.accelerator,
            "accelerator_type": self.accelerator_type or None,
            "attachable": self.attachable,
            "as_of": self.as_of or None,
            "source": "catalogue" if self.as_of else "user",
        }


def read_table(cloud: str, table: str, as_of: str) -> dict[str, InstanceType]:
    """Return the types of a table by name. Each line is C(MODEL ARCH MARK...: TYPE=GPUS/VCPUS/GIB ...)."""
    types = {}
    for line in table.strip().splitlines():
        head, _colon, entries = line.partition(": ")
        model, arch, *marks = head.split()
        family = marked(InstanceType("", cloud, 1, 0, 0, arch, GPUS[model], as_of=as_of), marks)
        for entry in entries.split():
            name, _equals, figures = entry.rpartition("=")
            gpus, vcpus, memory = (0 if figure == "-" else int(figure) for figure in figures.split("/"))
            types[name] = replace(family, name=name, gpus=gpus, vcpus=vcpus, memory_gib=memory)
    return types


def marked(kind: InstanceType, marks: t.Iterable[str]) -> InstanceType:
    """Return the type with the facts of a table's marks."""
    for mark in marks:
        key, _equals, value = mark.partition("=")
        kind = replace(kind, **_MARKS[key](value))
    return kind


_MARKS: t.Final[dict[str, t.Callable[[str], dict[str, t.Any]]]] = {
    "-": lambda _value: {},
    "nvlink": lambda _value: {"nvlink": True},
    "pcie": lambda _value: {"nvlink": False},
    "efa": lambda _value: {"fabric": "efa"},
    "efa+rdma": lambda _value: {"fabric": "efa", "rdma": True},
    "infiniband": lambda _value: {"fabric": "infiniband", "rdma": True},
    "roce": lambda _value: {"fabric": "roce", "rdma": True},
    "confidential": lambda _value: {"confidential": True},
    "grid": lambda _value: {"grid": True},
    "share": lambda value: {"share": value},
    "type": lambda value: {"accelerator_type": value},
}


_TABLES: t.Final = {"aws": aws, "azure": azure, "gcp": gcp, "ibm": ibm, "oci": oci}
CLOUDS: t.Final = tuple(_TABLES)
AS_OF: t.Final = {cloud: table.AS_OF for cloud, table in _TABLES.items()}
# GCP's variants without local disks differ from the plain types in no field of the catalogue.
_PLAIN: t.Final = "-nolssd"
# The name of an N1 machine contains its vCPUs.
_N1: t.Final = re.compile(r"n1-(?:standard|highmem|highcpu)-(\d+)|n1-custom-(\d+)-\d+|custom-(\d+)-\d+")


@dataclass(frozen=True)
class Catalogue:
    """All known instance types. types: cloud to name to type; C(overrides) adds the types of users."""

    types: t.Mapping[str, t.Mapping[str, InstanceType]]

    def find(self, cloud: str, name: str) -> InstanceType | None:
        """Return the type with this name on this cloud, or None if it is unknown.

        Azure's names match in any case and without C(Standard_); the result has the name that Azure
        accepts. On GCP, C(n1-standard-8+nvidia-tesla-t4:2) is an N1 machine with two T4 attached.
        """
        types = self.types.get(cloud, {})
        if name in types:
            return types[name]
        if cloud == "azure":
            bare = _bare(name)
            return next((kind for key, kind in types.items() if _bare(key) == bare), None)
        if cloud == "gcp" and "+" in name:
            machine, _plus, gpus = name.partition("+")
            accelerator, _colon, count = gpus.partition(":")
            return self.attached(machine, accelerator, int(count)) if count.isdigit() else None
        if cloud == "gcp" and name.endswith(_PLAIN):
            plain = types.get(name.removesuffix(_PLAIN))
            return replace(plain, name=name) if plain else None
        return None

    def attached(self, machine: str, accelerator: str, count: int) -> InstanceType | None:
        """Return GCP's N1 machine with this number of GPUs of this type, or None if GCP does not offer it."""
        size = _N1.fullmatch(machine)
        kind = self.types.get("gcp", {}).get(f"n1-*+{accelerator}:{count}")
        if not kind or not (size or machine == "n1-*"):
            return None
        vcpus = next((int(number) for number in size.groups() if number), 0) if size else 0
        return replace(kind, name=f"{machine}+{accelerator}:{count}", vcpus=vcpus)

    def everything(self, cloud: str | None = None) -> list[InstanceType]:
        """Return all types of one cloud, or of all clouds, in the catalogue's order."""
        return [
            kind for name, types in self.types.items() if cloud in (None, name) for kind in types.values()
        ]

    def clouds_with(self, name: str) -> list[str]:
        """Return the clouds that have a type with this name."""
        return [cloud for cloud in self.types if self.find(cloud, name)]

    def nearest(self, name: str, cloud: str | None = None, most: int = 3) -> list[str]:
        """Return at most C(most) names that are similar to this one, the best first.

        A wrong size of a known family gets only types of the family: they have the same GPU.
        """
        kinds = self.everything(cloud)
        family = [kind for kind in kinds if _family(kind.name) == _family(name)]
        names: dict[str, str] = {}
        for kind in family or kinds:
            names[kind.name.lower()] = kind.name
            if kind.cloud == "azure":
                names.setdefault(_bare(kind.name), kind.name)
        cutoff = 0 if family else 0.5
        matches = difflib.get_close_matches(name.lower(), names, n=2 * most, cutoff=cutoff)
        return list(dict.fromkeys(names[match] for match in matches))[:most]


def _bare(name: str) -> str:
    return name.lower().removeprefix("standard_")


def _family(name: str) -> str:
    """Return the name without its size: C(g5) of g5.xlarge, C(ncads_a100_v4) of Standard_NC24ads_A100_v4."""
    bare = _bare(name)
    return re.sub(r"\d+", "", bare, count=1) if "_" in bare else re.sub(r"[.-][^.-]*$", "", bare)


def _attachables() -> dict[str, InstanceType]:
    """Return a type for each number of GPUs that an N1 machine can have, named C(n1-*+TYPE:NUMBER)."""
    types = {}
    for line in gcp.ATTACHABLE.strip().splitlines():
        accelerator, model, mark, *counts = line.split()
        for count in counts:
            name = f"n1-*+{accelerator}:{count}"
            kind = InstanceType(
                name,
                "gcp",
                int(count),
                0,
                0,
                "amd64",
                GPUS[model],
                accelerator_type=accelerator,
                attachable=True,
                as_of=gcp.AS_OF,
            )
            types[name] = marked(kind, [mark])
    return types


def _built_in() -> Catalogue:
    types = {cloud: read_table(cloud, table.TABLE, table.AS_OF) for cloud, table in _TABLES.items()}
    types["gcp"].update(_attachables())
    return Catalogue(types)


BUILT_IN: t.Final = _built_in()


find: t.Final = BUILT_IN.find
attached: t.Final = BUILT_IN.attached
everything: t.Final = BUILT_IN.everything
clouds_with: t.Final = BUILT_IN.clouds_with
nearest: t.Final = BUILT_IN.nearest
