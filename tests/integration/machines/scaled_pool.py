# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A pool that the autoscaler scales: its options, and its objects on the cluster."""

from __future__ import annotations

import typing as t

from cluster import Cluster

Data = dict[str, t.Any]
NAMESPACE: t.Final = "openshift-machine-api"
SETS: t.Final = ("machine.openshift.io/v1beta1", "machinesets", NAMESPACE)
TAINT: t.Final = {"key": "nvidia.com/gpu", "value": "burst", "effect": "NoSchedule"}


def pool(name: str = "it-burst", least: int = 0, most: int = 4, **more: t.Any) -> Data:
    candidates = [{"instance_type": "g4dn.xlarge", "zones": ["us-east-2a", "us-east-2b"]}]
    own: Data = {
        "name": name,
        "candidates": candidates,
        "taints": [TAINT],
        "accelerator": name,
        "autoscale": {"min": least, "max": most},
        **more,
    }
    return {key: value for key, value in own.items() if value is not None}


def pod(name: str, **tolerated: t.Any) -> Data:
    gpu = {"nvidia.com/gpu": "1"}
    container = {"name": "c", "image": "example.com/none", "resources": {"requests": gpu, "limits": gpu}}
    spec = {
        "containers": [container],
        "tolerations": [{"key": "nvidia.com/gpu", "operator": "Exists"}],
        **tolerated,
    }
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "default"},
        "spec": spec,
    }


def sets(cluster: Cluster, name: str = "it-burst") -> list[Data]:
    return cluster.client.list(*SETS, labels=f"accelerators.openshift/pool={name}")


def replicas(cluster: Cluster, name: str = "it-burst") -> int:
    return sum(one["spec"]["replicas"] for one in sets(cluster, name))


def scale(cluster: Cluster, name: str, count: int) -> None:
    cluster.client.patch(*SETS[:2], name, NAMESPACE, {"spec": {"replicas": count}}, "scale")


def ready_nodes(cluster: Cluster, name: str) -> list[Data]:
    nodes = cluster.client.list("v1", "nodes", labels=f"accelerators.openshift/pool={name}")
    return [node for node in nodes if {"type": "Ready", "status": "True"}.items() <= _ready(node).items()]


def _ready(node: Data) -> Data:
    return next((one for one in node["status"].get("conditions") or [] if one["type"] == "Ready"), {})


def autoscaler(cluster: Cluster) -> Data | None:
    return cluster.client.get("autoscaling.openshift.io/v1", "clusterautoscalers", "default")


def bounds(cluster: Cluster) -> list[tuple[int, int]]:
    found = cluster.client.list("autoscaling.openshift.io/v1beta1", "machineautoscalers", NAMESPACE)
    return [
        (one["spec"]["minReplicas"], one["spec"]["maxReplicas"])
        for one in sorted(found, key=lambda one: str(one["metadata"]["name"]))
    ]
