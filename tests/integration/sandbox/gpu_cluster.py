# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What an administrator does by hand for GPUs, and reads of the ClusterPolicy and its pods."""

from __future__ import annotations

import typing as t

from integration.patience import until
from integration.sandbox.subscriptions import Data, Operator

from openshift_sandbox.client import ApiError, Client

NFD: t.Final = ("nfd", "openshift-nfd", "redhat-operators", "stable")
GPU: t.Final = ("gpu-operator-certified", "nvidia-gpu-operator", "certified-operators", "v26.7")
NAMESPACE: t.Final = "nvidia-gpu-operator"
POLICY: t.Final = "gpu-cluster-policy"


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


def policy_status(client: Client) -> Data:
    return t.cast("Data", (client.get("nvidia.com/v1", "clusterpolicies", POLICY) or {}).get("status", {}))


def condition(client: Client, kind: str) -> Data:
    return next((one for one in policy_status(client).get("conditions", []) if one["type"] == kind), {})


def pods_on(client: Client, node: str) -> list[Data]:
    return [pod for pod in client.list("v1", "pods", NAMESPACE) if pod["spec"].get("nodeName") == node]


def log(client: Client, namespace: str, pod: str, container: str) -> str:
    status, answer = client.request(
        "GET", f"/api/v1/namespaces/{namespace}/pods/{pod}/log", query={"container": container}
    )
    if status != 200:
        raise ApiError(status, str(answer))
    return str(answer["message"])
