# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Instance profiles of IBM Cloud VPC; the name of a profile contains its vCPUs, GiB and GPUs."""

from __future__ import annotations

import typing as t

from openshift_sandbox.hardware.gpus import InstanceType, Sizes, instance_types

_FAMILIES: t.Final = {
    "CPU": Sizes(
        None,
        "amd64",
        {"bx2-4x16": (4, 16, 0), "bx2-8x32": (8, 32, 0), "bx2-16x64": (16, 64, 0), "bx3d-8x40": (8, 40, 0)},
    ),
    "V100": Sizes(
        "V100-PCIE",
        "amd64",
        {
            "gx2-8x64x1v100": (8, 64, 1),
            "gx2-16x128x1v100": (16, 128, 1),
            "gx2-16x128x2v100": (16, 128, 2),
            "gx2-32x256x2v100": (32, 256, 2),
        },
    ),
    "L4": Sizes(
        "L4",
        "amd64",
        {"gx3-16x80x1l4": (16, 80, 1), "gx3-32x160x2l4": (32, 160, 2), "gx3-64x320x4l4": (64, 320, 4)},
    ),
    "L40S": Sizes("L40S", "amd64", {"gx3-24x120x1l40s": (24, 120, 1), "gx3-48x240x2l40s": (48, 240, 2)}),
    "A100": Sizes(
        "A100-PCIE", "amd64", {"gx3d-24x120x1a100p": (24, 120, 1), "gx3d-48x240x2a100p": (48, 240, 2)}
    ),
    "H100": Sizes("H100", "amd64", {"gx3d-160x1792x8h100": (160, 1792, 8)}),
    "H200": Sizes("H200", "amd64", {"gx3d-160x1792x8h200": (160, 1792, 8)}),
    "B300": Sizes("B300", "amd64", {"gx4d-232x3840x8b300": (232, 3840, 8)}),
    "MI300X": Sizes("MI300X", "amd64", {"gx3d-208x1792x8mi300x": (208, 1792, 8)}),
}

TYPES: t.Final[dict[str, InstanceType]] = instance_types(_FAMILIES, joined="{size}")
