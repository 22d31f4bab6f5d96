# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Names of labels, resources and DeviceClasses that several packages read, and keys of quotas for devices."""

from __future__ import annotations

import typing as t

# The resource of a whole NVIDIA GPU; GPU feature discovery uses the same prefix for its labels.
NVIDIA: t.Final = "nvidia.com/"
# PCI vendor of network adapters of NVIDIA, formerly Mellanox.
MELLANOX: t.Final = "15b3"
GPU: t.Final = f"{NVIDIA}gpu"
# "true" while the NIC driver of a node is being loaded.
NIC_DRIVER_WAITS: t.Final = "network.nvidia.com/operator.mofed.wait"
GPU_PRESENT: t.Final = f"{NVIDIA}gpu.present"
GPU_COUNT: t.Final = f"{NVIDIA}gpu.count"
GPU_REPLICAS: t.Final = f"{NVIDIA}gpu.replicas"
# With `renameByDefault` the device plugin offers the shares of a GPU under this name.
GPU_SHARED: t.Final = f"{GPU}.shared"
# The key of the device plugin's ConfigMap whose content holds on the node.
PLUGIN_CONFIG: t.Final = f"{NVIDIA}device-plugin.config"
# The ConfigMap with the profiles of shared GPUs, unless the user names another one.
PLUGIN_CONFIG_MAP: t.Final = "gpu-sharing"
# The configuration by which the MIG manager partitions the GPUs of the node, and how far it is.
MIG_CONFIG: t.Final = f"{NVIDIA}mig.config"
MIG_STATE: t.Final = f"{NVIDIA}mig.config.state"
# Prefix of the resource of a partition, with strategy mixed.
PARTITION: t.Final = f"{NVIDIA}mig-"
# The ConfigMap with the configurations of partitioned GPUs, unless the ClusterPolicy names another one.
MIG_CONFIG_MAP: t.Final = "gpu-mig"
# What the GPUs of a node are for: container, vm-passthrough or vm-vgpu.
WORKLOAD: t.Final = f"{NVIDIA}gpu.workload.config"
# The configuration by which the vGPU device manager makes the vGPUs of the node, and how far it is.
VGPU_CONFIG: t.Final = f"{NVIDIA}vgpu.config"
VGPU_STATE: t.Final = f"{NVIDIA}vgpu.config.state"
# "false" keeps every operand of the GPU operator off the node.
OPERANDS: t.Final = f"{NVIDIA}gpu.deploy.operands"
DRIVER_VERSION: t.Final = f"{NVIDIA}cuda.driver-version.full"
# The GPU operator writes the state of the driver's upgrade on a node into this label.
DRIVER_UPGRADE: t.Final = f"{NVIDIA}gpu-driver-upgrade-state"
# The same for the network operator and the NIC driver.
NIC_DRIVER_UPGRADE: t.Final = f"{NVIDIA}ofed-driver-upgrade-state"
# Prefixes of device resources, by vendor.
VENDORS: t.Final = (NVIDIA, "amd.com/", "gpu.intel.com/")

# Prefix of the labels of Node Feature Discovery.
FEATURE: t.Final = "feature.node.kubernetes.io/"
NVIDIA_PCI: t.Final = f"{FEATURE}pci-10de.present"

INSTANCE_TYPE: t.Final = "node.kubernetes.io/instance-type"
ZONE: t.Final = "topology.kubernetes.io/zone"
CONTROL_PLANE: t.Final = "node-role.kubernetes.io/control-plane"

# The DeviceClasses of NVIDIA's DRA driver: whole GPUs, and partitions of GPUs (MIG).
GPU_CLASS: t.Final = "gpu.nvidia.com"
MIG_CLASS: t.Final = "mig.nvidia.com"
