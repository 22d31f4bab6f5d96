# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Models of accelerators: memory, vendor and MIG profiles.

Source of the MIG profiles: "Supported MIG Profiles" in NVIDIA's MIG User Guide, and the configurations of GPU
operator 26.7.0, both as of MIG_AS_OF.
"""

from __future__ import annotations

import typing as t
from dataclasses import dataclass, field, replace

MIG_AS_OF: t.Final = "2026-08"
# The ends of profiles: with the media engines that one partition of a GPU can have, with all media engines of
# the GPU, with graphics, and with no media engine.
MEDIA, ALL_MEDIA, GRAPHICS, NO_MEDIA = "+me", "+me.all", "+gfx", "-me"


@dataclass(frozen=True)
class Profile:
    """One MIG profile. most: how many fit on an empty GPU. compute and memory: slices that one needs."""

    most: int
    compute: int
    memory: int


@dataclass(frozen=True)
class Gpu:
    """One model of accelerator. memory_gib: memory of one device as sold; 0 if no source has it.

    profiles: MIG profiles; the usual one of each fraction comes first. part: True for a share of a GPU,
    with the memory of the share.
    """

    model: str
    memory_gib: int
    vendor: str = "nvidia"
    profiles: t.Mapping[str, Profile] = field(default_factory=dict)
    part: bool = False

    @property
    def mig_capable(self) -> bool:
        return bool(self.profiles)


def _sevenths(*memory: int) -> dict[str, Profile]:
    """Return the MIG profiles of a GPU with seven compute slices (A100, H100 and later).

    memory: GB of a profile with one, two, four and eight memory slices.
    """
    one, two, half, whole = memory
    return {
        f"1g.{one}gb": Profile(7, 1, 1),
        f"1g.{two}gb": Profile(4, 1, 2),
        f"2g.{two}gb": Profile(3, 2, 2),
        f"3g.{half}gb": Profile(2, 3, 4),
        f"7g.{whole}gb": Profile(1, 7, 8),
        f"4g.{half}gb": Profile(1, 4, 4),
        f"1g.{one}gb{MEDIA}": Profile(1, 1, 1),
    }


def _quarters(one: int) -> dict[str, Profile]:
    return {
        f"1g.{one}gb": Profile(4, 1, 1),
        f"2g.{2 * one}gb": Profile(2, 2, 2),
        f"4g.{4 * one}gb": Profile(1, 4, 4),
    }


def _halves(one: int) -> dict[str, Profile]:
    return {f"1g.{one}gb": Profile(2, 1, 1), f"2g.{2 * one}gb": Profile(1, 2, 2)}


def _with_media(plain: t.Mapping[str, Profile], *names: str) -> dict[str, Profile]:
    """Return the profiles, and these with the media engines that one partition can have."""
    return {**plain, **{f"{name}{MEDIA}": replace(plain[name], most=1) for name in names}}


def _with_graphics(plain: t.Mapping[str, Profile]) -> dict[str, Profile]:
    """Return the profiles of a GPU with graphics; its parts can also have all media engines, or none."""
    whole = max(kind.compute for kind in plain.values())
    parts = {name: kind for name, kind in plain.items() if not name.endswith(MEDIA) and kind.compute < whole}
    return {
        **plain,
        **{f"{name}{GRAPHICS}": kind for name, kind in plain.items() if not name.endswith(MEDIA)},
        **{f"{name}{ALL_MEDIA}": replace(kind, most=1) for name, kind in parts.items()},
        **{f"{name}{NO_MEDIA}": kind for name, kind in parts.items()},
    }


GPUS: t.Final[dict[str, Gpu]] = {
    "V100-16": Gpu("V100", 16),
    "V100-32": Gpu("V100", 32),
    "P100": Gpu("P100", 16),
    "P4": Gpu("P4", 8),
    "M60": Gpu("M60", 8),
    "T4": Gpu("T4", 16),
    "T4G": Gpu("T4G", 16),
    "A10": Gpu("A10", 24),
    "A10G": Gpu("A10G", 24),
    "A30": Gpu("A30", 24, profiles=_with_media(_quarters(6), "1g.6gb", "2g.12gb")),
    "A100-40": Gpu("A100", 40, profiles=_sevenths(5, 10, 20, 40)),
    "A100-80": Gpu("A100", 80, profiles=_sevenths(10, 20, 40, 80)),
    "L4": Gpu("L4", 24),
    "L40S": Gpu("L40S", 48),
    "H100-80": Gpu("H100", 80, profiles=_sevenths(10, 20, 40, 80)),
    "H100-94": Gpu("H100-NVL", 94, profiles=_sevenths(12, 24, 47, 94)),
    "GH200-96": Gpu("GH200", 96, profiles=_sevenths(12, 24, 48, 96)),
    "GH200-144": Gpu("GH200", 144, profiles=_sevenths(18, 36, 72, 144)),
    "H200": Gpu("H200", 141, profiles=_sevenths(18, 35, 71, 141)),
    "B200": Gpu("B200", 180, profiles=_sevenths(23, 45, 90, 180)),
    "B300": Gpu("B300", 268, profiles=_sevenths(34, 67, 135, 269)),
    "GB200-185": Gpu("GB200", 185, profiles=_sevenths(23, 47, 93, 186)),
    "GB200-186": Gpu("GB200", 186, profiles=_sevenths(23, 47, 93, 186)),
    "GB200-189": Gpu("GB200", 189, profiles=_sevenths(24, 47, 95, 189)),
    "GB200-192": Gpu("GB200", 192, profiles=_sevenths(23, 47, 93, 186)),
    "GB300": Gpu("GB300", 278, profiles=_sevenths(35, 70, 139, 278)),
    "GB300-279": Gpu("GB300", 279, profiles=_sevenths(35, 70, 139, 278)),
    "GB300-288": Gpu("GB300", 288, profiles=_sevenths(35, 70, 139, 278)),
    "RTX-PRO-4500": Gpu("RTX-PRO-4500", 32, profiles=_with_graphics(_halves(16))),
    "RTX-PRO-5000": Gpu("RTX-PRO-5000", 48, profiles=_with_graphics(_with_media(_halves(24), "1g.24gb"))),
    "RTX-PRO-6000": Gpu("RTX-PRO-6000", 96, profiles=_with_graphics(_with_media(_quarters(24), "1g.24gb"))),
    # Shares of a GPU (vGPU), and a whole GPU that the cloud provides as a vGPU (RTX-PRO-6000-96). A node
    # cannot divide them with MIG.
    "A10-4": Gpu("A10", 4, part=True),
    "A10-8": Gpu("A10", 8, part=True),
    "A10-12": Gpu("A10", 12, part=True),
    "L4-3": Gpu("L4", 3, part=True),
    "L4-6": Gpu("L4", 6, part=True),
    "L4-12": Gpu("L4", 12, part=True),
    "RTX-PRO-6000-12": Gpu("RTX-PRO-6000", 12, part=True),
    "RTX-PRO-6000-24": Gpu("RTX-PRO-6000", 24, part=True),
    "RTX-PRO-6000-48": Gpu("RTX-PRO-6000", 48, part=True),
    "RTX-PRO-6000-96": Gpu("RTX-PRO-6000", 96),
    "V520": Gpu("V520", 8, "amd"),
    "MI25": Gpu("MI25", 16, "amd"),
    "MI25-2": Gpu("MI25", 2, "amd", part=True),
    "MI25-4": Gpu("MI25", 4, "amd", part=True),
    "MI25-8": Gpu("MI25", 8, "amd", part=True),
    "V620": Gpu("V620", 32, "amd"),
    "V620-8": Gpu("V620", 8, "amd", part=True),
    "V620-16": Gpu("V620", 16, "amd", part=True),
    "V710": Gpu("V710", 24, "amd"),
    "V710-4": Gpu("V710", 4, "amd", part=True),
    "V710-8": Gpu("V710", 8, "amd", part=True),
    "V710-12": Gpu("V710", 12, "amd", part=True),
    "MI300X": Gpu("MI300X", 192, "amd"),
    "MI355X": Gpu("MI355X", 288, "amd"),
    "GAUDI": Gpu("Gaudi", 32, "intel"),
    "GAUDI3": Gpu("Gaudi3", 128, "intel"),
    "AI100": Gpu("AI100", 0, "qualcomm"),
    "INFERENTIA": Gpu("Inferentia", 0, "aws"),
    "INFERENTIA2": Gpu("Inferentia2", 0, "aws"),
    "TRAINIUM": Gpu("Trainium", 0, "aws"),
    "TRAINIUM2": Gpu("Trainium2", 0, "aws"),
    "U250": Gpu("Alveo-U250", 64, "fpga"),
}
