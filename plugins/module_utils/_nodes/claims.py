# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""ResourceClaims of pods, and nodes that offer devices by ResourceSlices."""

from __future__ import annotations

import typing as t

from .._catalogue.well_known import DRIVER_VERSION, GPU, GPU_CLASS, NVIDIA
from .._core.objects import KubeObject
from .dra import attribute, offer, resources
from .labels import labels

API_VERSION: t.Final = "resource.k8s.io/v1"
# Name of the claim in the spec of a pod.
CLAIM_NAME: t.Final = "gpu"


def claim_spec(count: int, of: str = GPU_CLASS, selectors: t.Iterable[str] = ()) -> KubeObject:
    """Return the spec of a claim of `count` devices.

    of: name of the DeviceClass. selectors: CEL expressions that a device has to fulfil.
    """
    exactly: KubeObject = {"deviceClassName": of, "allocationMode": "ExactCount", "count": count}
    if expressions := [{"cel": {"expression": selector}} for selector in selectors]:
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
