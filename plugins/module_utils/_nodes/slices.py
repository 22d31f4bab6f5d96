# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""ResourceSlices: which devices a DRA driver offers on a node. A pool counts only when all of its slices are of the newest generation."""

from __future__ import annotations

import typing as t

from ansible_collections.accelerators.openshift.plugins.module_utils._catalogue.well_known import GPU, NVIDIA

Data = dict[str, t.Any]

GPU_DRIVER: t.Final = "gpu.nvidia.com"


class Offer(t.NamedTuple):
    """What one node offers. complete: every slice that its pools announce is there."""

    devices: list[Data]
    complete: bool


def offer(node: str, slices: t.Iterable[Data], driver: str = GPU_DRIVER) -> Offer:
    pools: dict[str, list[Data]] = {}
    for one in slices:
        spec = one["spec"]
        if spec.get("driver") == driver and spec.get("nodeName") == node:
            pools.setdefault(spec["pool"]["name"], []).append(spec)
    devices, complete = list[Data](), True
    for found in pools.values():
        newest = max(int(spec["pool"]["generation"]) for spec in found)
        current = [spec for spec in found if int(spec["pool"]["generation"]) == newest]
        complete = complete and len(current) == int(current[0]["pool"]["resourceSliceCount"])
        devices += [device for spec in current for device in spec.get("devices") or []]
    return Offer(sorted(devices, key=lambda device: str(device["name"])), complete)


def resources(devices: t.Iterable[Data]) -> dict[str, int]:
    """Devices by the names that the device plugin would give them, so that both stacks are held to the same expectation."""
    found: dict[str, int] = {}
    for device in devices:
        kind = attribute(device, "type")
        name = (
            f"{NVIDIA}mig-{attribute(device, 'profile')}" if kind == "mig" else GPU if kind == "gpu" else ""
        )
        if name:
            found[name] = found.get(name, 0) + 1
    return found


def attribute(device: Data, name: str) -> str:
    """Its value as text; attributes are typed, and their names may carry the driver's domain."""
    attributes = device.get("attributes") or {}
    value = attributes.get(name) or attributes.get(f"{GPU_DRIVER}/{name}") or {}
    return str(next(iter(value.values()), ""))


def held(claims: t.Iterable[Data], driver: str = GPU_DRIVER, but: str = "") -> list[str]:
    """Claims on the driver's devices that somebody uses, as namespace/name; but: a namespace that does not count."""
    found = []
    for claim in claims:
        metadata, status = claim["metadata"], claim.get("status") or {}
        results = ((status.get("allocation") or {}).get("devices") or {}).get("results") or []
        if (
            metadata.get("namespace") != but
            and status.get("reservedFor")
            and any(one.get("driver") == driver for one in results)
        ):
            found.append(f"{metadata['namespace']}/{metadata['name']}")
    return sorted(found)
