# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Machine types of Google Compute Engine, and the accelerators that may be attached to an N1."""

from __future__ import annotations

import typing as t

from openshift_sandbox.hardware.gpus import InstanceType, Sizes, instance_types

_FAMILIES: t.Final = {
    "n1-standard-": Sizes(
        None,
        "amd64",
        {
            "4": (4, 15, 0),
            "8": (8, 30, 0),
            "16": (16, 60, 0),
            "32": (32, 120, 0),
            "64": (64, 240, 0),
            "96": (96, 360, 0),
        },
    ),
    "n1-highmem-": Sizes(
        None,
        "amd64",
        {"4": (4, 26, 0), "8": (8, 52, 0), "16": (16, 104, 0), "32": (32, 208, 0), "64": (64, 416, 0)},
    ),
    "n2-standard-": Sizes(None, "amd64", {"4": (4, 16, 0), "8": (8, 32, 0), "16": (16, 64, 0)}),
    "t2a-standard-": Sizes(None, "arm64", {"4": (4, 16, 0), "8": (8, 32, 0)}),
    "a2-highgpu-": Sizes(
        "A100-40", "amd64", {"1g": (12, 85, 1), "2g": (24, 170, 2), "4g": (48, 340, 4), "8g": (96, 680, 8)}
    ),
    "a2-megagpu-": Sizes("A100-40", "amd64", {"16g": (96, 1360, 16)}),
    "a2-ultragpu-": Sizes(
        "A100-80", "amd64", {"1g": (12, 170, 1), "2g": (24, 340, 2), "4g": (48, 680, 4), "8g": (96, 1360, 8)}
    ),
    "a3-highgpu-": Sizes(
        "H100", "amd64", {"1g": (26, 234, 1), "2g": (52, 468, 2), "4g": (104, 936, 4), "8g": (208, 1872, 8)}
    ),
    "a3-edgegpu-": Sizes("H100", "amd64", {"8g": (208, 1872, 8)}),
    "a3-megagpu-": Sizes("H100", "amd64", {"8g": (208, 1872, 8)}),
    "a3-ultragpu-": Sizes("H200", "amd64", {"8g": (224, 2952, 8)}),
    "a4-highgpu-": Sizes("B200", "amd64", {"8g": (224, 3968, 8)}),
    "a4x-highgpu-": Sizes("GB200", "arm64", {"4g": (140, 884, 4)}),
    "g2-standard-": Sizes(
        "L4",
        "amd64",
        {
            "4": (4, 16, 1),
            "8": (8, 32, 1),
            "12": (12, 48, 1),
            "16": (16, 64, 1),
            "24": (24, 96, 2),
            "32": (32, 128, 1),
            "48": (48, 192, 4),
            "96": (96, 384, 8),
        },
    ),
    "g4-standard-": Sizes(
        "RTX6000",
        "amd64",
        {"48": (48, 180, 1), "96": (96, 360, 2), "192": (192, 720, 4), "384": (384, 1440, 8)},
    ),
}

TYPES: t.Final[dict[str, InstanceType]] = instance_types(_FAMILIES)

# Accelerator type of the API -> GPU: those for which the machine provider knows a quota.
ACCELERATORS: t.Final = {
    "nvidia-tesla-t4": ("T4", "NVIDIA_T4_GPUS"),
    "nvidia-tesla-v100": ("V100-16", "NVIDIA_V100_GPUS"),
    "nvidia-tesla-p100": ("P100", "NVIDIA_P100_GPUS"),
    "nvidia-tesla-p4": ("P4", "NVIDIA_P4_GPUS"),
    "nvidia-tesla-a100": ("A100-40", "NVIDIA_A100_GPUS"),
    "nvidia-a100-80gb": ("A100-80", "NVIDIA_A100_80GB_GPUS"),
    "nvidia-h100-80gb": ("H100", "NVIDIA_H100_GPUS"),
    "nvidia-h100-mega-80gb": ("H100", "NVIDIA_H100_GPUS"),
}


def description(machine_type: str, accelerator: str, count: int) -> str | None:
    """Return the hardware of an N1 with GPUs attached, as a text.

    None when type or accelerator is unknown.
    """
    base, known = TYPES.get(machine_type), ACCELERATORS.get(accelerator)
    return f"{base.vcpus}x{base.memory_gib}x{count}x{known[0]}" if base and known else None
