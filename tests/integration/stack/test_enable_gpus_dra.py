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
from integration.twelve_steps import Case, Walks
from integration.wire import Audit

from openshift_sandbox.client import ApiError

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
POOL: t.Final = {"accelerators.openshift/pool": "training"}
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
    (node,) = result(enabled, "Run a CUDA program on every node of the pools, and prove what the pools say")[
        "workload"
    ]["nodes"]
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


def test_twelve_steps(playbook: Playbook, audit: Audit, enabled: Run) -> None:
    """Walk the steps of gpu_quota; of the validation, which the playbooks run, check only the prediction."""
    quota = {"namespace": "it-dra-claims", "create_namespaces": True, "claims": True}
    case = Case(
        "gpu_quota",
        quota | {"gpus": 2, "prove": True},
        quota | {"gpus": 3},
        {"namespace": "it-dra-claims", "state": "absent"},
    )
    Walks(playbook, audit).check(case, in_process=True)
    foreseen = playbook.module(
        "gpu_workload", check=True, node_selector=POOL, claims=True, benchmark="matmul"
    )
    assert (foreseen.changed, len(foreseen["workload"]["due"]), audit.writes(foreseen)) == (True, 1, [])


def claiming(name: str, count: int) -> list[Data]:
    metadata = {"name": name, "namespace": "team-a"}
    request = {"name": "gpu", "exactly": {"deviceClassName": "gpu.nvidia.com", "count": count}}
    container = {
        "name": "main",
        "image": "registry.example.com/cuda:1",
        "resources": {"claims": [{"name": "gpu"}]},
    }
    pod = {
        "resourceClaims": [{"name": "gpu", "resourceClaimName": name}],
        "containers": [container],
        "tolerations": [{"operator": "Exists"}],
    }
    return [
        {
            "apiVersion": RESOURCE,
            "kind": "ResourceClaim",
            "metadata": metadata,
            "spec": {"devices": {"requests": [request]}},
        },
        {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": pod},
    ]


def test_what_a_team_claims_counts_and_is_named(
    cluster: Cluster, playbook: Playbook, audit: Audit, enabled: Run
) -> None:
    client = cluster.client
    for one in claiming("trainer", 3):
        client.create(one)

    def used() -> t.Any:
        return (
            ((client.get(RESOURCE, "resourceclaims", "trainer", "team-a") or {}).get("status")) or {}
        ).get("reservedFor")

    until(used, "the claim is allocated")
    with pytest.raises(ApiError, match="exceeded quota: gpu-quota"):
        client.create(claiming("more", 2)[0])
    quota = playbook.module("gpu_quota", namespace="team-a", gpus=4, claims=True, prove=True)["quota"]
    requests, owner = {"gpu.nvidia.com": 3}, {"kind": "Pod", "name": "trainer"}
    assert quota["holders"] == [{"pod": "trainer", "claim": "trainer", "owner": owner, "requests": requests}]
    assert quota["use"]["owners"] == [{**owner, "pods": 1, "requests": requests}]
    assert f"requested: {COUNTED}=2, used: {COUNTED}=3" in quota["proof"]
    held = "1 of 4 nvidia.com/gpu free, 4 needed; held by team-a/trainer (3)"
    busy = playbook.module("gpu_workload", node_selector=POOL, claims=True, repeat=True, strict=True)
    assert (busy["code"], audit.writes(busy)) == ("WORK-BUSY", [])
    assert held in busy["msg"]
    left_out = playbook.module("gpu_workload", node_selector=POOL, claims=True, repeat=True)
    assert (left_out.failed, audit.writes(left_out)) == (False, [])
    assert [node["busy"] for node in left_out["workload"]["nodes"]] == [held]
    below = playbook.module("special_resource", backend="nvidiadriver", state="absent")
    assert (below["code"], audit.writes(below)) == ("GPU-CP-NEEDED", [])
    assert "GPUCluster gpu-cluster needs NVIDIADriver training" in below["msg"]
    kept = playbook.playbook("remove_gpus", "--tags gpu_operator", gpu_pools=POOLS)
    assert (kept.failure["code"], audit.writes(*kept.tasks)) == ("NODE-BUSY", [])
    assert "team-a/trainer" in kept.failure["msg"]
    alone = playbook.module("special_resource", backend="dra", state="absent")
    assert (alone["code"], audit.writes(alone)) == ("GPU-DRA-BUSY", [])
    client.delete("v1", "pods", "trainer", "team-a")
    client.delete(RESOURCE, "resourceclaims", "trainer", "team-a")
    until(lambda: not client.list("v1", "pods", "team-a"), "the pod is gone")


def test_a_validation_that_is_forced_is_foreseen(playbook: Playbook, audit: Audit, enabled: Run) -> None:
    asked: dict[str, t.Any] = {"node_selector": POOL, "claims": True, "namespace": VALIDATION, "repeat": True}
    foreseen = playbook.module("gpu_workload", check=True, **asked)
    done = playbook.module("gpu_workload", **asked)
    assert (foreseen.changed, audit.writes(foreseen), done.changed, done.failed) == (True, [], True, False)


def test_a_quota_that_is_smaller_than_the_validation_needs(
    cluster: Cluster, playbook: Playbook, audit: Audit, enabled: Run
) -> None:
    quota = {
        "apiVersion": "v1",
        "kind": "ResourceQuota",
        "metadata": {"name": "theirs", "namespace": VALIDATION},
        "spec": {"hard": {COUNTED: "1"}},
    }
    cluster.client.create(quota)
    try:
        until(
            lambda: (
                (cluster.client.get("v1", "resourcequotas", "theirs", VALIDATION) or {})
                .get("status", {})
                .get("used")
            ),
            "the quota is counted",
        )
        found = playbook.module("gpu_workload", node_selector=POOL, claims=True, repeat=True)
    finally:
        cluster.client.delete("v1", "resourcequotas", "theirs", VALIDATION)
    assert (found["code"], audit.writes(found)) == ("QUOTA-TOO-SMALL", [])
    assert f"requested: {COUNTED}=4" in found["msg"]


def test_what_does_not_fit_is_told_before_the_first_request(
    playbook: Playbook, audit: Audit, enabled: Run
) -> None:
    shared = [
        pool
        | {
            "candidates": [{"instance_type": "p4d.24xlarge", "zones": ["us-east-2a"]}],
            "sharing": {"mig": {"slices": 7}},
        }
        for pool in POOLS
    ]
    run = playbook.playbook("enable_gpus", **GIVEN | {"gpu_pools": shared})
    assert run.failure["problems"][0]["path"] == "gpu_pools[0].sharing.mig"
    assert (run.failure["code"], audit.of(*run.tasks)) == ("POOL-DRA", [])
    wrong = playbook.module(
        "gpu_workload", node_selector=POOL, claims=True, expected={"nvidia.com/mig-1g.5gb": 7}
    )
    assert (wrong["code"], audit.of(wrong)) == ("INPUT-VALUE", [])


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
