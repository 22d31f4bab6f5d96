# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""What a pool wants of a platform's machines."""

from __future__ import annotations

import typing as t
from dataclasses import dataclass, field

Data = dict[str, t.Any]


@dataclass(frozen=True)
class Wanted:
    """One candidate in one zone (empty: the platform has none, or not asked for one yet).

    disk: size_gib, type, iops, throughput_mib. market: its type and fields. image: boots instead of the reference's.
    options: those of the platform's own key (C(aws), C(gcp)...), the candidate's over the pool's. patch: provider_spec_patch, RFC 7386.
    """

    instance_type: str
    zone: str = ""
    disk: Data = field(default_factory=dict)
    market: Data = field(default_factory=lambda: {"type": "on_demand"})
    image: str = ""
    options: Data = field(default_factory=dict)
    patch: Data = field(default_factory=dict)


@dataclass(frozen=True)
class Paths:
    """Where the user wrote what a check looks at, for its messages."""

    candidate: str
    market: str
    disk: str
    options: str
