# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""The protocol of a platform, and the machine that a pool wants from it."""

from __future__ import annotations

import typing as t
from dataclasses import dataclass, field

from .._catalogue.instance_types import InstanceType
from .._core.input import Field, Problems

Provider = t.Mapping[str, t.Any]
# all: processors, memory, GPUs and architecture of a machine. size: processors and memory.
Reports = t.Literal["all", "size", "nothing"]


@dataclass(frozen=True)
class Wanted:
    """A machine of one candidate in one zone. zone: empty if there is none or it is not chosen yet.

    disk: size_gib, type, iops, throughput_mib. market: its type and fields. image: replaces the reference's.
    options: the candidate's, merged into the pool's, of the platform's key (C(aws), C(gcp)...). patch:
    provider_spec_patch, RFC 7386. is_new: the machine set does not exist yet. Only for checks: zones, all
    of the candidate's; kind: the instance type, None if unknown.
    """

    instance_type: str
    zone: str = ""
    disk: t.Mapping[str, t.Any] = field(default_factory=dict)
    market: t.Mapping[str, t.Any] = field(default_factory=lambda: {"type": "on_demand"})
    image: str = ""
    options: t.Mapping[str, t.Any] = field(default_factory=dict)
    patch: t.Mapping[str, t.Any] = field(default_factory=dict)
    is_new: bool = True
    zones: tuple[str, ...] = ()
    kind: InstanceType | None = None

    @property
    def known(self) -> InstanceType | None:
        """Return the catalogue's type, or None for a user's type, which lacks facts that checks need."""
        return self.kind if self.kind and self.kind.as_of else None


@dataclass(frozen=True)
class Paths:
    """The paths of the user's options, for the messages of checks."""

    candidate: str
    market: str
    disk: str
    options: str
    patch: str = ""

    def of(self, field: str, option: str, patch: t.Mapping[str, t.Any]) -> str:
        """Return the path of the field in the patch if the patch sets it, else the option."""
        return f"{self.patch}.{field}" if field in patch else option


class Platform(t.Protocol):
    """The facts and functions of a platform. provider: the value of a template's providerSpec.

    NAME: in the Infrastructure object. KEY: the key of the platform's options in a pool, and the catalogue's
    name of the cloud. OPTIONS: the platform's own. SHAPE: the known fields of the provider's value (see
    `shape`). ZONED: every machine set has a zone. OWN_TYPE: the meaning of instance_type if the catalogue
    lacks the cloud. HAS_TYPE_LABEL: nodes have their instance type as a label. IMAGE: the field of the boot
    image. NO_IMAGE: the remedy if a text cannot name an image, or empty. CHOSEN: field that only an option
    sets -> the option. REPORTS: facts of a machine that the machine-set controller gives the autoscaler.
    """

    NAME: str
    KEY: str
    OPTIONS: t.Mapping[str, Field]
    SHAPE: dict[str, t.Any]
    ZONED: bool
    OWN_TYPE: str
    HAS_TYPE_LABEL: bool
    IMAGE: str
    NO_IMAGE: str
    CHOSEN: t.Mapping[str, str]
    REPORTS: Reports

    def zone(self, provider: Provider) -> str:
        """Return the zone of a machine set, or "" if it has none."""

    def instance_type(self, provider: Provider) -> str:
        """Return the instance type in the provider's value, or "" if it has none."""

    def check(self, wanted: Wanted, paths: Paths, problems: Problems) -> None:
        """Add a problem for each thing that this platform does not support. Send no request."""

    def build(self, source: Provider, wanted: Wanted) -> dict[str, t.Any]:
        """Return a copy of the source's known fields with the wanted machine's values.

        Keep the source's boot image unless `wanted` has one.
        """
