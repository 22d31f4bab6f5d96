# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""The catalogue of all known instance types, and searches in it by the names that people write."""

from __future__ import annotations

import difflib
import re
import typing as t
from dataclasses import dataclass, replace

from . import aws, azure, gcp, ibm, oci
from .gpus import GPUS
from .types import InstanceType, marked, read_table

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
        """Return at most C(most) names that are similar to this one, the best first."""
        names: dict[str, str] = {}
        for kind in self.everything(cloud):
            names[kind.name.lower()] = kind.name
            if kind.cloud == "azure":
                names.setdefault(_bare(kind.name), kind.name)
        matches = difflib.get_close_matches(name.lower(), names, n=2 * most, cutoff=0.5)
        return list(dict.fromkeys(names[match] for match in matches))[:most]


def _bare(name: str) -> str:
    return name.lower().removeprefix("standard_")


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
