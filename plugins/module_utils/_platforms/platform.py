# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""A platform: every fact that its file states, and what a pool wants of its machines."""

from __future__ import annotations

import typing as t
from dataclasses import dataclass, field

from .._catalogue.types import InstanceType
from .._core.input import Field, Problems

Provider = t.Mapping[str, t.Any]
# all: size, GPUs and architecture of a machine. size: processors and memory.
Reports = t.Literal["all", "size", "nothing"]


@dataclass(frozen=True)
class Wanted:
    """One candidate in one zone (empty: the platform has none, or not asked for one yet).

    disk: size_gib, type, iops, throughput_mib. market: its type and fields. image: boots instead of the
    reference's. options: those of the platform's own key (C(aws), C(gcp)...), the candidate's over the
    pool's. patch: provider_spec_patch, RFC 7386. is_new: whether the machine set is still to be made. For
    checks alone: zones, all of the candidate's; kind: what is known of the instance type, None where
    nothing is.
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
        """The catalogue's type; None for a user's own, which does not say all that a platform checks."""
        return self.kind if self.kind and self.kind.as_of else None


@dataclass(frozen=True)
class Paths:
    """Where the user wrote what a check looks at, for its messages."""

    candidate: str
    market: str
    disk: str
    options: str
    patch: str = ""

    def of(self, field: str, option: str, patch: t.Mapping[str, t.Any]) -> str:
        """The option, or the field of the patch where that has the last word."""
        return f"{self.patch}.{field}" if field in patch else option


class Platform(t.Protocol):
    """What a platform's file states. provider: the value of a template's providerSpec.

    NAME: in the Infrastructure object. KEY: how a pool calls the platform, the key of its own options, and
    the catalogue's name of the cloud. OPTIONS: the platform's own. SHAPE: the known fields of the
    provider's value (see `shape`). ZONED: whether every machine set names a zone. OWN_TYPE: what an
    instance type is where no catalogue has them. HAS_TYPE_LABEL: whether nodes have their instance type as
    a label. IMAGE: the field that holds the boot image. NO_IMAGE: what to do instead where one word cannot
    name an image; empty where it can. CHOSEN: fields that are there only where a pool asks for them, with
    the option that does. REPORTS: what the platform's machine-set controller tells the autoscaler of a
    machine.
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
        """Return the zone of a machine set; empty where it has none."""

    def instance_type(self, provider: Provider) -> str:
        """Return the platform's name for the kind of machine; empty if the provider's value has none."""

    def check(self, wanted: Wanted, paths: Paths, problems: Problems) -> None:
        """Note what this platform cannot do, before any request."""

    def build(self, source: Provider, wanted: Wanted) -> dict[str, t.Any]:
        """Return a copy of the source's known fields, with what is wanted in its place.

        The boot image stays the source's unless one is wanted.
        """
