# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Dynamic resource allocation: devices that ResourceSlices offer, and ResourceClaims that hold them."""

from __future__ import annotations

import typing as t

from .._catalogue.well_known import GPU, NVIDIA
from .._core.objects import KubeObject, at

GPU_DRIVER: t.Final = "gpu.nvidia.com"


class Offer(t.NamedTuple):
    """Devices of one node. complete: whether all slices that its pools announce exist."""

    devices: list[KubeObject]
    complete: bool


def offer(node: str, slices: t.Iterable[KubeObject], driver: str = GPU_DRIVER) -> Offer:
    """Return the devices that the driver's slices offer on the node, sorted by name."""
    pools: dict[str, list[KubeObject]] = {}
    for resource_slice in slices:
        spec = resource_slice["spec"]
        if spec.get("driver") == driver and spec.get("nodeName") == node:
            pools.setdefault(spec["pool"]["name"], []).append(spec)
    devices, complete = list[KubeObject](), True
    for found in pools.values():
        newest = max(int(spec["pool"]["generation"]) for spec in found)
        current = [spec for spec in found if int(spec["pool"]["generation"]) == newest]
        complete = complete and len(current) == int(current[0]["pool"]["resourceSliceCount"])
        devices += [device for spec in current for device in spec.get("devices") or []]
    return Offer(sorted(devices, key=lambda device: str(device["name"])), complete)


def resources(devices: t.Iterable[KubeObject]) -> dict[str, int]:
    """Return resource -> number of devices, under the resource names of the device plugin."""
    found: dict[str, int] = {}
    for device in devices:
        kind = attribute(device, "type")
        name = (
            f"{NVIDIA}mig-{attribute(device, 'profile')}" if kind == "mig" else GPU if kind == "gpu" else ""
        )
        if name:
            found[name] = found.get(name, 0) + 1
    return found


def attribute(device: KubeObject, name: str) -> str:
    """Return the attribute's value as text; its name may carry the driver's domain."""
    attributes = device.get("attributes") or {}
    value = attributes.get(name) or attributes.get(f"{GPU_DRIVER}/{name}") or {}
    return str(next(iter(value.values()), ""))


def results(claim: KubeObject) -> list[KubeObject]:
    """Return the devices that the claim got, each with its driver and pool."""
    return at(claim, "status.allocation.devices.results") or []


def claims_in_use(claims: t.Iterable[KubeObject], driver: str = GPU_DRIVER, but: str = "") -> list[str]:
    """Return the claims of the driver's devices in use, as namespace/name, except in namespace `but`."""
    found = []
    for claim in claims:
        metadata, is_held = claim["metadata"], any(one.get("driver") == driver for one in results(claim))
        if metadata.get("namespace") != but and at(claim, "status.reservedFor") and is_held:
            found.append(f"{metadata['namespace']}/{metadata['name']}")
    return sorted(found)
