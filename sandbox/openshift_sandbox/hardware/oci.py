# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Shapes of Oracle Cloud Infrastructure, where machines are made outside of the cluster."""

from __future__ import annotations

import typing as t

from openshift_sandbox.hardware.gpus import InstanceType, Sizes, instance_types

_FAMILIES: t.Final = {
    "VM.Standard.E5.": Sizes(None, "amd64", {"Flex": (8, 32, 0)}),
    "VM.GPU.A10.": Sizes("A10", "amd64", {"1": (30, 240, 1), "2": (60, 480, 2)}),
    "BM.GPU.A10.": Sizes("A10", "amd64", {"4": (128, 1024, 4)}),
    "BM.GPU.L40S.": Sizes("L40S", "amd64", {"4": (224, 1024, 4)}),
    "BM.GPU.H100.": Sizes("H100", "amd64", {"8": (224, 2048, 8)}),
}

TYPES: t.Final[dict[str, InstanceType]] = instance_types(_FAMILIES)
