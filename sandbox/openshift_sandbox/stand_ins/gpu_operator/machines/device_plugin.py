# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Stand in for the device plugin of virtual machines (kubevirt-gpu-device-plugin): GPUs and vGPUs by name.

The real one asks /sys, and reads its names from pci.ids in its own image: with a newer image a resource may
have another name (resource_renamed). It looks once, when it starts; this one always.
"""

from __future__ import annotations

import typing as t

from openshift_sandbox.hardware import instance_types
from openshift_sandbox.hardware.instance_types import InstanceType
from openshift_sandbox.hardware.machine_devices import PCI_NAMES, passthrough_resource, vgpu_resource
from openshift_sandbox.stand_ins.core.reconciler import Cluster, Object, Reconciler
from openshift_sandbox.stand_ins.core.troubles import place
from openshift_sandbox.stand_ins.gpu_operator.machines import resources, vgpus
from openshift_sandbox.stand_ins.gpu_operator.machines.pods import PLUGIN, VFIO, by_node, is_bound
from openshift_sandbox.stand_ins.gpu_operator.readiness import is_ready
from openshift_sandbox.stand_ins.gpu_operator.rules import release

OWN: t.Final = "sandbox-plugin"


def names(cluster: Cluster, node: Object) -> dict[str, str]:
    """Return the names of devices in the image of the plugin.

    A trouble changes one, from a release of the operator on if it names it.
    """
    deployment = release.find(cluster) or {}
    template = (deployment.get("spec") or {}).get("template") or {}
    images = [str(one.get("image")) for one in (template.get("spec") or {}).get("containers") or []]
    found = dict(PCI_NAMES)
    for one in cluster.troubles("resource_renamed", **place(node)):
        wanted = one.get("release")
        if wanted is None or any(image.endswith(f":v{wanted}") for image in images):
            found[str(one["device"])] = str(one["name"])
    return found


def offered(
    cluster: Cluster, node: Object, made_of: InstanceType, parts: t.Mapping[str, Object]
) -> dict[str, int]:
    """Return the resources of a node, and how many devices of each there are."""
    plugin = parts.get(PLUGIN)
    if plugin is None or not is_ready(plugin) or made_of.gpu is None:
        return {}
    device = made_of.gpu.pci_device
    if VFIO in parts:
        whole = passthrough_resource(device, names(cluster, node))
        return {whole: made_of.gpus} if is_bound(cluster, node, parts) else {}
    found = vgpus.counts(vgpus.layout(node, made_of.gpus))
    return {vgpu_resource(device, kind): count for kind, count in found.items()}


class MachineDevices(Reconciler):
    kinds = ("Deployment", "MachineConfig", "Node", "Pod")

    def reconcile(self, cluster: Cluster, now: float) -> None:
        parts = by_node(cluster.objects("Pod"))
        for node in cluster.objects("Node"):
            made_of = instance_types.of_node(node)
            if made_of is None or not made_of.has_nvidia_gpus:
                continue
            found = offered(cluster, node, made_of, parts.get(node["metadata"]["name"], {}))
            plugin = (node["metadata"]["uid"], OWN)
            if not found:
                cluster.restart(plugin, "device_plugin")
            if not found or cluster.due(plugin, "device_plugin", 0.3):
                resources.offer(cluster, node, OWN, found)
