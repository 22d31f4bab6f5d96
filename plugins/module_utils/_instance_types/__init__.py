# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""The catalogue of GPU instance types, every cloud; known offline."""

from __future__ import annotations

import difflib
import re
import typing as t
from dataclasses import dataclass

from ansible_collections.accelerators.openshift.plugins.module_utils._instance_types import _aws, _azure, _gcp, _ibm, _oci
from ansible_collections.accelerators.openshift.plugins.module_utils._instance_types._gpus import GPUS, Gpu

_TABLES: t.Final = {"aws": _aws.TABLE, "azure": _azure.TABLE, "gcp": _gcp.TABLE, "ibm": _ibm.TABLE, "oci": _oci.TABLE}
CLOUDS: t.Final = tuple(_TABLES)


@dataclass(frozen=True)
class InstanceType:
    """vcpus and memory_gib are 0 where the provider's figure is not in the catalogue."""

    name: str
    cloud: str
    gpus: int
    vcpus: int
    memory_gib: int
    arch: str
    gpu: Gpu

    @property
    def accelerator(self) -> str:
        """Value of the label cluster-api/accelerator; a resource name would not be a legal one."""
        return f"{self.gpu.vendor}-{self.gpu.model.lower()}"

    def to_dict(self) -> dict[str, t.Any]:
        return {
            "instance_type": self.name,
            "cloud": self.cloud,
            "gpus": self.gpus,
            "gpu_model": self.gpu.model,
            "gpu_memory_gib": self.gpu.memory_gib,
            "vendor": self.gpu.vendor,
            "vcpus": self.vcpus or None,
            "memory_gib": self.memory_gib or None,
            "arch": self.arch,
            "mig_capable": self.gpu.mig_capable,
            "mig_profiles": list(self.gpu.profiles),
            "accelerator": self.accelerator,
        }


def _number(text: str) -> int:
    return 0 if text == "-" else int(text)


def _read(cloud: str, table: str) -> dict[str, InstanceType]:
    types = {}
    for line in table.strip().splitlines():
        head, _colon, entries = line.partition(": ")
        model, arch = head.split()
        for entry in entries.split():
            name, _equals, figures = entry.rpartition("=")
            gpus, vcpus, memory = (_number(figure) for figure in figures.split("/"))
            types[name] = InstanceType(name, cloud, gpus, vcpus, memory, arch, GPUS[model])
    return types


_TYPES: t.Final = {cloud: _read(cloud, table) for cloud, table in _TABLES.items()}


def find(cloud: str, name: str) -> InstanceType | None:
    """The type of that name on that cloud, or None when the catalogue does not have it."""
    return _TYPES.get(cloud, {}).get(re.sub(r"^n1-[^+]+", "n1-*", name) if cloud == "gcp" else name)


def everything(cloud: str | None = None) -> list[InstanceType]:
    """All types, of one cloud or of all, in the catalogue's order."""
    return [entry for name, types in _TYPES.items() if cloud in (None, name) for entry in types.values()]


def clouds_with(name: str) -> list[str]:
    """Where a type of that name exists."""
    return [cloud for cloud in CLOUDS if find(cloud, name)]


def nearest(name: str, cloud: str | None = None, most: int = 3) -> list[str]:
    """Names that look like this one, best first."""
    names = {entry.name.lower(): entry.name for entry in everything(cloud)}
    return [names[match] for match in difflib.get_close_matches(name.lower(), names, n=most, cutoff=0.5)]
