# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Instance types of EC2."""

from __future__ import annotations

import typing as t

from openshift_sandbox.hardware.gpus import InstanceType, Sizes, instance_types

_FAMILIES: t.Final = {
    "m5": Sizes(None, "amd64", {"xlarge": (4, 16, 0), "2xlarge": (8, 32, 0), "4xlarge": (16, 64, 0)}),
    "m6i": Sizes(
        None,
        "amd64",
        {"xlarge": (4, 16, 0), "2xlarge": (8, 32, 0), "4xlarge": (16, 64, 0), "8xlarge": (32, 128, 0)},
    ),
    "m6g": Sizes(None, "arm64", {"xlarge": (4, 16, 0), "2xlarge": (8, 32, 0), "4xlarge": (16, 64, 0)}),
    "p3": Sizes(
        "V100-16", "amd64", {"2xlarge": (8, 61, 1), "8xlarge": (32, 244, 4), "16xlarge": (64, 488, 8)}
    ),
    "p3dn": Sizes("V100-32", "amd64", {"24xlarge": (96, 768, 8)}),
    "p4d": Sizes("A100-40", "amd64", {"24xlarge": (96, 1152, 8)}),
    "p4de": Sizes("A100-80", "amd64", {"24xlarge": (96, 1152, 8)}),
    "p5": Sizes("H100", "amd64", {"4xlarge": (16, 256, 1), "48xlarge": (192, 2048, 8)}),
    "p5e": Sizes("H200", "amd64", {"48xlarge": (192, 2048, 8)}),
    "p5en": Sizes("H200", "amd64", {"48xlarge": (192, 2048, 8)}),
    "p6-b200": Sizes("B200", "amd64", {"48xlarge": (192, 2048, 8)}),
    "p6-b300": Sizes("B300", "amd64", {"48xlarge": (192, 4096, 8)}),
    "p6e-gb200": Sizes("GB200", "arm64", {"36xlarge": (144, 960, 4)}),
    "g4dn": Sizes(
        "T4",
        "amd64",
        {
            "xlarge": (4, 16, 1),
            "2xlarge": (8, 32, 1),
            "4xlarge": (16, 64, 1),
            "8xlarge": (32, 128, 1),
            "12xlarge": (48, 192, 4),
            "16xlarge": (64, 256, 1),
            "metal": (96, 384, 8),
        },
    ),
    "g5": Sizes(
        "A10G",
        "amd64",
        {
            "xlarge": (4, 16, 1),
            "2xlarge": (8, 32, 1),
            "4xlarge": (16, 64, 1),
            "8xlarge": (32, 128, 1),
            "12xlarge": (48, 192, 4),
            "16xlarge": (64, 256, 1),
            "24xlarge": (96, 384, 4),
            "48xlarge": (192, 768, 8),
        },
    ),
    "g5g": Sizes(
        "T4G",
        "arm64",
        {
            "xlarge": (4, 8, 1),
            "2xlarge": (8, 16, 1),
            "4xlarge": (16, 32, 1),
            "8xlarge": (32, 64, 1),
            "16xlarge": (64, 128, 2),
            "metal": (64, 128, 2),
        },
    ),
    "g6": Sizes(
        "L4",
        "amd64",
        {
            "xlarge": (4, 16, 1),
            "2xlarge": (8, 32, 1),
            "4xlarge": (16, 64, 1),
            "8xlarge": (32, 128, 1),
            "12xlarge": (48, 192, 4),
            "16xlarge": (64, 256, 1),
            "24xlarge": (96, 384, 4),
            "48xlarge": (192, 768, 8),
        },
    ),
    "gr6": Sizes("L4", "amd64", {"4xlarge": (16, 128, 1), "8xlarge": (32, 256, 1)}),
    "g6e": Sizes(
        "L40S",
        "amd64",
        {
            "xlarge": (4, 32, 1),
            "2xlarge": (8, 64, 1),
            "4xlarge": (16, 128, 1),
            "8xlarge": (32, 256, 1),
            "12xlarge": (48, 384, 4),
            "16xlarge": (64, 512, 1),
            "24xlarge": (96, 768, 4),
            "48xlarge": (192, 1536, 8),
        },
    ),
    "g7e": Sizes(
        "RTX6000",
        "amd64",
        {
            "2xlarge": (8, 64, 1),
            "4xlarge": (16, 128, 1),
            "8xlarge": (32, 256, 1),
            "12xlarge": (48, 512, 2),
            "24xlarge": (96, 1024, 4),
            "48xlarge": (192, 2048, 8),
        },
    ),
    "g4ad": Sizes(
        "V520",
        "amd64",
        {
            "xlarge": (4, 16, 1),
            "2xlarge": (8, 32, 1),
            "4xlarge": (16, 64, 1),
            "8xlarge": (32, 128, 2),
            "16xlarge": (64, 256, 4),
        },
    ),
    "dl1": Sizes("GAUDI", "amd64", {"24xlarge": (96, 768, 8)}),
}

TYPES: t.Final[dict[str, InstanceType]] = instance_types(_FAMILIES, "{family}.{size}")
