# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Stand in for virtual machines with a GPU that were there before (virtual_machine), and that leave.

The real launcher belongs to a VirtualMachineInstance, which those of this trouble do not have. It also has a
PodDisruptionBudget, which refuses a second eviction, and never restarts; here a pod with a GPU that does not
restart is a program, and ends.
"""

from __future__ import annotations

import typing as t

from openshift_sandbox.hardware import instance_types
from openshift_sandbox.programs.foreign_webhooks import LAUNCHERS, wanted
from openshift_sandbox.seed.names import identity
from openshift_sandbox.stand_ins.core.conditions import holds
from openshift_sandbox.stand_ins.core.reconciler import Cluster, Object, Reconciler
from openshift_sandbox.stand_ins.core.troubles import on_node
from openshift_sandbox.stand_ins.core.webhooks import KIND, Webhooks
from openshift_sandbox.stand_ins.kubevirt.evictions import DOMAIN, LAUNCHER, LEAVING, WEBHOOK

NAMESPACE: t.Final = "virtual-machines"
IMAGE: t.Final = "registry.redhat.io/container-native-virtualization/virt-launcher-rhel9:v4.22.0"
RESOURCE: t.Final = "nvidia.com/TU104GL_Tesla_T4"


def launcher(node: str, namespace: str, resource: str) -> Object:
    """Return the pod of a virtual machine on a node."""
    name = f"vm-{node.partition('.')[0]}"
    owner = {
        "apiVersion": "kubevirt.io/v1",
        "kind": "VirtualMachineInstance",
        "name": name,
        "uid": identity(f"{namespace}/{name}"),
        "controller": True,
        "blockOwnerDeletion": True,
    }
    container = {
        "name": "compute",
        "image": IMAGE,
        "command": ["/usr/bin/virt-launcher-monitor", "--name", name],
        "resources": {"requests": {resource: "1"}, "limits": {resource: "1"}},
    }
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": f"virt-launcher-{name}-x7k2p",
            "namespace": namespace,
            "labels": {**LAUNCHER, "vm.kubevirt.io/name": name},
            "annotations": {DOMAIN: name},
            "ownerReferences": [owner],
        },
        "spec": {
            "nodeName": node,
            "restartPolicy": "Always",
            "tolerations": [{"operator": "Exists"}],
            "containers": [container],
        },
    }


class VirtualMachines(Reconciler):
    kinds = ("KubeVirt", "Namespace", "Node", "Pod", KIND)

    def __init__(self) -> None:
        self._webhooks = Webhooks()
        self._placed: set[str] = set()

    def reconcile(self, cluster: Cluster, now: float) -> None:
        is_there = LAUNCHERS in wanted(cluster.scenario) or bool(cluster.objects("KubeVirt"))
        self._webhooks.keep(cluster, LAUNCHERS, [WEBHOOK] if is_there else [])
        for pod in cluster.objects("Pod"):
            metadata = pod["metadata"]
            if (
                LEAVING in (metadata.get("annotations") or {})
                and not metadata.get("deletionTimestamp")
                and cluster.due(metadata["uid"], "vm_evacuation", 5.0)
            ):
                cluster.delete("Pod", metadata["name"], metadata["namespace"])
        for node in cluster.objects("Node"):
            self._place(cluster, node)

    def _place(self, cluster: Cluster, node: Object) -> None:
        """Start one virtual machine on a GPU node. One that has left the node does not come back."""
        made_of, trouble = instance_types.of_node(node), on_node(cluster, "virtual_machine", node)
        uid = node["metadata"]["uid"]
        if trouble is None or made_of is None or not made_of.gpus or uid in self._placed:
            return
        if not holds(node, "Ready") or node["spec"].get("unschedulable"):
            return
        namespace = str(trouble.get("namespace", NAMESPACE))
        pod = launcher(node["metadata"]["name"], namespace, str(trouble.get("resource", RESOURCE)))
        if cluster.find("Namespace", namespace) is None:
            cluster.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}})
        if cluster.find("Pod", pod["metadata"]["name"], namespace) is None:
            cluster.create(pod)
        self._placed.add(uid)
