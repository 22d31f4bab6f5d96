# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The GPU operator's stand-in with real controllers: from a ClusterPolicy to CUDA pods, and its failures."""

from __future__ import annotations

import re
import typing as t

import pytest
from integration.patience import until
from integration.sandbox import gpu_cluster
from integration.sandbox.gpu_cluster import NAMESPACE, POLICY
from integration.sandbox.subscriptions import Data

from openshift_sandbox import faults
from openshift_sandbox.client import Client
from openshift_sandbox.sandbox import Sandbox

SCENARIO = "aws"
pytestmark = pytest.mark.long(
    "the sandbox itself: every other test uses its parts, these test them one by one"
)
GPUS = 4
OSTREE = "feature.node.kubernetes.io/system-os_release.OSTREE_VERSION"


@pytest.fixture(scope="module")
def client(sandbox: Sandbox) -> Client:
    """Return a client of a cluster with two labelled GPU nodes and both operators, but no ClusterPolicy."""
    client = sandbox.client("gpu-operator-test")
    gpu_cluster.add_gpu_nodes(client, "g4dn.12xlarge", replicas=2)
    gpu_cluster.install(client, *gpu_cluster.NFD)
    gpu_cluster.install(client, *gpu_cluster.GPU)
    gpu_cluster.discover(client)
    until(
        lambda: [node for node in gpu_cluster.gpu_nodes(client) if OSTREE in node["metadata"]["labels"]][1:],
        "labels of node feature discovery",
    )
    return client


@pytest.fixture(scope="module")
def nodes(client: Client) -> list[Data]:
    """Create a ClusterPolicy, wait until it is ready, and return the GPU nodes."""
    gpu_cluster.apply_policy(client)
    until(lambda: gpu_cluster.reconciled(client), "ready/Reconciled")
    return gpu_cluster.gpu_nodes(client)


@pytest.fixture
def trouble(sandbox: Sandbox, nodes: list[Data]) -> t.Iterator[t.Callable[..., None]]:
    def add(kind: str, **fields: t.Any) -> None:
        faults.add(sandbox, kind, fields)

    yield add
    faults.clear(sandbox, None, {})
    until(lambda: gpu_cluster.reconciled(sandbox.client()), "recovery")


def test_every_gpu_is_allocatable_and_described(client: Client, nodes: list[Data]) -> None:
    assert [node["status"]["allocatable"]["nvidia.com/gpu"] for node in nodes] == [str(GPUS)] * 2

    def described() -> bool:
        labels = [node["metadata"]["labels"] for node in gpu_cluster.gpu_nodes(client)]
        return all(
            one.get("nvidia.com/gpu.product") == "Tesla-T4" and one.get("nvidia.com/gpu.count") == str(GPUS)
            for one in labels
        )

    until(described, "labels of GPU feature discovery")


def test_objects_as_the_operator_makes_them(client: Client, nodes: list[Data]) -> None:
    names = {one["metadata"]["name"] for one in client.list("apps/v1", "daemonsets", NAMESPACE)}
    assert f"nvidia-driver-daemonset-{nodes[0]['metadata']['labels'][OSTREE]}" in names
    assert {"nvidia-mig-manager", "nvidia-device-plugin-mps-control-daemon"} < names
    assert {"nvidia", "nvidia-cdi", "nvidia-legacy"} <= {
        one["metadata"]["name"] for one in client.list("node.k8s.io/v1", "runtimeclasses")
    }
    namespace = client.get("v1", "namespaces", NAMESPACE) or {}
    assert namespace["metadata"]["labels"]["openshift.io/cluster-monitoring"] == "true"
    marks = {
        key
        for key in gpu_cluster.gpu_nodes(client)[0]["metadata"]["labels"]
        if key.startswith("nvidia.com/gpu.deploy.")
    }
    assert len(marks) == 9


def test_concurrent_pods_run_cuda_on_different_devices(client: Client, nodes: list[Data]) -> None:
    names = [f"cuda-{index}" for index in range(GPUS * 2)]
    for name in names:
        gpu_cluster.run_cuda(client, name)
    found = []
    for name in names:
        assert gpu_cluster.ended(client, name)["status"]["phase"] == "Succeeded"
        text = gpu_cluster.log(client, "default", name, "cuda")
        assert "Test PASSED" in text
        found += re.findall(r"UUID: (GPU-\S+)\)", text)
    assert len(found) == len(set(found)) == GPUS * 2


def test_cuda_that_fails_ends_with_its_exit_code(client: Client, trouble: t.Callable[..., None]) -> None:
    trouble("cuda_fails", exit_code=3, text="CUDA error: system not yet initialized")
    gpu_cluster.run_cuda(client, "cuda-fails")
    pod = gpu_cluster.ended(client, "cuda-fails")
    assert pod["status"]["phase"] == "Failed"
    assert pod["status"]["containerStatuses"][0]["state"]["terminated"]["exitCode"] == 3
    assert "system not yet initialized" in gpu_cluster.log(client, "default", "cuda-fails", "cuda")


