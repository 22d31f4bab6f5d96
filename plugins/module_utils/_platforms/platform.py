# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""What a pool wants of a platform's machines."""

from __future__ import annotations

import typing as t
from dataclasses import dataclass, field

from ansible_collections.accelerators.openshift.plugins.module_utils._catalogue.types import InstanceType


@dataclass(frozen=True)
class Wanted:
    """One candidate in one zone (empty: the platform has none, or not asked for one yet).

    disk: size_gib, type, iops, throughput_mib. market: its type and fields. image: boots instead of the reference's.
    options: those of the platform's own key (C(aws), C(gcp)...), the candidate's over the pool's. patch: provider_spec_patch, RFC 7386.
    is_new: whether the machine set is still to be made.
    For checks alone: zones, all of the candidate's; kind: what is known of the instance type, None where nothing is.
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
        """The type as the catalogue has it; what a user says of a type of his own does not say all that a platform can check."""
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
