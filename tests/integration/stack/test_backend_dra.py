# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""special_resource, backend dra: ResourceSlices judge the GPUCluster, the scheduler judges the claims."""

from __future__ import annotations

import typing as t

import pytest
from cluster import Cluster
from integration.direct import before_the_operator, judge
from integration.patience import until
from integration.playbook import Playbook
from integration.wire import Audit

from openshift_sandbox import faults

Data = dict[str, t.Any]
SCENARIO: t.Final = "gpu-nodes"
OPERATORS: t.Final = {"nfd": "openshift-nfd", "gpu-operator-certified": "nvidia-gpu-operator"}

BACKEND: t.Final = "dra"
CLUSTERS: t.Final = ("nvidia.com/v1alpha1", "gpuclusters")
POOL: t.Final = "accelerators.openshift/pool"
CLIQUE: t.Final = "nvidia.com/gpu.clique"
MODE: t.Final = "nvidia.com/gpu-operator.resource-allocation.mode"
POOLS: t.Final[list[Data]] = [
    {
        "name": "inference",
        "node_selector": {POOL: "inference"},
        "expected": {"nvidia.com/gpu": 1},
        "min_nodes": 2,
    },
    {"name": "training", "node_selector": {POOL: "training"}, "expected": {"nvidia.com/gpu": 8}},
]
STAGES: t.Final = [
    "catalogue",
    "install plan",
    "csv",
    "crd",
    "nfd labels",
    "driver",
    "dra driver",
    "validator",
    "metrics",
    "allocatable",
]
WANTED: t.Final[Data] = {"backend": BACKEND, "pools": POOLS, "grace": 5, "wait_timeout": 120}
GONE: t.Final[Data] = {"backend": BACKEND, "state": "absent", "wait_timeout": 120}
CLAIM: t.Final[Data] = {
    "apiVersion": "resource.k8s.io/v1",
    "kind": "ResourceClaim",
    "metadata": {"name": "one-gpu", "namespace": "default"},
    "spec": {"devices": {"requests": [{"name": "gpu", "exactly": {"deviceClassName": "gpu.nvidia.com"}}]}},
}
POD: t.Final[Data] = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "claims", "namespace": "default"},
    "spec": {
        "resourceClaims": [{"name": "gpu", "resourceClaimName": "one-gpu"}],
        "containers": [
            {
                "name": "main",
                "image": "registry.example.com/cuda:1",
                "resources": {"claims": [{"name": "gpu"}]},
            }
        ],
    },
}


def stage(found: t.Any, name: str) -> Data:
    return next(one for one in found["special_resource"]["stages"] if one["name"] == name)


def behind(found: t.Any) -> dict[str, tuple[str, str]]:
    """Return verdict and cause of each stage that is not ready."""
    return {
        one["name"]: (one["verdict"], one["consequence_of"])
        for one in found["special_resource"]["stages"]
        if one["verdict"] != "ready"
    }


def pools(found: t.Any) -> dict[str, bool]:
    return {one["name"]: one["ready"] for one in found["special_resource"]["pools"]}


def test_without_the_operator_the_first_stage_says_so(cluster: Cluster) -> None:
    before_the_operator(cluster, "gpu-operator", **WANTED | {"wait_timeout": 10})


def test_a_claim_gets_a_gpu_and_holds_the_stack(cluster: Cluster, playbook: Playbook, audit: Audit) -> None:
    made = playbook.module("special_resource", **WANTED)
    assert not made.failed, made.result
    found = made["special_resource"]
    assert (found["state"], found["reason"]) == ("ready", "Reconciled")
    assert [(one["pool"], one["offered"], len(one["devices"])) for one in found["nodes"]] == [
        ("inference", {"nvidia.com/gpu": 1}, 1),
        ("inference", {"nvidia.com/gpu": 1}, 1),
        ("training", {"nvidia.com/gpu": 8}, 8),
    ]
    assert [(one["name"], one["verdict"]) for one in found["stages"]] == [(name, "ready") for name in STAGES]
    assert found["table"] == [f"ready: {', '.join(STAGES)}"]
    assert pools(made) == {"inference": True, "training": True}
    assert all(device["uuid"].startswith("GPU-") for one in found["nodes"] for device in one["devices"])
    cluster.client.create(CLAIM)
    cluster.client.create(POD)

    def allocated() -> t.Any:
        claim = cluster.client.get("resource.k8s.io/v1", "resourceclaims", "one-gpu", "default")
        return ((claim or {}).get("status") or {}).get("reservedFor")

    assert until(allocated, "the claim is allocated")
    refused = playbook.module("special_resource", **GONE)
    assert (refused["code"], audit.writes(refused)) == ("GPU-DRA-BUSY", [])
    assert "default/one-gpu" in refused["msg"]
    cluster.client.delete("v1", "pods", "claims", "default")
    cluster.client.delete("resource.k8s.io/v1", "resourceclaims", "one-gpu", "default")
    # A pod that is on its way out still holds its GPU.
    assert until(lambda: not cluster.client.list("resource.k8s.io/v1", "resourceclaims"), "the GPU is free")


