# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""The worker machine set that a pool's set in a zone is copied from."""

from __future__ import annotations

import typing as t

from .._core.objects import KubeObject
from .._platforms.infrastructure import Infrastructure
from .._platforms.platform import Platform
from .._platforms.registry import OTHER, PLATFORMS, on
from .machine_set import arch_of, is_worker, name_of, provider_of
from .mirror import MachineError


def platform_of(infrastructure: Infrastructure) -> Platform:
    """Return the platform. Raise MachineError if its Machine API makes no machines."""
    if infrastructure.obstacle:
        raise no_machine_api(infrastructure.obstacle, infrastructure.instead)
    return on(PLATFORMS.get(infrastructure.platform, OTHER), infrastructure.failure_domains)


def no_machine_api(why: str, instead: str) -> MachineError:
    return MachineError("MACH-NO-API", f"This cluster has no Machine API to make nodes with: {why}.", instead)


def find(machine_sets: t.Iterable[KubeObject], platform: Platform, zone: str, name: str | None) -> KubeObject:
    """Return the set of this name, or the zone's first worker set. Raise MachineError."""
    sets = sorted(machine_sets, key=name_of)
    workers = [one for one in sets if is_worker(one)]
    if name:
        named = next((one for one in sets if name_of(one) == name), None)
        if named is not None and platform.zone(provider_of(named)) == zone:
            return named
        why = f"is in {_called(platform.zone(provider_of(named)))}" if named else "does not exist"
        trouble = _no_reference(
            f"The machine set {name}, given as reference, {why}; a set for {_called(zone)} is needed.",
            workers,
            platform,
        )
        fitting = [name_of(one) for one in workers if platform.zone(provider_of(one)) == zone]
        trouble.remedy = (
            f"Leave reference out, or name one of the zone: {', '.join(fitting)}."
            if fitting
            else trouble.remedy
        )
        raise trouble
    found = next((one for one in workers if platform.zone(provider_of(one)) == zone), None)
    if found is None:
        raise _no_reference(
            f"There is no worker machine set in {_called(zone)} to copy from.", workers, platform
        )
    return found


def _called(zone: str) -> str:
    return f"zone {zone}" if zone else "no zone (the candidate names none)"


def _no_reference(message: str, workers: t.Iterable[KubeObject], platform: Platform) -> MachineError:
    zones = sorted({platform.zone(provider_of(one)) for one in workers} - {""})
    return MachineError(
        "MACH-NO-REFERENCE",
        message,
        f"Use one of the zones that have one ({', '.join(zones)})."
        if zones
        else "Make a worker machine set first (it may have 0 replicas).",
        evidence=[
            f"worker machine set {name_of(one)}: zone {platform.zone(provider_of(one)) or 'unknown'}"
            for one in workers
        ],
    )


def check_arch(reference: KubeObject, instance_type: str, arch: str, image: str) -> None:
    """Raise MachineError if the reference's boot image is for another architecture."""
    has = arch_of(reference)
    if has and has != arch and not image:
        raise MachineError(
            "MACH-ARCH",
            f"{instance_type} is {arch}, but the image of the worker machine set {name_of(reference)} is "
            f"for {has}: the machines would never boot.",
            f"Set image to the {arch} RHCOS image of this region, or use an instance type that is {has}.",
        )
