# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Two pools of scenario gpu-nodes with a driver each, work on them, and the nodes without a driver."""

from __future__ import annotations

import threading
import typing as t

from cluster import Cluster

from openshift_sandbox.stand_ins.core.conditions import holds

Data = dict[str, t.Any]
DRIVERS: t.Final = ("nvidia.com/v1alpha1", "nvidiadrivers")
POLICIES: t.Final = ("nvidia.com/v1", "clusterpolicies")
NAMESPACE: t.Final = "nvidia-gpu-operator"
OWNER: t.Final = "nvidia.com/gpu-operator.driver.owner"
POOL: t.Final = "accelerators.openshift/pool"
WORK: t.Final = "training"
OLD, NEW = "580.82.07", "595.91.07"
NODES: t.Final = {"inference": {"t4-0", "t4-1"}, "training": {"a100-0"}}
QUICK: t.Final[Data] = {"grace": 20, "wait_timeout": 180}


def pool(name: str, gpus: int, nodes: int, **more: t.Any) -> Data:
    return {
        "name": name,
        "node_selector": {POOL: name},
        "expected": {"nvidia.com/gpu": gpus},
        "min_nodes": nodes,
        **more,
    }


def driver(version: str) -> Data:
    return {"repository": "nvcr.io/nvidia", "image": "driver", "version": version}


def training(node: str, **more: t.Any) -> Data:
    """Return a ReplicaSet whose pod uses a GPU of a node, and comes back there. more: fields of its pod."""
    made = _work("ReplicaSet", WORK, node, **more)
    return {**made, "spec": {"replicas": 1, **made["spec"]}}


def serving(node: str) -> Data:
    """Return DaemonSet `serving`, whose pod uses a GPU of a node."""
    return _work("DaemonSet", "serving", node, tolerations=[{"operator": "Exists"}])


def _work(kind: str, name: str, node: str, **more: t.Any) -> Data:
    labels = {"app": name}
    container = {
        "name": "c",
        "image": "example.com/train",
        "resources": {"limits": {"nvidia.com/gpu": "1"}},
    }
    pod = {"nodeSelector": {"kubernetes.io/hostname": node}, "containers": [container], **more}
    return {
        "apiVersion": "apps/v1",
        "kind": kind,
        "metadata": {"name": name, "namespace": "default"},
        "spec": {
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": pod},
        },
    }


TRAINING: t.Final = training("t4-0", tolerations=[{"operator": "Exists"}])
POOLS: t.Final = [pool("inference", 1, 2), pool("training", 8, 1)]


def drivers_ready(cluster: Cluster) -> set[str]:
    """Return the nodes with a ready driver pod of any owner."""
    pods = cluster.client.list("v1", "pods", NAMESPACE, labels="app.kubernetes.io/component=nvidia-driver")
    return {pod["spec"]["nodeName"] for pod in pods if holds(pod, "Ready")}


def owners(cluster: Cluster) -> dict[str, str | None]:
    """Return the NVIDIADriver that owns each node of the pools, None without one."""
    nodes = cluster.client.list("v1", "nodes", labels=POOL)
    return {node["metadata"]["name"]: node["metadata"]["labels"].get(OWNER) for node in nodes}


class Gaps:
    """A thread that counts, per pool, the largest number of nodes without a driver at one time."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster, self._over = cluster, threading.Event()
        self.most = {"inference": 0, "training": 0}
        self._thread = threading.Thread(target=self._look)

    def _look(self) -> None:
        while not self._over.wait(0.05):
            ready = drivers_ready(self._cluster)
            for name, nodes in NODES.items():
                self.most[name] = max(self.most[name], len(nodes - ready))

    def __enter__(self) -> Gaps:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()
