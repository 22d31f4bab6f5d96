# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""ResourceClaims: how pods ask for GPUs under dynamic resource allocation, and who holds which."""

from __future__ import annotations

import typing as t

from ansible_collections.accelerators.openshift.plugins.module_utils._catalogue.device_class import GPU_CLASS
from ansible_collections.accelerators.openshift.plugins.module_utils._catalogue.well_known import (
    DRIVER_VERSION,
    GPU,
    NVIDIA,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._nodes import (
    slices as node_slices,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._nodes.labels import labels

Data = dict[str, t.Any]

API_VERSION: t.Final = "resource.k8s.io/v1"
# How a pod calls its claim.
NAME: t.Final = "gpu"


def spec(count: int, of: str = GPU_CLASS) -> Data:
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


def claim(prefix: str, namespace: str, count: int, of: str = GPU_CLASS) -> Data:
    """For a dry run alone: pods that last get theirs from a template."""
    return {
        "apiVersion": API_VERSION,
        "kind": "ResourceClaim",
        "metadata": {"generateName": prefix, "namespace": namespace},
        "spec": spec(count, of),
    }


def template(name: str, namespace: str, labels: t.Mapping[str, str]) -> Data:
    """One GPU for each pod that names it; Kubernetes makes the claim with the pod, labelled so, and takes it away when the pod has ended."""
    metadata = {"name": name, "namespace": namespace, "labels": dict(labels)}
    return {
        "apiVersion": API_VERSION,
        "kind": "ResourceClaimTemplate",
        "metadata": metadata,
        "spec": {"metadata": {"labels": dict(labels)}, "spec": spec(1)},
    }


def offering(node: Data, slices: t.Iterable[Data]) -> Data:
    """The node as a device plugin would have it: the whole GPUs of its slices are allocatable. Slices that are not all there offer nothing."""
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


def held(claims: t.Iterable[Data], slices: t.Iterable[Data]) -> dict[str, dict[str, dict[str, int]]]:
    """Node to resource to who holds how many of it. Access of an administrator (monitoring, the operator's validator) takes nothing away."""
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


def results(one: Data) -> list[Data]:
    """The devices that a claim was given for itself alone."""
    given = (((one.get("status") or {}).get("allocation") or {}).get("devices") or {}).get("results") or []
    return [result for result in given if not result.get("adminAccess")]


def users(one: Data) -> list[str]:
    """The pods that use a claim."""
    return [str(user["name"]) for user in (one.get("status") or {}).get("reservedFor") or []]


def asked(one: Data) -> dict[str, int]:
    """How many devices of which class a claim counts for in a quota, but for alternatives and claims of all devices."""
    found: dict[str, int] = {}
    for request in ((one.get("spec") or {}).get("devices") or {}).get("requests") or []:
        exactly = request.get("exactly") or {}
        if exactly.get("deviceClassName"):
            name = exactly["deviceClassName"]
            found[name] = found.get(name, 0) + int(exactly.get("count") or 1)
    return found
