# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""The tuning of a pool as one value: what the pool asks for, and what its profile advises."""

from __future__ import annotations

import typing as t

from .options import PLANNED, HugePages, Isolation, Tuning
from .profiles.model import Profile
from .profiles.shipped import SHIPPED
from .schema import Given

# Numbers of a pool's machines: fields of `Tuning` that the option does not have.
FACTS: t.Final = ("vcpus", "memory_gib", "numa_nodes", "threads_per_core")


def tuning(
    name: str, label: t.Mapping[str, str], given: Given, path: str, facts: t.Mapping[str, t.Any]
) -> Tuning:
    """Return the tuning of a pool. given: the checked option. facts: of its machines, without unknown ones.

    What the profile advises and what reboots nodes counts only with `reboot: planned`, and only where the
    pool does not say it itself: an empty list and false are said.
    """
    profile = SHIPPED.get(given.get("profile", ""))
    advised = _advised(profile) if profile and given.get("reboot") == PLANNED else {}
    asked = {**advised, **given}
    return Tuning(
        name=name,
        label=dict(label),
        path=path,
        profile=given.get("profile", ""),
        data=given.get("data", ""),
        sysctl=given.get("sysctl", {}),
        defer=given.get("defer", False),
        kernel_arguments=tuple(asked.get("kernel_arguments", ())),
        isolate=_isolation(asked.get("isolate")),
        huge_pages=tuple(HugePages(**pages) for pages in asked.get("huge_pages", ())),
        advised=tuple(key for key in advised if key not in given),
        topology=asked.get("topology", ""),
        vfio=tuple(asked.get("vfio", ())),
        **({"reboot": given["reboot"]} if "reboot" in given else {}),
        arch=facts.get("arch") or "",
        instance_type=facts.get("instance_type") or "",
        **{key: facts[key] for key in FACTS if facts.get(key) is not None},
    )


def left_out(tuning: Tuning) -> list[str]:
    """Return what the profile advises and the run does not do, because nodes would reboot."""
    profile = SHIPPED.get(tuning.profile)
    if profile is None or tuning.reboot == PLANNED:
        return []
    found = [
        f"kernel argument {one.text}" for one in profile.arguments if one.text not in tuning.kernel_arguments
    ]
    if profile.isolates and tuning.isolate is None:
        found.append("isolated CPUs")
    if profile.huge_pages and not tuning.huge_pages:
        found += [f"{count} huge pages of {size}" for size, count in profile.huge_pages]
    return found


def _advised(profile: Profile) -> Given:
    return {
        "kernel_arguments": [argument.text for argument in profile.arguments],
        "isolate": profile.isolates,
        "huge_pages": [{"size": size, "count": count} for size, count in profile.huge_pages],
    }


def _isolation(asked: t.Any) -> Isolation | None:
    if isinstance(asked, t.Mapping):
        return Isolation(**asked)
    return Isolation() if asked else None
