# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""GPUDirect RDMA by nvidia-peermem: what a ClusterPolicy with driver.rdma.enabled needs on each node.

DMA-BUF needs none of this, but open kernel modules.
"""

from __future__ import annotations

import typing as t

from ..._catalogue.well_known import MELLANOX, NIC_DRIVER_WAITS
from ..._core.errors import AcceleratorError, text_of
from ..._core.objects import KubeObject, Snapshot, at, name
from ..._core.readiness import PENDING, about_node
from ..._impact.driver import NIC_NODES
from ..._nodes.labels import labels
from .. import operands, stages
from ..stages import Finding, Stage, on_node

STAGE: t.Final = "gpudirect"
_ADAPTER: t.Final = NIC_NODES.partition("=")[0]
_WAITER: t.Final = "mofed-validation"
_PEERMEM: t.Final = "nvidia-peermem-ctr"
# What NFD writes of each PCI device: DMA or DMA-FQ, and identity with iommu=pt.
_IOMMU: t.Final = "iommu_group/type"
_VENDORS: t.Final = ("10de", MELLANOX)
# Kind of the driver's kernel modules -> by which ways a NIC reaches the memory of GPUs.
_WAYS: t.Final = {
    "open": "nvidia-peermem and DMA-BUF",
    "auto": "nvidia-peermem, and DMA-BUF where the open kernel modules run",
    "proprietary": "nvidia-peermem alone: proprietary kernel modules have no DMA-BUF",
}


def is_asked(policy: KubeObject) -> bool:
    """Return whether the policy loads nvidia-peermem; with NVIDIADrivers these decide."""
    driver = at(policy, "spec.driver") or {}
    is_on = driver.get("enabled") is not False and not driver.get("useNvidiaDriverCRD")
    return is_on and bool(at(driver, "rdma.enabled"))


def refusal(policy: KubeObject, others: t.Iterable[KubeObject]) -> AcceleratorError | None:
    """Return why GPUDirect cannot work as the policy asks for it, or None.

    others: NicClusterPolicies and NicNodePolicies.
    """
    bringing = [f"{one['kind']} {name(one)}" for one in others if at(one, "spec.ofedDriver") is not None]
    is_of_host = bool(at(policy, "spec.driver.rdma.useHostMofed"))
    if is_of_host and bringing:
        return AcceleratorError("GPU-RDMA-HOST", policy=name(policy), others=", ".join(bringing))
    return None if is_of_host or bringing else AcceleratorError("GPU-RDMA-NIC", policy=name(policy))


def translated(feature: KubeObject) -> KubeObject | None:
    """Return the NodeFeature, shortened, if an IOMMU translates what its GPUs and adapters send."""
    devices = (at(feature, "spec.features.instances") or {}).get("pci.device") or {}
    for attributes in (one.get("attributes") or {} for one in devices.get("elements") or []):
        if attributes.get("vendor") in _VENDORS and str(attributes.get(_IOMMU) or "").startswith("DMA"):
            return {"metadata": feature["metadata"]}
    return None


def judge_order(node: KubeObject, policy: KubeObject, snapshot: Snapshot) -> Finding | None:
    """Return a finding while the driver pod waits for the NIC driver, before it builds its own."""
    entry = _status(node, policy, snapshot, "initContainerStatuses", _WAITER)
    if entry is None or "running" not in (entry.get("state") or {}):
        return None
    where = f"label {NIC_DRIVER_WAITS} is {labels(node).get(NIC_DRIVER_WAITS, 'absent')}"
    if at(policy, "spec.driver.rdma.useHostMofed"):
        where = "driver.rdma.useHostMofed says that the host has it"
    text, what = text_of("GPU-RDMA-ORDER"), f"the GPU driver waits for the NIC driver ({where})"
    return on_node(PENDING, node, "NicDriver", what, text.code, text.remedy, stage=stages.DRIVER)


def judge_peermem(node: KubeObject, policy: KubeObject, snapshot: Snapshot) -> Finding | None:
    """Return a finding if nvidia-peermem is not loaded on a node with an adapter."""
    entry = _status(node, policy, snapshot, "containerStatuses", _PEERMEM)
    if entry is None or entry.get("ready"):
        return None
    text = about_node("GPU-RDMA-PEERMEM", node=name(node), pod=_driver_pod(node, snapshot))
    return on_node(PENDING, node, "Peermem", *text, stage=STAGE, waits=True)


def seen(node: KubeObject, policy: KubeObject, snapshot: Snapshot) -> Stage:
    """Return the stage as the node shows it. What the API does not show: ACS of the PCIe switches."""
    if labels(node).get(_ADAPTER) != "true":
        return Stage(STAGE, evidence=(f"{name(node)}: no NVIDIA network adapter",))
    entry = _status(node, policy, snapshot, "containerStatuses", _PEERMEM) or {}
    way = _WAYS.get(str(at(policy, "spec.driver.kernelModuleType")), _WAYS["auto"])
    since = str(at(entry, "state.running.startedAt") or "")
    return Stage(STAGE, since=since, evidence=(way,)) if entry else Stage(STAGE, stages.WAITING)


def _driver_pod(node: KubeObject, snapshot: Snapshot) -> str:
    found = operands.on_node(node, snapshot, {})
    return next((one.pod for one in found if one.component == "driver" and one.pod), "")


def _status(
    node: KubeObject, policy: KubeObject, snapshot: Snapshot, field: str, container: str
) -> KubeObject | None:
    """Return the status of a container of the node's driver pod; None without an adapter."""
    if not is_asked(policy) or labels(node).get(_ADAPTER) != "true":
        return None
    driver = _driver_pod(node, snapshot)
    pod: KubeObject = next((pod for pod in snapshot["pods"] if name(pod) == driver), {})
    return next((one for one in at(pod, f"status.{field}") or [] if one["name"] == container), None)
