# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Stand in for GPU feature discovery: a NodeFeature per GPU node.

The real one asks NVML. The real nfd-master turns the NodeFeature into labels; the stand-in of nfd-worker
deletes it once its Node or its DaemonSet is gone.
"""

from __future__ import annotations

import typing as t

from openshift_sandbox.hardware import instance_types
from openshift_sandbox.stand_ins.core.reconciler import Cluster, Object, Reconciler
from openshift_sandbox.stand_ins.gpu_operator.operand_pods import app_of, is_driver, node_of, runs
from openshift_sandbox.stand_ins.gpu_operator.operands import DRIVER_VERSION
from openshift_sandbox.stand_ins.gpu_operator.rules import versions
from openshift_sandbox.stand_ins.gpu_operator.sharing import geometry, part_labels, process
from openshift_sandbox.stand_ins.gpu_operator.sharing.config import MPS, Config
from openshift_sandbox.stand_ins.gpu_operator.sharing.geometry import Cut

NAME: t.Final = "gpu-feature-discovery"
CUDA: t.Final = "13.2"
UNSHARED: t.Final = Config()


def driver_version(pods: t.Iterable[Object], node: str) -> str:
    """Return the driver's version by the tag, or the digest, of the image in the node's driver pod."""
    for pod in pods:
        if is_driver(pod) and pod["spec"].get("nodeName") == node:
            return versions.driver(pod)
    return DRIVER_VERSION


def labels(
    made_of: instance_types.InstanceType,
    driver: str,
    strategy: str = "none",
    shared: Config = UNSHARED,
    cuts: t.Sequence[Cut] | None = None,
) -> dict[str, str]:
    """Return the labels that describe the GPUs of a node.

    `strategy` is the strategy of MIG, `shared` the configuration of the device plugin. Without `cuts` all
    GPUs are whole.
    """
    gpu = made_of.gpu
    if gpu is None:
        return {}
    major, minor, revision = [*driver.split("."), "", ""][:3]
    cuda_major, cuda_minor = CUDA.split(".")
    compute_major, compute_minor = gpu.compute.split(".")
    found = {
        "gpu.family": gpu.family,
        "gpu.machine": made_of.name,
        "gpu.mode": "compute",
        "gpu.compute.major": compute_major,
        "gpu.compute.minor": compute_minor,
        "cuda.driver-version.full": driver,
        "cuda.driver-version.major": major,
        "cuda.driver-version.minor": minor,
        "cuda.driver-version.revision": revision,
        "cuda.runtime-version.full": CUDA,
        "cuda.runtime-version.major": cuda_major,
        "cuda.runtime-version.minor": cuda_minor,
        "mig.capable": str(gpu.mig_capable).lower(),
        "mps.capable": str(shared.strategy == MPS).lower(),
        "vgpu.present": "false",
    }
    parts = part_labels.labels(gpu, cuts or [None] * made_of.gpus, strategy, shared)
    return {f"nvidia.com/{key}": value for key, value in found.items()} | parts


def node_feature(node: str, wanted: dict[str, str], daemon_set: Object) -> Object:
    """Return the NodeFeature that asks for labels."""
    metadata = {
        "name": f"nvidia-features-for-{node}",
        "namespace": daemon_set["metadata"]["namespace"],
        "labels": {"nfd.node.kubernetes.io/node-name": node},
        "ownerReferences": [
            {"apiVersion": "apps/v1", "kind": "DaemonSet", "name": NAME, "uid": daemon_set["metadata"]["uid"]}
        ],
    }
    return {
        "apiVersion": "nfd.k8s-sigs.io/v1alpha1",
        "kind": "NodeFeature",
        "metadata": metadata,
        "spec": {"labels": wanted},
    }


class GpuFeatureDiscovery(Reconciler):
    kinds = ("DaemonSet", "Node", "NodeFeature", "Pod")

    def reconcile(self, cluster: Cluster, now: float) -> None:
        if not cluster.served("NodeFeature"):
            return
        for daemon_set in cluster.objects("DaemonSet"):
            if daemon_set["metadata"]["name"] == NAME and not daemon_set["metadata"].get("deletionTimestamp"):
                self._discover(cluster, daemon_set)

    def _discover(self, cluster: Cluster, daemon_set: Object) -> None:
        namespace = daemon_set["metadata"]["namespace"]
        pods = cluster.objects("Pod", namespace)
        found = {node_of(pod): pod for pod in pods if app_of(pod) == NAME and runs(pod)}
        for node in cluster.objects("Node"):
            name, made_of = node["metadata"]["name"], instance_types.of_node(node)
            pod = found.get(name)
            if pod is None or made_of is None or not made_of.has_nvidia_gpus:
                continue
            driver = driver_version(pods, name)
            cuts = geometry.cuts(node, made_of.gpus)
            wanted = labels(made_of, driver, process.mig_strategy(pod), process.config(pod), cuts)
            live = cluster.find("NodeFeature", f"nvidia-features-for-{name}", namespace)
            if live is None or live["spec"].get("labels") != wanted:
                cluster.apply(node_feature(name, wanted, daemon_set))