def test_a_node_of_an_nvlink_domain_gives_a_pod_one_channel(cluster: Cluster, playbook: Playbook) -> None:
    sandbox, client = cluster.needs_sandbox(), cluster.client
    pools = [
        {"name": name, "node_selector": {POOL: name}, "claims": True, "programs": ["compute_domain"]}
        for name in ("inference", "training")
    ]
    asked: Data = {"pools": pools, "wait_timeout": 60, "repeat": True}

    def label(value: str | None) -> None:
        client.patch("v1", "nodes", "a100-0", None, {"metadata": {"labels": {CLIQUE: value}}})

    def left() -> list[str]:
        """Return what the validation has left behind."""
        kinds = [("resource.nvidia.com/v1beta1", "computedomains"), ("batch/v1", "jobs"), ("v1", "pods")]
        kinds += [("resource.k8s.io/v1", kind) for kind in ("resourceclaims", "resourceclaimtemplates")]
        found = [one for kind in kinds for one in client.list(*kind, "gpu-validation")]
        return [one["metadata"]["name"] for one in found]

    label("8f5c7a52-8f3b-4d52-a0e6-3f0e7f1f2c11.0")
    try:
        channel = "a100-0-compute-domain.nvidia.com"
        assert until(lambda: client.get("resource.k8s.io/v1", "resourceslices", channel), "its channel")
        good = playbook.module("gpu_workload", **asked)
        assert not good.failed, good.result
        said = {one["name"]: one["programs"][0] for one in good["workload"]["nodes"]}
        assert {name: (one["outcome"], one["reason"]) for name, one in said.items()} == {
            "t4-0": ("not_run", "not_applicable"),
            "t4-1": ("not_run", "not_applicable"),
            "a100-0": ("passed", ""),
        }
        (ran,) = [pod for node in good["workload"]["nodes"] for pod in node["pods"]]
        assert (ran["result"]["channels"], len(ran["result"]["uuids"])) == (["channel0"], 8)
        assert until(lambda: not left(), "everything of the run is gone")
        faults.add(sandbox, "imex_channels", {"node": "a100-0"})
        bad = playbook.module("gpu_workload", **asked)
        assert (bad.failed, bad["code"]) == (True, "WORK-IMEX-CHANNEL"), bad.result
        assert "2 devices (channel0, channel1)" in bad["msg"]
        assert until(lambda: not left(), "everything of the failed run is gone")
    finally:
        faults.clear(sandbox, "imex_channels", {})
        label(None)
    assert until(lambda: len(client.list("resource.k8s.io/v1", "resourceslices")) == 3, "the channel is gone")


def test_ready_with_a_gpu_less_is_seen_through(cluster: Cluster) -> None:
    """Lose a GPU: the operator counts DaemonSets, not devices, and still says ready."""
    sandbox = cluster.needs_sandbox()
    faults.add(sandbox, "gpu_lost", {"node": "a100-0", "count": 1})
    try:
        fewer = until(lambda: len(slices(cluster)["a100-0"]) == 7, "the slice has a GPU less")
        assert fewer
        found = judge(cluster, **WANTED | {"grace": 2})
    finally:
        faults.clear(sandbox, "gpu_lost", {})
    assert (found["code"], found["special_resource"]["state"]) == ("GPU-DRA-SLICES", "ready")
    assert "a100-0" in found["message"]
    assert "7 of 8 nvidia.com/gpu" in found["message"]
    assert behind(found) == {"allocatable": ("failed", "")}
    assert [one["node"] for one in stage(found, "allocatable")["nodes"]] == ["a100-0"]
    assert pools(found) == {"inference": True, "training": False}
    assert stage(found, "csv")["evidence"][0].endswith("Succeeded.") or stage(found, "csv")["since"], stage(
        found, "csv"
    )
    assert found["special_resource"]["table"][-1].startswith(
        "allocatable FAILED on 1 of 3 nodes: a100-0: its ResourceSlices offer 7 of 8 nvidia.com/gpu"
    )


def slices(cluster: Cluster) -> dict[str, list[Data]]:
    return {
        one["spec"]["nodeName"]: one["spec"]["devices"]
        for one in cluster.client.list("resource.k8s.io/v1", "resourceslices")
    }


