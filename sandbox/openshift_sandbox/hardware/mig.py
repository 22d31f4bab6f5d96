# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How GPUs can be cut: the MIG profiles of each model, and which of them fit on one GPU together.

Compared with the ConfigMap of gpu-operator v26.7.0 (2026-08). The real hardware also has rules of place.
"""

from __future__ import annotations

import re
import typing as t
from dataclasses import dataclass

from openshift_sandbox.hardware.gpus import GPUS, Gpu

MEDIA: t.Final = "+me"
"""The end of a profile with the media engines, of which a GPU has one."""
ALL_MEDIA, GRAPHICS, NO_MEDIA = "+me.all", "+gfx", "-me"
"""The ends of profiles with all media engines, with graphics, and without a media engine."""
Devices = t.Mapping[str, int]
"""Profile -> number of devices on one GPU."""


@dataclass(frozen=True)
class Profile:
    """How many devices of a profile fit on an empty GPU, and the slices of compute and memory of one."""

    most: int
    compute: int
    memory: int


def _sevenths(*memory: int) -> dict[str, Profile]:
    """Return the profiles of a GPU with seven slices; memory: GB of 1, 2, 4 and 8 slices."""
    one, two, half, whole = memory
    return {
        f"1g.{one}gb": Profile(7, 1, 1),
        f"1g.{two}gb": Profile(4, 1, 2),
        f"2g.{two}gb": Profile(3, 2, 2),
        f"3g.{half}gb": Profile(2, 3, 4),
        f"4g.{half}gb": Profile(1, 4, 4),
        f"7g.{whole}gb": Profile(1, 7, 8),
        f"1g.{one}gb{MEDIA}": Profile(1, 1, 1),
    }


PROFILES: t.Final[dict[str, dict[str, Profile]]] = {
    "A100-40": _sevenths(5, 10, 20, 40),
    "A100-80": _sevenths(10, 20, 40, 80),
    "A100-PCIE": _sevenths(10, 20, 40, 80),
    "H100": _sevenths(10, 20, 40, 80),
    "H100-NVL": _sevenths(12, 24, 47, 94),
    "H200": _sevenths(18, 35, 71, 141),
    "B200": _sevenths(23, 45, 90, 180),
    "B300": _sevenths(34, 67, 135, 269),
    "GB200": _sevenths(23, 47, 93, 186),
    "RTX6000": {
        "1g.24gb": Profile(4, 1, 1),
        "2g.48gb": Profile(2, 2, 2),
        "4g.96gb": Profile(1, 4, 4),
        "1g.24gb+me": Profile(1, 1, 1),
        "1g.24gb+gfx": Profile(4, 1, 1),
        "2g.48gb+gfx": Profile(2, 2, 2),
        "4g.96gb+gfx": Profile(1, 4, 4),
        "1g.24gb+me.all": Profile(1, 1, 1),
        "2g.48gb+me.all": Profile(1, 2, 2),
        "1g.24gb-me": Profile(4, 1, 1),
        "2g.48gb-me": Profile(2, 2, 2),
    },
}


def profiles(gpu: Gpu) -> dict[str, Profile]:
    """Return the profiles of a model."""
    key = next((key for key, one in GPUS.items() if one == gpu), "")
    return PROFILES.get(key, {})


def misfit(gpu: Gpu, devices: Devices) -> str:
    """Return why these devices cannot be made on one empty GPU, or an empty text."""
    known = profiles(gpu)
    compute = memory = 0
    for name, count in devices.items():
        profile = known.get(name)
        if profile is None:
            return f"{gpu.name} has no profile {name}"
        if count > profile.most:
            return f"{count} of {name} do not fit on {gpu.name}"
        compute += count * profile.compute
        memory += count * profile.memory
    ends = [name for name in devices if name.endswith((MEDIA, ALL_MEDIA))]
    needing = [name for name in devices if not name.endswith((ALL_MEDIA, NO_MEDIA))]
    if len(ends) > 1 or (needing and any(name.endswith(ALL_MEDIA) for name in ends)):
        return f"{dict(devices)}: {gpu.name} has not enough media engines"
    slices = max((one.compute for one in known.values()), default=0)
    if compute > slices or memory > max((one.memory for one in known.values()), default=0):
        return f"{dict(devices)} do not fit on {gpu.name} together"
    return ""


def balanced(gpu: Gpu) -> dict[str, int]:
    """Return two small devices, one of twice and, if there is room, one of three times the compute."""
    sizes: dict[int, str] = {}
    for name, profile in profiles(gpu).items():
        sizes.setdefault(profile.compute, name)
    return {sizes[size]: count for size, count in ((1, 2), (2, 1), (3, 1)) if size in sizes}


def attributes(gpu: Gpu, name: str) -> dict[str, str]:
    """Return what GPU feature discovery says about a device; memory and engines are approximate."""
    size = re.split("[+-]", name)[0]
    slices, _dot, memory = size.partition("g.")
    count = int(slices)
    return {
        "memory": str(int(int(memory.removesuffix("gb")) * 1024 * 0.95)),
        "multiprocessors": str(count * (14 if gpu.family == "ampere" else 16)),
        "slices.gi": slices,
        "slices.ci": slices,
        "engines.copy": slices,
        "engines.decoder": str(count // 2),
        "engines.encoder": "0",
        "engines.jpeg": str(int(MEDIA in name)),
        "engines.ofa": str(int(MEDIA in name)),
    }
