# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Devices of a live node: resources, driver version and sharing."""

from __future__ import annotations

import typing as t

from .._catalogue.well_known import DRIVER_VERSION, GPU, GPU_COUNT, GPU_PRESENT, GPU_REPLICAS, VENDORS
from .._core.ownership import pool_of
from .labels import has_nvidia_pci, labels

_DRIVER_PARTS: t.Final = (
    "nvidia.com/cuda.driver.major",
    "nvidia.com/cuda.driver.minor",
    "nvidia.com/cuda.driver.rev",
)
# Resources of accelerators beside those of the known vendors of GPUs.
_ACCELERATORS: t.Final = (*VENDORS, "habana.ai/")
# Extended resources that are no device: parts of Kubernetes, processors of a workload partition, what every
# virtual machine asks for, bridges of the node, and addresses of pods on AWS.
_PARTS: t.Final = ("kubernetes.io", "workload.openshift.io", "devices.kubevirt.io", "network.kubevirt.io")
_ADDRESSES: t.Final = "vpc.amazonaws.com/"
_EFA: t.Final = f"{_ADDRESSES}efa"


def is_gpu(resource: str) -> bool:
    """Return True for a resource of a GPU or of another accelerator."""
    return resource.startswith(_ACCELERATORS)


def is_device(resource: str) -> bool:
    """Return True for a resource of which a node has few: GPUs, RDMA devices, virtual functions and the like.

    Whoever configures a device plugin chooses the domain, so each extended resource counts that is not known
    to be something else.
    """
    domain, slash, _name = resource.partition("/")
    if not slash or any(domain == one or domain.endswith(f".{one}") for one in _PARTS):
        return False
    return not resource.startswith(_ADDRESSES) or resource == _EFA


def count(quantity: t.Any) -> int:
    """Return the number in a quantity of an extended resource, which is text; 0 if it is no number."""
    try:
        return int(str(quantity))
    except ValueError:
        return 0


def resources(node: dict[str, t.Any]) -> dict[str, int]:
    """Return the allocatable device resources of the node with their numbers, without those of 0."""
    return _resources(node, "allocatable")


def _resources(node: dict[str, t.Any], field: str) -> dict[str, int]:
    numbers = node.get("status", {}).get(field) or {}
    found = {name: count(value) for name, value in numbers.items() if name.startswith(VENDORS)}
    return {name: number for name, number in sorted(found.items()) if number > 0}


def is_gpu_node(node: dict[str, t.Any]) -> bool:
    """Return whether the node belongs to a pool, has a GPU label or offers GPUs."""
    marks = labels(node)
    return (
        bool(pool_of(node))
        or has_nvidia_pci(marks)
        or marks.get(GPU_PRESENT) == "true"
        or bool(resources(node))
    )


def offered(node: dict[str, t.Any], resource: str) -> int:
    """Return the allocatable number of one resource."""
    return count((node.get("status", {}).get("allocatable") or {}).get(resource, 0))


def short(node: dict[str, t.Any], wanted: t.Mapping[str, int]) -> list[str]:
    """Return `RESOURCE 1 of 2` for each resource of which the node offers another number."""
    offers = {one: offered(node, one) for one in wanted}
    return [f"{one} {offers[one]} of {number}" for one, number in wanted.items() if offers[one] != number]


def driver_version(node: dict[str, t.Any]) -> str:
    """Return the driver version from the labels of GPU feature discovery, or an empty text.

    Releases before v0.16 split it into three labels.
    """
    marks = labels(node)
    parts = [marks[key] for key in _DRIVER_PARTS if marks.get(key)]
    return marks.get(DRIVER_VERSION) or ".".join(parts)


def product(node: dict[str, t.Any]) -> str:
    """Return the GPU model from the label of GPU feature discovery, or an empty text."""
    return labels(node).get("nvidia.com/gpu.product", "")


def is_shared(node: dict[str, t.Any]) -> bool:
    """Return True if several pods can get the same device on this node."""
    marks = labels(node)
    return (
        any(key.endswith(".sharing-strategy") and value not in ("", "none") for key, value in marks.items())
        or count(marks.get(GPU_REPLICAS, 1)) > 1
        or any(name.endswith(".shared") for name in resources(node))
    )


def reading_again(node: dict[str, t.Any]) -> str:
    """Return the remedy after which the node offers its devices as its profile says now."""
    apps = "nvidia-device-plugin-daemonset,gpu-feature-discovery"
    where = f"-l 'app in ({apps})' --field-selector spec.nodeName={node['metadata']['name']}"
    command = f"oc delete pod -n nvidia-gpu-operator {where}"
    return (
        f"Run `{command}`: the device plugin reads its profile when it starts. Pods that run do not end, "
        "except those that share by MPS."
    )


def expected(node: dict[str, t.Any], wanted: t.Mapping[str, t.Any]) -> dict[str, int]:
    """Return the resources that the node must offer: the pool's, else GPU feature discovery's count.

    For shared and cut GPUs it is the capacity of what the node offers now, which has the devices that are not
    healthy too. A kubelet keeps the capacity of a resource that is gone for five minutes.
    """
    if wanted:
        return {name: count(number) for name, number in wanted.items()}
    marks = labels(node)
    gpus = count(marks.get(GPU_COUNT, 0)) * max(1, count(marks.get(GPU_REPLICAS, 1)))
    cut = (
        marks.get("nvidia.com/mig.capable") == "true"
        and marks.get("nvidia.com/mig.strategy", "none") != "none"
    )
    whole = gpus and not cut and not is_shared(node)
    if whole:
        return {GPU: gpus}
    capacity = _resources(node, "capacity")
    return {name: max(number, capacity.get(name, 0)) for name, number in resources(node).items()}