def test_a_label_of_the_other_stack_is_named(cluster: Cluster) -> None:
    cluster.client.patch("v1", "nodes", "t4-0", None, {"metadata": {"labels": {MODE: "device-plugin"}}})
    try:
        found = judge(cluster, **WANTED | {"wait_timeout": 2})
    finally:
        cluster.client.patch("v1", "nodes", "t4-0", None, {"metadata": {"labels": {MODE: None}}})
    assert (found["code"], found["special_resource"]["state"]) == ("GPU-MODE", "ready")
    assert f"oc label node t4-0 {MODE}-" in found["remedy"]
    assert behind(found) == {"nfd labels": ("pending", "")}


def test_ready_although_a_node_was_left_out(cluster: Cluster) -> None:
    """Exclude a node: its DaemonSet wants one pod less, so DaemonSet and GPUCluster still say ready."""
    label = "nvidia.com/gpu.deploy.dra-driver"
    cluster.client.patch("v1", "nodes", "t4-1", None, {"metadata": {"labels": {label: "false"}}})
    try:
        until(lambda: "t4-1" not in slices(cluster), "its slice is gone")
        found = judge(cluster, **WANTED | {"grace": 2})
    finally:
        cluster.client.patch("v1", "nodes", "t4-1", None, {"metadata": {"labels": {label: "true"}}})
    assert (found["code"], found["special_resource"]["state"]) == ("GPU-OPTED-OUT", "ready")
    assert f"oc label node t4-1 {label}-" in found["remedy"]
    assert behind(found) == {"dra driver": ("failed", ""), "allocatable": ("waiting", "dra driver")}
    assert "allocatable waits for dra driver" in found["special_resource"]["table"]


def test_the_two_stacks_exclude_each_other(cluster: Cluster, playbook: Playbook, audit: Audit) -> None:
    """Ask for each stack while the other exists: the module refuses before any write."""
    other = playbook.module("special_resource", pools=POOLS, wait_timeout=30)
    assert (other["code"], audit.writes(other)) == ("GPU-CP-CONFLICT", [])
    assert not playbook.module("special_resource", **GONE).failed
    assert until(lambda: not cluster.client.list(*CLUSTERS), "the GPUCluster is gone")
    assert until(lambda: not slices(cluster), "the slices are gone with their plugins")
    cluster.client.create(
        {
            "apiVersion": "nvidia.com/v1",
            "kind": "ClusterPolicy",
            "metadata": {"name": "theirs"},
            "spec": POLICY,
        }
    )
    try:
        found = playbook.module("special_resource", **WANTED)
    finally:
        cluster.client.delete("nvidia.com/v1", "clusterpolicies", "theirs")
    assert (found["code"], audit.writes(found)) == ("GPU-CP-CONFLICT", [])
    assert "theirs" in found["msg"]


def test_a_driver_that_is_not_built_is_the_cause_and_nodes_of_nobody_matter_to_no_one(
    cluster: Cluster,
) -> None:
    """Ask for one pool only: the GPUCluster waits for a node outside it, which no NVIDIADriver covers."""
    sandbox, alone = cluster.needs_sandbox(), WANTED | {"pools": POOLS[:1]}
    trouble = {"node": "t4-0", "text": "Loading of unsigned module is rejected"}
    faults.add(sandbox, "driver_crashloop", trouble)
    try:
        found = judge(cluster, **alone)
    finally:
        faults.clear(sandbox, "driver_crashloop", trouble)
    assert found["code"] == "GPU-DRV-SIGN", found["message"]
    assert {name: cause for name, (_verdict, cause) in behind(found).items()} == {
        "driver": "",
        "dra driver": "driver",
        "validator": "driver",
        "metrics": "driver",
        "allocatable": "driver",
    }
    assert [one["node"] for one in stage(found, "driver")["nodes"] if one["verdict"] == "failed"] == ["t4-0"]
    assert (
        found["special_resource"]["table"][-1]
        == "dra driver, validator, metrics, allocatable wait for driver"
    )
    assert any("Loading of unsigned module is rejected" in line for line in found["evidence"])
    healed = judge(cluster, **alone)
    assert not healed.get("failed"), healed
    assert healed["special_resource"]["state"] == "notReady"
    assert pools(healed) == {"inference": True}
    assert [one["name"] for one in healed["special_resource"]["others"]] == ["a100-0"]
    assert "nodes outside the pools alone: a100-0" in healed["warnings"][0]


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


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"name": "mine"}, "has to be named gpu-cluster"),
        (
            {"gpu_cluster": {"dra_driver": {"version": "1"}}},
            "gpu_cluster.dra_driver.version is given without",
        ),
        ({"mig": {"strategy": "single"}}, "mig belongs to backend"),
    ],
)
def test_bad_input_sends_no_request(playbook: Playbook, audit: Audit, options: Data, said: str) -> None:
    found = playbook.module("special_resource", **WANTED | options)
    assert found.failed
    assert said in found["msg"]
    assert audit.of(found) == []
