# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Dynamic resource allocation: devices that ResourceSlices offer, and ResourceClaims that hold them."""

from __future__ import annotations

import typing as t

from .._catalogue.well_known import DRIVER_VERSION, GPU, GPU_CLASS, NVIDIA
from .._core.objects import KubeObject
from .labels import labels

GPU_DRIVER: t.Final = "gpu.nvidia.com"
API_VERSION: t.Final = "resource.k8s.io/v1"
# Name of the claim in the spec of a pod.
CLAIM_NAME: t.Final = "gpu"


class Offer(t.NamedTuple):
    """Devices of one node. complete: whether all slices that its pools announce exist."""

    devices: list[KubeObject]
    complete: bool


def offer(node: str, slices: t.Iterable[KubeObject], driver: str = GPU_DRIVER) -> Offer:
    """Return the devices that the driver's slices offer on the node, sorted by name."""
    pools: dict[str, list[KubeObject]] = {}
    for one in slices:
        spec = one["spec"]
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


def claims_in_use(claims: t.Iterable[KubeObject], driver: str = GPU_DRIVER, but: str = "") -> list[str]:
    """Return the claims of the driver's devices in use, as namespace/name, except in namespace `but`."""
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


def claim_spec(count: int, of: str = GPU_CLASS, selectors: t.Iterable[str] = ()) -> KubeObject:
    """Return the spec of a claim of `count` devices.

    of: name of the DeviceClass. selectors: CEL expressions that a device has to fulfil.
    """
    exactly: KubeObject = {"deviceClassName": of, "allocationMode": "ExactCount", "count": count}
    if expressions := [{"cel": {"expression": one}} for one in selectors]:
        exactly["selectors"] = expressions
    return {"devices": {"requests": [{"name": CLAIM_NAME, "exactly": exactly}]}}


def claim(prefix: str, namespace: str, count: int, of: str = GPU_CLASS) -> KubeObject:
    """Return a ResourceClaim for a dry run; real pods get their claims from a template."""
    return {
        "apiVersion": API_VERSION,
        "kind": "ResourceClaim",
        "metadata": {"generateName": prefix, "namespace": namespace},
        "spec": claim_spec(count, of),
    }


def offering(node: KubeObject, slices: t.Iterable[KubeObject]) -> KubeObject:
    """Return the node as a device plugin would present it: with the whole GPUs of its slices as allocatable.

    Incomplete slices offer nothing.
    """
    found = offer(node["metadata"]["name"], slices)
    devices = found.devices if found.complete else []
    status = node.get("status") or {}
    others = {
        name: amount
        for name, amount in (status.get("allocatable") or {}).items()
        if not name.startswith(NVIDIA)
    }
    offered = {name: str(number) for name, number in resources(devices).items() if name == GPU}
    driver = {DRIVER_VERSION: attribute(devices[0], "driverVersion")} if devices else {}
    return {
        **node,
        "metadata": {**node["metadata"], "labels": {**labels(node), **driver}},
        "status": {**status, "allocatable": {**others, **offered}},
    }


def users(one: KubeObject) -> list[str]:
    """Return the names of the pods that use a claim."""
    return [str(user["name"]) for user in (one.get("status") or {}).get("reservedFor") or []]
