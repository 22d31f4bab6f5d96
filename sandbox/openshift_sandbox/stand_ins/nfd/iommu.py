# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether the kernel of a node uses the IOMMU, as /sys shows it."""

from __future__ import annotations

from openshift_sandbox.stand_ins.core.reconciler import Cluster, Object
from openshift_sandbox.stand_ins.core.troubles import on_node
from openshift_sandbox.stand_ins.machine_config.keys import says
from openshift_sandbox.stand_ins.nfd.hardware import cpu_of


def booted(cluster: Cluster, node: Object) -> Object:
    """Return the content of the configuration with which a node has started."""
    found = cluster.find("MachineConfig", str(says(node, "currentConfig")))
    return found["spec"] if found else {}


def has_iommu(cluster: Cluster, node: Object) -> bool:
    """Return whether the kernel uses the IOMMU: on AMD by default, on Intel only when it is told to.

    Where the firmware has it off (no_iommu), no argument helps.
    """
    if on_node(cluster, "no_iommu", node):
        return False
    arguments = " ".join(booted(cluster, node).get("kernelArguments") or []).split()
    if cpu_of(node)["vendor_id"] == "AMD":
        return "amd_iommu=off" not in arguments
    return "intel_iommu=on" in arguments


def iommu_of(cluster: Cluster, node: Object) -> str:
    """Return how the IOMMU serves the devices of the host, as iommu_group/type says; empty if off."""
    if not has_iommu(cluster, node):
        return ""
    arguments = " ".join(booted(cluster, node).get("kernelArguments") or []).split()
    return "identity" if "iommu=pt" in arguments else "DMA-FQ"
