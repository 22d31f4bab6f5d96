# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The reconcilers that stand in for the GPU operator, in the order in which the loop calls them."""

from __future__ import annotations

import typing as t

from openshift_sandbox.stand_ins.core.reconciler import Reconciler
from openshift_sandbox.stand_ins.gpu_operator.compute_domains import ComputeDomains
from openshift_sandbox.stand_ins.gpu_operator.dra_node import DraNode
from openshift_sandbox.stand_ins.gpu_operator.driver_upgrade import DriverUpgrade
from openshift_sandbox.stand_ins.gpu_operator.feature_discovery import GpuFeatureDiscovery
from openshift_sandbox.stand_ins.gpu_operator.gpu_cluster import GpuCluster
from openshift_sandbox.stand_ins.gpu_operator.logs import GpuLogs
from openshift_sandbox.stand_ins.gpu_operator.machines.device_plugin import MachineDevices
from openshift_sandbox.stand_ins.gpu_operator.machines.pods import MachinePods
from openshift_sandbox.stand_ins.gpu_operator.machines.vgpu_manager import VgpuDeviceManager
from openshift_sandbox.stand_ins.gpu_operator.mig import MigManager
from openshift_sandbox.stand_ins.gpu_operator.node import GpuNode
from openshift_sandbox.stand_ins.gpu_operator.nvidia_driver import NvidiaDriver
from openshift_sandbox.stand_ins.gpu_operator.operand_pods import OperandPods
from openshift_sandbox.stand_ins.gpu_operator.operator import GpuOperator
from openshift_sandbox.stand_ins.gpu_operator.sharing.config_manager import ConfigManagers
from openshift_sandbox.stand_ins.gpu_operator.workloads import GpuWorkloads

RECONCILERS: t.Final[tuple[type[Reconciler], ...]] = (
    GpuOperator,
    NvidiaDriver,
    GpuCluster,
    ConfigManagers,
    OperandPods,
    MachinePods,
    DriverUpgrade,
    GpuFeatureDiscovery,
    MigManager,
    VgpuDeviceManager,
    GpuNode,
    MachineDevices,
    DraNode,
    ComputeDomains,
    GpuLogs,
    GpuWorkloads,
)
