# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""ResourceClaims: how pods claim GPUs under dynamic resource allocation, and which pods hold which GPUs."""

from __future__ import annotations

import typing as t

from .._catalogue.well_known import DRIVER_VERSION, GPU, GPU_CLASS, NVIDIA
from .._core.objects import KubeObject
from . import slices as node_slices
from .labels import labels

API_VERSION: t.Final = "resource.k8s.io/v1"
# Name of the claim in the spec of a pod.
NAME: t.Final = "gpu"


def spec(count: int, of: str = GPU_CLASS) -> KubeObject:
    """Return the spec of a claim of `count` devices. of: name of the DeviceClass."""
    return {
        "devices": {
            "requests": [
                {
                    "name": NAME,
                    "exactly": {"deviceClassName": of, "allocationMode": "ExactCount", "count": count},
                }
            ]
        }
    }


def claim(prefix: str, namespace: str, count: int, of: str = GPU_CLASS) -> KubeObject:
    """Return a ResourceClaim for a dry run; real pods get their claims from a template."""
    return {
        "apiVersion": API_VERSION,
        "kind": "ResourceClaim",
        "metadata": {"generateName": prefix, "namespace": namespace},
        "spec": spec(count, of),
    }


def template(name: str, namespace: str, labels: t.Mapping[str, str]) -> KubeObject:
    """Return the ResourceClaimTemplate that gives one GPU to each pod that names it.

    Kubernetes creates the claim, with these labels, together with the pod and deletes it when the pod has
    ended.
    """
    metadata = {"name": name, "namespace": namespace, "labels": dict(labels)}
    return {
        "apiVersion": API_VERSION,
        "kind": "ResourceClaimTemplate",
        "metadata": metadata,
        "spec": {"metadata": {"labels": dict(labels)}, "spec": spec(1)},
    }


def offering(node: KubeObject, slices: t.Iterable[KubeObject]) -> KubeObject:
    """Return the node as a device plugin would present it: with the whole GPUs of its slices as allocatable.

    Incomplete slices offer nothing.
    """
    offer = node_slices.offer(node["metadata"]["name"], slices)
    devices = offer.devices if offer.complete else []
    status = node.get("status") or {}
    others = {
        name: amount
        for name, amount in (status.get("allocatable") or {}).items()
        if not name.startswith(NVIDIA)
    }
    offered = {name: str(number) for name, number in node_slices.resources(devices).items() if name == GPU}
    driver = {DRIVER_VERSION: node_slices.attribute(devices[0], "driverVersion")} if devices else {}
    return {
        **node,
        "metadata": {**node["metadata"], "labels": {**labels(node), **driver}},
        "status": {**status, "allocatable": {**others, **offered}},
    }


def held(
    claims: t.Iterable[KubeObject], slices: t.Iterable[KubeObject]
) -> dict[str, dict[str, dict[str, int]]]:
    """Return node -> resource -> namespace/pod -> number of devices that the pod holds.

    Administrator access (monitoring, the operator's validator) does not count.
    """
    devices = {
        (spec["pool"]["name"], device["name"]): (spec["nodeName"], resource)
        for spec in (one["spec"] for one in slices)
        if spec.get("driver") == node_slices.GPU_DRIVER and spec.get("nodeName")
        for device in spec.get("devices") or []
        for resource in node_slices.resources([device])
    }
    found: dict[str, dict[str, dict[str, int]]] = {}
    for one in claims:
        for result in results(one):
            place = devices.get((result.get("pool"), result.get("device")))
            if place and result.get("driver") == node_slices.GPU_DRIVER and users(one):
                counts = found.setdefault(place[0], {}).setdefault(place[1], {})
                who = f"{one['metadata']['namespace']}/{users(one)[0]}"
                counts[who] = counts.get(who, 0) + 1
    return found


def results(one: KubeObject) -> list[KubeObject]:
    """Return the allocated devices of a claim without those of administrator access."""
    given = (((one.get("status") or {}).get("allocation") or {}).get("devices") or {}).get("results") or []
    return [result for result in given if not result.get("adminAccess")]


def users(one: KubeObject) -> list[str]:
    """Return the names of the pods that use a claim."""
    return [str(user["name"]) for user in (one.get("status") or {}).get("reservedFor") or []]


def asked(one: KubeObject) -> dict[str, int]:
    """Return DeviceClass -> number of devices that a quota counts for the claim.

    Alternatives and claims of all devices are not included.
    """
    found: dict[str, int] = {}
    for request in ((one.get("spec") or {}).get("devices") or {}).get("requests") or []:
        exactly = request.get("exactly") or {}
        if exactly.get("deviceClassName"):
            name = exactly["deviceClassName"]
            found[name] = found.get(name, 0) + int(exactly.get("count") or 1)
    return found
