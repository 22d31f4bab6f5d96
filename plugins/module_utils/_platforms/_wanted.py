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
    """disk: size_gib, type, iops, throughput_mib. market: its type and fields. image: boots instead of the reference's."""

    instance_type: str
    zone: str
    disk: Data = field(default_factory=dict)
    market: Data = field(default_factory=lambda: {"type": "on_demand"})
    image: str = ""
