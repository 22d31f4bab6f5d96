# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Generations of NVIDIA's GPUs, from old to new, and the first driver branch of the newest one.

Source: "Supported NVIDIA Data Center GPUs and Systems" in the GPU operator's documentation, which also says
that Blackwell needs a driver of branch 570 or later; checked 2026-11-28.
"""

from __future__ import annotations

import typing as t

# Starts of the catalogue's models, and of the label nvidia.com/gpu.product without "NVIDIA-".
_STARTS: t.Final[dict[str, tuple[str, ...]]] = {
    "Maxwell": ("M10", "M40", "M60", "TESLA-M", "QUADRO-M"),
    "Pascal": ("P100", "P4", "P40", "TESLA-P", "QUADRO-P"),
    "Volta": ("V100", "TESLA-V100", "TITAN-V", "QUADRO-GV100"),
    "Turing": ("T4", "T4G", "TESLA-T4", "QUADRO-RTX", "TITAN-RTX", "GEFORCE-RTX-20"),
    "Ampere": ("A2", "A10", "A10G", "A16", "A30", "A40", "A100", "A100X", "A800", "RTX-A", "GEFORCE-RTX-30"),
    "Ada": ("L4", "L20", "L40", "L40S", "GEFORCE-RTX-40"),
    "Hopper": ("H20", "H100", "H200", "H800", "GH200"),
    "Blackwell": ("B100", "B200", "B300", "GB10", "GB200", "GB300", "RTX-PRO-", "GEFORCE-RTX-50"),
}
NAMES: t.Final = tuple(_STARTS)
_FIRST_BRANCH: t.Final = {"Blackwell": 570}


def of(model: str) -> str:
    """Return the generation of a GPU model, or "" if it is not known."""
    name = model.upper().replace(" ", "-").removeprefix("NVIDIA-")
    if "ADA" in name.split("-"):
        return "Ada"
    return next((one for one, starts in _STARTS.items() if any(_begins(name, start) for start in starts)), "")


def _begins(name: str, start: str) -> bool:
    """Return whether the name begins with the start, which is a whole model if it has no dash."""
    is_family = "-" in start
    return name.startswith(start) if is_family else name == start or name.startswith(f"{start}-")


def models(generation: str) -> tuple[str, ...]:
    """Return the starts of the generation's models."""
    return _STARTS[generation]


def too_new(branch: str, generation: str) -> bool:
    """Return whether the driver branch is older than the first with a driver for the generation."""
    return int(branch) < _FIRST_BRANCH.get(generation, 0)
