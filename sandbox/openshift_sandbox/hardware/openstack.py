# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Flavors of the simulated OpenStack.

Every real OpenStack has its own flavors; a GPU is an alias in the extra specs of a flavor.
"""

from __future__ import annotations

import typing as t

from openshift_sandbox.hardware.gpus import InstanceType, Sizes, instance_types

_FAMILIES: t.Final = {
    "m1.": Sizes(None, "amd64", {"large": (4, 16, 0), "xlarge": (8, 32, 0), "2xlarge": (16, 64, 0)}),
    "g1.t4.": Sizes("T4", "amd64", {"1": (8, 32, 1), "2": (16, 64, 2)}),
    "g1.a100.": Sizes("A100-PCIE", "amd64", {"1": (16, 120, 1), "2": (32, 240, 2), "4": (64, 480, 4)}),
    "g1.l40s.": Sizes("L40S", "amd64", {"1": (16, 128, 1), "4": (64, 512, 4)}),
}

TYPES: t.Final[dict[str, InstanceType]] = instance_types(_FAMILIES)
