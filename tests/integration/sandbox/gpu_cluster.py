# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The manual way to GPUs, as an administrator goes it.

It creates a MachineSet, installs two operators and creates a NodeFeatureDiscovery and a ClusterPolicy.
"""

from __future__ import annotations

import typing as t

from integration.patience import until
from integration.sandbox.machine_sets import copied, worker
from integration.sandbox.subscriptions import Data, Operator

from openshift_sandbox.client import ApiError, Client

NFD: t.Final = ("nfd", "openshift-nfd", "redhat-operators", "stable")
GPU: t.Final = ("gpu-operator-certified", "nvidia-gpu-operator", "certified-operators", "v26.7")
NAMESPACE: t.Final = "nvidia-gpu-operator"
POLICY: t.Final = "gpu-cluster-policy"
TAINT: t.Final = {"key": "nvidia.com/gpu", "value": "test", "effect": "NoSchedule"}
SPEC: t.Final[Data] = {
    key: {} for key in ("operator", "daemonsets", "toolkit", "devicePlugin", "dcgmExporter", "dcgm", "gfd")
} | {
    "driver": {"upgradePolicy": {"autoUpgrade": True}},
    "nodeStatusExporter": {"enabled": True},
}


def install(client: Client, package: str, namespace: str, source: str, channel: str) -> None:
    """Install an operator through OLM and wait until its CSV succeeds."""
    operator = Operator(client, package, namespace, source)
    operator.subscribe(channel)
    plan = until(
        lambda: next(
            (one for one in client.list("operators.coreos.com/v1alpha1", "installplans", namespace)), None
        ),
        f"an install plan for {package}",
    )
    [csv] = plan["spec"]["clusterServiceVersionNames"]
    operator.approve(csv)
    operator.reached(csv, "Succeeded")


def discover(client: Client) -> None:
    metadata = {"name": "nfd-instance", "namespace": "openshift-nfd"}
    client.apply(
        {
            "apiVersion": "nfd.openshift.io/v1",
            "kind": "NodeFeatureDiscovery",
            "metadata": metadata,
            "spec": {},
        }
    )


def add_gpu_nodes(client: Client, instance_type: str, replicas: int) -> None:
    """Create a MachineSet from the first zone's worker set."""
    labels = {"accelerators.openshift/pool": "test"}
    client.create(
        copied(
            worker(client), "demo-x7k2p-gpu-us-east-2a", replicas, labels, [TAINT], instanceType=instance_type
        )
    )


def gpu_nodes(client: Client) -> list[Data]:
    return client.list("v1", "nodes", labels="accelerators.openshift/pool=test")


def apply_policy(client: Client, **spec: t.Any) -> None:
    client.apply(
        {
            "apiVersion": "nvidia.com/v1",
            "kind": "ClusterPolicy",
            "metadata": {"name": POLICY},
            "spec": SPEC | spec,
        }
    )


def policy_status(client: Client) -> Data:
    return t.cast("Data", (client.get("nvidia.com/v1", "clusterpolicies", POLICY) or {}).get("status", {}))


def condition(client: Client, kind: str) -> Data:
    return next((one for one in policy_status(client).get("conditions", []) if one["type"] == kind), {})


def reconciled(client: Client) -> bool:
    """Return whether the ClusterPolicy is ready with reason Reconciled."""
    return (
        policy_status(client).get("state") == "ready"
        and condition(client, "Ready").get("reason") == "Reconciled"
    )


def pods_on(client: Client, node: str) -> list[Data]:
    return [pod for pod in client.list("v1", "pods", NAMESPACE) if pod["spec"].get("nodeName") == node]


def run_cuda(client: Client, name: str, resource: str = "nvidia.com/gpu", count: int = 1) -> None:
    limits = {resource: str(count)}
    container = {
        "name": "cuda",
        "image": "cuda-sample:vectoradd",
        "command": ["/cuda-samples/vectorAdd"],
        "resources": {"limits": limits},
    }
    labels = {
        "app.kubernetes.io/managed-by": "accelerators.openshift",
        "accelerators.openshift/benchmark": "vectoradd",
    }
    spec = {
        "restartPolicy": "Never",
        "tolerations": [{"key": "nvidia.com/gpu", "operator": "Exists"}],
        "containers": [container],
    }
    client.create(
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": name, "namespace": "default", "labels": labels},
            "spec": spec,
        }
    )


def ended(client: Client, name: str) -> Data:
    """Wait until a pod has ended; return it."""

    def look() -> Data | None:
        pod = client.get("v1", "pods", name, "default")
        return pod if pod and pod["status"].get("phase") in ("Succeeded", "Failed") else None

    return until(look, f"the end of pod {name}")


def log(client: Client, namespace: str, pod: str, container: str) -> str:
    status, answer = client.request(
        "GET", f"/api/v1/namespaces/{namespace}/pods/{pod}/log", query={"container": container}
    )
    if status != 200:
        raise ApiError(status, str(answer))
    return str(answer["message"])
