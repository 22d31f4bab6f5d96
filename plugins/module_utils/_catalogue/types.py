# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""Instance types: their facts, and the reader of the catalogue's tables."""

from __future__ import annotations

import math
import typing as t
from dataclasses import dataclass, replace

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
            "cloud": self.cloud,
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
