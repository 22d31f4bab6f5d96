# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""enable_gpus.yml with gpu_backend dra: pods claim GPUs, a quota caps claims, claims validate the stack."""

from __future__ import annotations

import typing as t

import pytest
import yaml
from cluster import Cluster
from integration.patience import until
from integration.playbook import ROOT, Playbook, Run
from integration.wire import Audit

Data = dict[str, t.Any]
SCENARIO: t.Final = "aws"
pytestmark = [
    pytest.mark.story("a cluster's life: from nothing to claimed GPUs, and removal"),
    pytest.mark.long("the whole chain with claims: test_backend_dra.py has the same stack"),
]

EXAMPLE: t.Final[Data] = yaml.safe_load((ROOT / "examples/dra.yml").read_text())
# With a second candidate the run plans the pools again from what it has obtained.
POOLS: t.Final[list[Data]] = [
    pool | {"candidates": [*pool["candidates"], {"instance_type": "g5.12xlarge", "zones": ["us-east-2a"]}]}
    for pool in EXAMPLE["gpu_pools"]
]
GIVEN: t.Final[Data] = {"gpu_backend": EXAMPLE["gpu_backend"], "gpu_pools": POOLS}
RESOURCE: t.Final = "resource.k8s.io/v1"
COUNTED: t.Final = "gpu.nvidia.com.deviceclass.resource.k8s.io/devices"
VALIDATION: t.Final = "gpu-validation"


@pytest.fixture(scope="module")
def enabled(playbook: Playbook, audit: Audit) -> Run:
    planned = playbook.playbook("plan", **GIVEN)
    assert planned.rc == 0, planned.output[-3000:]
    assert audit.writes(*planned.tasks) == []
    for line in (
        "make    GPUCluster gpu-cluster",
        "make    NVIDIADriver training",
        f"quota   team-a/gpu-quota {COUNTED} 4",
    ):
        assert line in planned.output
    run = playbook.playbook("enable_gpus", **GIVEN)
    assert run.rc == 0, run.output[-3000:]
    return run


def result(run: Run, name: str) -> Data:
    """Return the result of the task with this name, or of its only loop item."""
    (found,) = [
        task.result for task in run.tasks if task.name.rpartition(" | ")[2] == name and not task.skipped
    ]
    return found["results"][0] if "results" in found else found


def test_from_nothing_to_a_program_on_every_gpu(cluster: Cluster, enabled: Run) -> None:
    client = cluster.client
    assert [one["metadata"]["name"] for one in client.list("nvidia.com/v1alpha1", "gpuclusters")] == [
        "gpu-cluster"
    ]
    assert client.list("nvidia.com/v1", "clusterpolicies") == []
    (node,) = result(enabled, "Run a CUDA program on every node of the pools")["workload"]["nodes"]
    assert (node["ran"], node["validated"], node["resources"]) == (True, 4, {"nvidia.com/gpu": 4})
    (offered,) = client.list(RESOURCE, "resourceslices")
    there = {
        device["attributes"]["uuid"]["string"]: device["attributes"]["driverVersion"]["version"]
        for device in offered["spec"]["devices"]
    }
    # Each pod saw the one device that its claim received.
    assert sorted(uuid for pod in node["pods"] for uuid in pod["result"]["uuids"]) == sorted(there)
    assert {node["driver_version"]} == set(there.values())
    assert "4/4/4" in enabled.output
    assert (
        client.list("v1", "pods", VALIDATION)
        == client.list(RESOURCE, "resourceclaimtemplates", VALIDATION)
        == []
    )
    assert until(lambda: not client.list(RESOURCE, "resourceclaims", VALIDATION), "the claims are gone")


def test_the_quota_is_proven(enabled: Run) -> None:
    (quota,) = result(enabled, "Cap the GPUs of namespaces (ready)")["quotas"]
    assert quota["resources"] == {COUNTED: {"hard": "4", "used": "0"}}
    assert (
        f"exceeded quota: gpu-quota, requested: {COUNTED}=5, used: {COUNTED}=0, limited: {COUNTED}=4"
        in quota["proof"]
    )


def test_the_second_run_changes_nothing(playbook: Playbook, audit: Audit, enabled: Run) -> None:
    again = playbook.playbook("enable_gpus", **GIVEN)
    assert (again.rc, again.changed) == (0, 0), again.output[-3000:]
    assert audit.of(*again.tasks)
    assert audit.writes(*again.tasks) == []


def test_removal_and_the_other_stack_in_the_way(
    cluster: Cluster, playbook: Playbook, audit: Audit, enabled: Run
) -> None:
    client = cluster.client
    run = playbook.playbook("remove_gpus", "--tags gpu_validation,gpu_policy,gpu_operator", gpu_pools=POOLS)
    assert run.rc == 0, run.output[-3000:]
    assert (
        client.list("nvidia.com/v1alpha1", "gpuclusters")
        == client.list("nvidia.com/v1alpha1", "nvidiadrivers")
        == []
    )
    assert client.list(RESOURCE, "resourceslices") == client.list("v1", "resourcequotas", "team-a") == []
    assert client.get("v1", "namespaces", VALIDATION) is None
    client.create(
        {
            "apiVersion": "nvidia.com/v1",
            "kind": "ClusterPolicy",
            "metadata": {"name": "theirs"},
            "spec": POLICY,
        }
    )
    refused = playbook.playbook("enable_gpus", **GIVEN)
    assert (refused.failure["code"], audit.writes(*refused.tasks)) == ("GPU-CP-CONFLICT", [])
    assert refused.failure.name == "present | Bring the GPU stack to every node of the pools (foreseen)"


POLICY: t.Final[Data] = {
    key: {}
    for key in (
        "operator",
        "daemonsets",
        "driver",
        "toolkit",
        "devicePlugin",
        "dcgmExporter",
        "dcgm",
        "nodeStatusExporter",
        "gfd",
    )
}
