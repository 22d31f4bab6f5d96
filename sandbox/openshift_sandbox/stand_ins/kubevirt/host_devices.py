# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Stand in for KubeVirt's own device plugins, which offer what HyperConverged lists as not from elsewhere.

The real ones also watch the health of each device, and offer /dev/kvm. Here a device that vfio-pci took at
boot, or that the GPU operator gave it, is offered on every node that has it.
"""

from __future__ import annotations

import typing as t

from openshift_sandbox.hardware import instance_types
from openshift_sandbox.hardware.instance_types import InstanceType
from openshift_sandbox.hardware.machine_devices import SLICES
from openshift_sandbox.stand_ins.core.reconciler import Cluster, Object, Reconciler
from openshift_sandbox.stand_ins.gpu_operator.machines import host, resources, vgpus
from openshift_sandbox.stand_ins.gpu_operator.machines.pods import by_node, is_bound
from openshift_sandbox.stand_ins.nfd import iommu

OWN: t.Final = "kubevirt"


def listed(configuration: Object, field: str) -> list[Object]:
    """Return the entries of permitted devices that KubeVirt itself offers."""
    entries = (configuration.get("permittedHostDevices") or {}).get(field) or []
    return [one for one in entries if not one.get("externalResourceProvider")]


def offered(
    cluster: Cluster,
    node: Object,
    made_of: InstanceType,
    parts: t.Mapping[str, Object],
    configuration: Object,
) -> dict[str, int]:
    """Return the resources that KubeVirt offers on a node."""
    gpu = made_of.gpu
    assert gpu is not None
    own = f"{gpu.pci_vendor}:{gpu.pci_device}".lower()
    taken = own in host.reserved_devices(cluster, node) and iommu.has_iommu(cluster, node)
    found = {}
    if taken or is_bound(cluster, node, parts):
        entries = listed(configuration, "pciHostDevices")
        found = {
            one["resourceName"]: made_of.gpus for one in entries if one["pciVendorSelector"].lower() == own
        }
    slices = SLICES.get(gpu.pci_device)
    for kind, count in vgpus.counts(vgpus.layout(node, made_of.gpus)).items() if slices else ():
        for one in listed(configuration, "mediatedDevices"):
            if slices and one["mdevNameSelector"] == slices.mdev_name(kind):
                found[one["resourceName"]] = count
    return found


class HostDevices(Reconciler):
    kinds = ("KubeVirt", "MachineConfig", "Node", "Pod")

    def reconcile(self, cluster: Cluster, now: float) -> None:
        configuration = next(
            ((one.get("spec") or {}).get("configuration") or {} for one in cluster.objects("KubeVirt")), None
        )
        if configuration is None:
            return
        parts = by_node(cluster.objects("Pod"))
        for node in cluster.objects("Node"):
            made_of = instance_types.of_node(node)
            if made_of is not None and made_of.has_nvidia_gpus:
                own = parts.get(node["metadata"]["name"], {})
                resources.offer(cluster, node, OWN, offered(cluster, node, made_of, own, configuration))