def test_a_second_policy_has_no_status(client: Client, nodes: list[Data]) -> None:
    client.apply(
        {
            "apiVersion": "nvidia.com/v1",
            "kind": "ClusterPolicy",
            "metadata": {"name": "second"},
            "spec": gpu_cluster.SPEC,
        }
    )
    gpu_cluster.apply_policy(client, dcgm={"enabled": False})
    until(
        lambda: client.get("apps/v1", "daemonsets", "nvidia-dcgm", NAMESPACE) is None,
        "the operator's next round",
    )
    assert "status" not in (client.get("nvidia.com/v1", "clusterpolicies", "second") or {})
    client.delete("nvidia.com/v1", "clusterpolicies", "second")
    gpu_cluster.apply_policy(client)
    until(lambda: gpu_cluster.reconciled(client), "ready again")


def test_a_driver_that_crashes_holds_everything_behind_it(
    client: Client, nodes: list[Data], trouble: t.Callable[..., None]
) -> None:
    name = nodes[0]["metadata"]["name"]
    trouble("driver_crashloop", node=name, text="Unable to find a match: elfutils-libelf-devel")

    def crashing() -> Data | None:
        for pod in gpu_cluster.pods_on(client, name):
            states = [
                one.get("state", {}).get("waiting", {}).get("reason")
                for one in pod["status"].get("containerStatuses", [])
            ]
            if "driver" in pod["metadata"]["name"] and "CrashLoopBackOff" in states:
                return pod
        return None

    pod = until(crashing, "CrashLoopBackOff")
    until(
        lambda: "state-driver" in gpu_cluster.condition(client, "Error").get("message", ""),
        "state-driver not ready",
    )
    assert gpu_cluster.condition(client, "Error")["reason"] == "OperandNotReady"
    until(
        lambda: (
            "elfutils-libelf-devel"
            in gpu_cluster.log(client, NAMESPACE, pod["metadata"]["name"], "nvidia-driver-ctr")
        ),
        "the driver's log",
    )


def test_a_lost_gpu_leaves_capacity_as_it_is(
    client: Client, nodes: list[Data], trouble: t.Callable[..., None]
) -> None:
    name = nodes[0]["metadata"]["name"]
    trouble("gpu_lost", node=name, count=1)

    def amounts() -> tuple[str, str]:
        status = (client.get("v1", "nodes", name) or {})["status"]
        return status["capacity"]["nvidia.com/gpu"], status["allocatable"]["nvidia.com/gpu"]

    until(lambda: amounts() == (str(GPUS), str(GPUS - 1)), "one GPU less")


def test_tolerations_roll_every_daemon_set_and_upgrade_the_driver(client: Client, nodes: list[Data]) -> None:
    gpu_cluster.apply_policy(
        client, daemonsets={"tolerations": [{"key": "team", "operator": "Exists", "effect": "NoSchedule"}]}
    )
    until(lambda: not gpu_cluster.reconciled(client), "not ready any more")
    until(lambda: gpu_cluster.reconciled(client), "ready again")

    def upgraded() -> bool:
        found = gpu_cluster.gpu_nodes(client)
        states = {node["metadata"]["labels"].get("nvidia.com/gpu-driver-upgrade-state") for node in found}
        return states == {"upgrade-done"} and not any(node["spec"].get("unschedulable") for node in found)

    until(upgraded, "upgrade-done on every node")


def test_a_foreign_taint_is_a_false_green(client: Client, nodes: list[Data]) -> None:
    name = nodes[0]["metadata"]["name"]
    taints = (client.get("v1", "nodes", name) or {})["spec"]["taints"]
    client.patch(
        "v1", "nodes", name, None, {"spec": {"taints": [*taints, {"key": "other", "effect": "NoSchedule"}]}}
    )
    for pod in gpu_cluster.pods_on(client, name):
        if pod["metadata"]["ownerReferences"][0]["kind"] == "DaemonSet":
            client.delete("v1", "pods", pod["metadata"]["name"], NAMESPACE)
    until(
        lambda: (client.get("v1", "nodes", name) or {})["status"]["allocatable"]["nvidia.com/gpu"] == "0",
        "no GPU on the tainted node",
    )
    until(lambda: gpu_cluster.reconciled(client), "ready/Reconciled all the same")
    wanted = client.get("apps/v1", "daemonsets", "nvidia-device-plugin-daemonset", NAMESPACE) or {}
    assert wanted["status"]["desiredNumberScheduled"] == 1
    client.patch("v1", "nodes", name, None, {"spec": {"taints": taints}})


def test_deletion_takes_the_operands_along(client: Client, nodes: list[Data]) -> None:
    client.delete("nvidia.com/v1", "clusterpolicies", POLICY)
    until(lambda: not client.list("apps/v1", "daemonsets", NAMESPACE), "no DaemonSet left")
    until(
        lambda: all(
            node["status"]["allocatable"]["nvidia.com/gpu"] == "0" for node in gpu_cluster.gpu_nodes(client)
        ),
        "no GPU advertised",
    )
    assert until(
        lambda: all(
            "nvidia.com/gpu.product" not in node["metadata"]["labels"]
            for node in gpu_cluster.gpu_nodes(client)
        ),
        "labels of GFD gone",
    )
