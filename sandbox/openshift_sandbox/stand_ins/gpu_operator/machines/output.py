# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the operands of virtual machines print, and the operator about nodes that it does not understand."""

from __future__ import annotations

import json
import typing as t

from openshift_sandbox.hardware import instance_types
from openshift_sandbox.stand_ins.core.reconciler import Cluster, Object
from openshift_sandbox.stand_ins.gpu_operator.labels import CONTAINER, PRESENT, WORKLOAD, WORKLOADS
from openshift_sandbox.stand_ins.gpu_operator.machines import vgpus
from openshift_sandbox.stand_ins.gpu_operator.machines.pods import DEVICES, PLUGIN, VALIDATOR, VFIO, component
from openshift_sandbox.stand_ins.gpu_operator.machines.vgpu_manager import PROBLEM, UNKNOWN, config_of
from openshift_sandbox.stand_ins.gpu_operator.operand_pods import INIT_CRASH, app_of, initialized
from openshift_sandbox.stand_ins.gpu_operator.readiness import is_ready
from openshift_sandbox.stand_ins.gpu_operator.rules.turns import active
from openshift_sandbox.stand_ins.nfd import iommu

OPERATOR: t.Final = "gpu-operator"
MISREAD: t.Final = "WARNING: failed to get GPU workload config for node; using default"
UNBOUND: t.Final = "Error: error validating vfio-pci driver installation: device not bound to 'vfio-pci'; "


def lines(cluster: Cluster, pod: Object, node: Object) -> list[str]:
    """Return what a pod prints; nothing for pods of other operands."""
    if app_of(pod) == OPERATOR:
        return misread(cluster)
    part = component(pod)
    if part == VFIO:
        return bound(cluster, node) if is_ready(pod) else []
    if part == VALIDATOR and INIT_CRASH in (pod["metadata"].get("annotations") or {}):
        return [f"{UNBOUND}device: {vgpus.address(0)} driver: ''"]
    if part == PLUGIN and not initialized(pod):
        return ["waiting for vfio-pci driver ..."]
    return configured(pod, node) if part == DEVICES and is_ready(pod) else []


def bound(cluster: Cluster, node: Object) -> list[str]:
    """Return what vfio-manager prints; it warns of GPUs that it cannot bind, and stays."""
    made_of, found = instance_types.of_node(node), []
    for index in range(made_of.gpus if made_of else 0):
        where = vgpus.address(index)
        found.append(f'level=info msg="Binding device {where}"')
        if not iommu.has_iommu(cluster, node):
            why = (
                f"failed to bind device {where} to vfio-pci: failed to bind {where} to vfio-pci: "
                "write /sys/bus/pci/drivers/vfio-pci/bind: invalid argument"
            )
            found.append(f'level=warning msg="Failed to bind device {where}: {why}"')
    return found


def configured(pod: Object, node: Object) -> list[str]:
    """Return what the vGPU device manager prints about the configuration that it has read."""
    chosen = config_of(pod, node)
    problem = str((pod["metadata"].get("annotations") or {}).get(PROBLEM) or "")
    found = [f'level=info msg="Updating to vGPU config: {chosen}"']
    if problem.endswith(UNKNOWN):
        found.append(f"error selecting VGPU config: selected vgpu-config not present: {chosen}")
    if problem:
        return [*found, f'level=error msg="{problem}"']
    return [*found, f'level=info msg="Successfully updated to vGPU config: {chosen}"']


def misread(cluster: Cluster) -> list[str]:
    """Return what the operator prints about labels with a workload that it does not know."""
    policy = active(cluster.objects("ClusterPolicy"))
    machines = (policy["spec"].get("sandboxWorkloads") or {}) if policy else {}
    if not machines.get("enabled"):
        return []
    found = []
    for node in cluster.objects("Node"):
        labels = node["metadata"].get("labels") or {}
        if labels.get(PRESENT) == "true" and labels.get(WORKLOAD, CONTAINER) not in WORKLOADS:
            entry = {
                "level": "info",
                "logger": "controllers.ClusterPolicy",
                "msg": MISREAD,
                "NodeName": node["metadata"]["name"],
                "SandboxEnabled": True,
                "Error": f"invalid GPU workload config: {labels[WORKLOAD]}",
                "defaultGPUWorkloadConfig": machines.get("defaultWorkload") or CONTAINER,
            }
            found.append(json.dumps(entry, separators=(",", ":")))
    return found
