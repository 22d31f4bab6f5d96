# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Traffic between two nodes over a network that the same run makes, and what is said when it is slow."""

from __future__ import annotations

import contextlib
import typing as t

import pytest
from cluster import Cluster
from integration.playbook import Playbook, Run, TaskResult

from openshift_sandbox import faults

pytestmark = pytest.mark.story("a pool gets a network and is measured over it, then troubles begin and end")
SCENARIO: t.Final = "networks"
NETWORK: t.Final = {
    "name": "ib-rail-0",
    "kind": "sriov_ib",
    "namespaces": ["gpu-validation"],
    "ipam": {"type": "none"},
    "sriov_ib": {"vfs": 4, "interfaces": ["ibs1"]},
}
RDMA: t.Final = {"program": "rdma", "network": "ib-rail-0"}
NCCL: t.Final = {"program": "nccl", "nodes": 2, "network": "ib-rail-0"}
SELECTOR: t.Final = {"rdma": "infiniband"}
EXPECTED: t.Final = {"nvidia.com/gpu": 8}
POOLS: t.Final = [
    {
        "name": "training",
        "existing": {"node_selector": SELECTOR, "expected": EXPECTED},
        "validate": {"programs": [RDMA, NCCL]},
    }
]


@contextlib.contextmanager
def troubles(cluster: Cluster, *kinds: str) -> t.Iterator[None]:
    sandbox = cluster.needs_sandbox()
    for kind in kinds:
        faults.add(sandbox, kind, {"node": "ib-1"})
    try:
        yield
    finally:
        for kind in kinds:
            faults.clear(sandbox, kind, {"node": "ib-1"})


@pytest.fixture(scope="module")
def enabled(playbook: Playbook, cluster: Cluster) -> Run:
    run = playbook.playbook(
        "enable_gpus",
        gpu_pools=POOLS,
        gpu_networks=[NETWORK],
        gpu_on_busy="drain",
        gpu_operator_wait_timeout=120,
    )
    # The namespace does not allow IPC_LOCK, and CRI-O gives no unlimited memlock.
    assert run.failure.result["code"] == "WORK-RDMA-RIGHTS", run.output
    assert cluster.client.list("v1", "pods", "gpu-validation") == []
    return run


@pytest.fixture
def validate(playbook: Playbook, enabled: Run) -> t.Callable[..., TaskResult]:
    networks = next(task["networks"] for task in enabled.tasks if "rebooted" in task.result)

    def call(*programs: t.Any) -> TaskResult:
        entry = {"name": "training", "node_selector": SELECTOR, "expected": EXPECTED}
        pools = [{**entry, "programs": list(programs)}]
        return playbook.module("gpu_workload", pools=pools, networks=networks, wait_timeout=120, repeat=True)

    return call


def results(found: TaskResult) -> list[dict[str, t.Any]]:
    assert not found.failed, found.result
    return [pod["result"] for node in found["workload"]["nodes"] for pod in node["pods"]]


def test_traffic_with_the_least_rights(validate: t.Callable[..., TaskResult], cluster: Cluster) -> None:
    sandbox = cluster.needs_sandbox()
    faults.add(sandbox, "memlock_unlimited", {})
    try:
        for one in results(validate(RDMA)):
            assert (one["rights"], one["gpu_memory"]) == ("memlock", ["dmabuf"])
            assert [figure["name"] for figure in one["figures"]] == ["host", "gpu"]
        for one in results(validate(NCCL)):
            assert one["transports"] == {"all_reduce": ["NET/IB/GDRDMA"]}
    finally:
        faults.clear(sandbox, "memlock_unlimited", {})


def allow(cluster: Cluster) -> None:
    """Let pods of the namespace have capabilities, as a cluster administrator does."""
    metadata = {"name": "gpu-validation", "labels": {"pod-security.kubernetes.io/enforce": "privileged"}}
    cluster.client.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": metadata})


def test_traffic_with_ipc_lock(validate: t.Callable[..., TaskResult], cluster: Cluster) -> None:
    allow(cluster)
    assert {one["rights"] for one in results(validate(RDMA))} == {"IPC_LOCK"}


@pytest.mark.parametrize(
    ("kinds", "code"),
    [
        (("slow_network",), "WORK-LOW"),
        (("gpu_far_from_nic",), "WORK-RDMA-RAIL"),
        (("gpu_memory_unused",), "WORK-RDMA-GPU"),
        (("no_dmabuf", "no_peermem"), "WORK-RDMA-GPU"),
        (("link_down",), "WORK-RDMA-PATH"),
        (("extra_rdma_devices",), "WORK-RDMA-EXTRA"),
    ],
)
def test_what_is_wrong_with_the_traffic(
    validate: t.Callable[..., TaskResult], cluster: Cluster, kinds: tuple[str, ...], code: str
) -> None:
    allow(cluster)
    with troubles(cluster, *kinds):
        found = validate(RDMA)
    assert found.result["code"] == code, found.result["msg"]
    assert found.result["remedy"]
    assert cluster.client.list("v1", "pods", "gpu-validation") == []


def test_peermem_comes_second(validate: t.Callable[..., TaskResult], cluster: Cluster) -> None:
    allow(cluster)
    with troubles(cluster, "no_dmabuf"):
        assert sorted(one["gpu_memory"] for one in results(validate(RDMA))) == [["dmabuf"], ["peermem"]]


def test_sockets_instead_of_rdma(validate: t.Callable[..., TaskResult], cluster: Cluster) -> None:
    allow(cluster)
    with troubles(cluster, "nccl_sockets"):
        assert validate(NCCL).result["code"] == "WORK-RDMA-SOCKETS"
