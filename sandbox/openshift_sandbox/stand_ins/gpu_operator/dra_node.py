# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Stand in for the DRA driver on a node: it publishes GPUs as a ResourceSlice once the driver runs.

It publishes the MIG devices of a GPU that is partitioned. The real one also prepares claims, and makes MIG
devices with its feature gate DynamicMIG.
"""

from __future__ import annotations

from openshift_sandbox.hardware import instance_types
from openshift_sandbox.hardware.gpus import Gpu
from openshift_sandbox.stand_ins.core.reconciler import Cluster, Object, Reconciler
from openshift_sandbox.stand_ins.gpu_operator.daemon_sets import HOLD
from openshift_sandbox.stand_ins.gpu_operator.gpu_cluster import DRIVER, EXPORTER, PLUGIN, VALIDATOR
from openshift_sandbox.stand_ins.gpu_operator.node import lost_gpus
from openshift_sandbox.stand_ins.gpu_operator.operand_pods import initialized, is_driver, node_of, ready_on
from openshift_sandbox.stand_ins.gpu_operator.operands import DRIVER_VERSION
from openshift_sandbox.stand_ins.gpu_operator.output import device_uuid, part_uuid
from openshift_sandbox.stand_ins.gpu_operator.sharing import geometry


def component(pod: Object) -> str:
    """Return the component of a pod, by its label."""
    return str((pod["metadata"].get("labels") or {}).get("app.kubernetes.io/component", ""))


def semantic(version: str) -> str:
    """Return a version as a semantic one, without leading zeros."""
    return ".".join(str(int(part)) for part in version.split("."))


def device(node: str, gpu: Gpu, title: str, part: str) -> Object:
    """Return one device: a whole GPU, or a part of one (GPU:profile:number), whose memory is left out."""
    index, is_part, profile = part.partition(":")
    parent = device_uuid(node, int(index))
    common = {
        "productName": {"string": gpu.name},
        "architecture": {"string": gpu.family.title()},
        "driverVersion": {"version": semantic(DRIVER_VERSION)},
    }
    if not is_part:
        own = {"type": {"string": "gpu"}, "uuid": {"string": parent}}
        memory = {"memory": {"value": f"{gpu.memory_mib}Mi"}}
        return {"name": title, "attributes": own | common, "capacity": memory}
    mig = {
        "type": {"string": "mig"},
        "uuid": {"string": part_uuid(node, part)},
        "parentUUID": {"string": parent},
        "profile": {"string": profile.partition(":")[0]},
    }
    return {"name": title, "attributes": mig | common}


def resource_slice(node: Object, made_of: instance_types.InstanceType, lost: int) -> Object:
    """Return the slice with all devices of a node; the real driver splits large nodes into several."""
    name, gpu = node["metadata"]["name"], made_of.gpu
    assert gpu is not None
    cuts = geometry.cuts(node, max(made_of.gpus - lost, 0))
    devices = [device(name, gpu, title, part) for title, part in geometry.dra_devices(cuts).items()]
    owner = {"apiVersion": "v1", "kind": "Node", "name": name, "uid": node["metadata"]["uid"]}
    pool = {"name": name, "generation": 1, "resourceSliceCount": 1}
    metadata = {"name": f"{name}-{DRIVER}", "ownerReferences": [owner]}
    spec = {"driver": DRIVER, "nodeName": name, "pool": pool, "devices": devices}
    return {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "metadata": metadata, "spec": spec}


class DraNode(Reconciler):
    kinds = ("Node", "Pod", "ResourceSlice")

    def __init__(self) -> None:
        self._published: dict[str, Object] = {}

    def reconcile(self, cluster: Cluster, now: float) -> None:
        pods = [
            pod
            for pod in cluster.objects("Pod")
            if is_driver(pod) or component(pod) in (PLUGIN, VALIDATOR, EXPORTER)
        ]
        drivers, plugins = ready_on(pods, is_driver), ready_on(pods, lambda pod: component(pod) == PLUGIN)
        for pod in pods:
            if HOLD in (pod["metadata"].get("annotations") or {}):
                where = node_of(pod)
                ready = (
                    where in drivers if component(pod) == PLUGIN else where in plugins and initialized(pod)
                )
                if ready and not is_driver(pod):
                    cluster.patch(
                        "Pod",
                        pod["metadata"]["name"],
                        pod["metadata"]["namespace"],
                        {"metadata": {"annotations": {HOLD: None}}},
                    )
        for node in cluster.objects("Node"):
            self._publish(cluster, node, node["metadata"]["name"] in plugins)

    def _publish(self, cluster: Cluster, node: Object, running: bool) -> None:
        """Publish the slice, or delete it with its plugin.

        The kubelet removes slices of drivers that are gone.
        """
        made_of, name = instance_types.of_node(node), f"{node['metadata']['name']}-{DRIVER}"
        if made_of is None or not made_of.has_nvidia_gpus:
            return
        lost = lost_gpus(cluster, node)
        wanted = resource_slice(node, made_of, int(lost.get("count", 1)) if lost else 0) if running else None
        live = cluster.find("ResourceSlice", name)
        if wanted is None:
            if live is not None:
                cluster.delete("ResourceSlice", name)
            self._published.pop(name, None)
        elif (live is None or self._published.get(name) != wanted) and cluster.due(
            node["metadata"]["uid"], "dra_slice", 0.3
        ):
            cluster.apply(wanted)
            self._published[name] = wanted
