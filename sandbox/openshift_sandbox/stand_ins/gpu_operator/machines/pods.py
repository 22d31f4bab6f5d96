# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Stand in for what runs in the GPU operator's pods on nodes whose GPUs belong to virtual machines.

vfio-manager takes the GPUs from every other driver, and the vGPU manager installs the host's driver. Compared
with k8s-driver-manager v0.12 and the validator of v26.7: vfio-manager only warns when it cannot bind a GPU,
and the validator behind it fails. The real validator fails in one of its init containers and starts again;
the real device plugin waits for files that the validator writes.
"""

from __future__ import annotations

import typing as t

from openshift_sandbox.hardware import instance_types
from openshift_sandbox.stand_ins.core.reconciler import Cluster, Object, Reconciler
from openshift_sandbox.stand_ins.gpu_operator.daemon_sets import HOLD
from openshift_sandbox.stand_ins.gpu_operator.machines import vgpus
from openshift_sandbox.stand_ins.gpu_operator.node import ours
from openshift_sandbox.stand_ins.gpu_operator.operand_pods import INIT_CRASH, app_of, initialized, node_of
from openshift_sandbox.stand_ins.gpu_operator.operands import MACHINE_OPERANDS, VGPU_MANAGER
from openshift_sandbox.stand_ins.gpu_operator.readiness import is_ready
from openshift_sandbox.stand_ins.gpu_operator.rules.devices import holders, wanted_by_name
from openshift_sandbox.stand_ins.nfd import iommu

COMPONENTS: t.Final = {operand.name: operand.component for operand in MACHINE_OPERANDS}
VFIO, VALIDATOR, PLUGIN = "vfio-manager", "sandbox-validator", "sandbox-device-plugin"
VGPU, DEVICES = "vgpu-manager", "vgpu-device-manager"


def component(pod: Object) -> str:
    """Return the component that a pod belongs to, or an empty text."""
    app = app_of(pod)
    return VGPU_MANAGER.component if app.startswith(VGPU_MANAGER.name) else COMPONENTS.get(app, "")


def by_node(pods: t.Iterable[Object]) -> dict[str, dict[str, Object]]:
    """Return the pods of virtual machines' operands: node -> component -> pod."""
    found: dict[str, dict[str, Object]] = {}
    for pod in pods:
        name, part = node_of(pod), component(pod)
        if name and part:
            found.setdefault(name, {})[part] = pod
    return found


def is_bound(cluster: Cluster, node: Object, parts: t.Mapping[str, Object]) -> bool:
    """Return whether vfio-pci has the GPUs of a node that vfio-manager looks after."""
    return VFIO in parts and is_ready(parts[VFIO]) and iommu.has_iommu(cluster, node)


def configurations(cluster: Cluster, pod: Object) -> str | None:
    """Return what the vGPU device manager in a pod reads; None where its ConfigMap is missing."""
    volumes = pod["spec"].get("volumes") or []
    name = next((str(one["configMap"]["name"]) for one in volumes if "configMap" in one), "")
    found = cluster.find("ConfigMap", name, pod["metadata"]["namespace"])
    return None if found is None else str((found.get("data") or {}).get(vgpus.FILE) or "")


def uses_container_gpus(cluster: Cluster, node: Object) -> bool:
    """Return whether pods on a node hold GPUs that the driver of containers gave them."""
    held = holders(cluster.objects("Pod"), node["metadata"]["name"])
    return any(ours(resource) for pod in held for resource in wanted_by_name(pod))


class MachinePods(Reconciler):
    kinds = ("ConfigMap", "DaemonSet", "MachineConfig", "Node", "Pod")

    def reconcile(self, cluster: Cluster, now: float) -> None:
        for name, parts in by_node(cluster.objects("Pod")).items():
            node = cluster.find("Node", name)
            made_of = instance_types.of_node(node) if node else None
            if node is None or made_of is None or not made_of.has_nvidia_gpus:
                continue
            self._managers(cluster, node, parts)
            has_driver = VGPU in parts and is_ready(parts[VGPU])
            if DEVICES in parts and has_driver and configurations(cluster, parts[DEVICES]) is not None:
                self._release(cluster, parts[DEVICES])
            there = bool(vgpus.counts(vgpus.layout(node, made_of.gpus)))
            done = is_bound(cluster, node, parts) if VFIO in parts else there and has_driver
            self._validate(cluster, parts, done)

    def _managers(self, cluster: Cluster, node: Object, parts: t.Mapping[str, Object]) -> None:
        """Let the managers of drivers begin, once no pod holds a GPU of the driver for containers."""
        busy = uses_container_gpus(cluster, node)
        for part in (VFIO, VGPU):
            if part not in parts:
                continue
            pod = parts[part]
            if HOLD in (pod["metadata"].get("annotations") or {}):
                self._annotate(cluster, pod, INIT_CRASH, "true" if busy else None)
                builds = part == VGPU and not cluster.due(pod["metadata"]["uid"], "gpu_driver", 2.0)
                if not busy and not builds and initialized(pod):
                    self._release(cluster, pod)

    def _validate(self, cluster: Cluster, parts: t.Mapping[str, Object], done: bool) -> None:
        for part in (VALIDATOR, PLUGIN):
            if part in parts and done:
                self._release(cluster, parts[part])
        if VALIDATOR in parts:
            failed = not done and VFIO in parts and is_ready(parts[VFIO])
            self._annotate(cluster, parts[VALIDATOR], INIT_CRASH, "true" if failed else None)

    def _release(self, cluster: Cluster, pod: Object) -> None:
        self._annotate(cluster, pod, HOLD, None)

    def _annotate(self, cluster: Cluster, pod: Object, key: str, value: str | None) -> None:
        metadata = pod["metadata"]
        if (metadata.get("annotations") or {}).get(key) != value:
            body = {"metadata": {"annotations": {key: value}}}
            cluster.patch("Pod", metadata["name"], metadata["namespace"], body)
