# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Shared claims: made, used by two pods on one GPU, proven, changed only without pods, and taken away."""

from __future__ import annotations

import json
import typing as t

import pytest
import yaml
from cluster import Cluster, must_get
from integration.patience import until
from integration.playbook import ROOT, Playbook, Run
from integration.troubles.demo import PATIENT
from integration.wire import Audit

pytestmark = [
    pytest.mark.story("a pool's shared claims from the first to their removal"),
    pytest.mark.long("the whole chain with claims: the unit tests of gpu_sharing hold each of its steps"),
]

Data = dict[str, t.Any]
SCENARIO: t.Final = "aws"
RESOURCE: t.Final = "resource.k8s.io/v1"
EXAMPLE: t.Final[Data] = yaml.safe_load((ROOT / "examples/dra-shared.yml").read_text())
TEAM: t.Final = "team-a"
# Annotation of the sandbox: how somebody partitioned the GPUs of a node.
LAYOUT: t.Final = "sandbox.openshift/mig-layout"


def given(**sharing: t.Any) -> Data:
    """Return the variables of the example, with another sharing if there is one."""
    pools = [one | ({"sharing": sharing} if sharing else {}) for one in EXAMPLE["gpu_pools"]]
    return {"gpu_backend": "dra", "gpu_pools": pools, **PATIENT}


def play(playbook: Playbook, name: str, variables: Data, **more: t.Any) -> Run:
    run = playbook.playbook(name, **{**variables, **more})
    assert run.rc == 0, run.output[-4000:]
    return run


def claims(cluster: Cluster) -> dict[str, Data]:
    """Return the claims of the team by name."""
    return {one["metadata"]["name"]: one for one in cluster.client.list(RESOURCE, "resourceclaims", TEAM)}


def worker(name: str, claim: str = "shared-gpu") -> Data:
    """Return a pod of the team that prints the devices of the claim and stays."""
    container = {
        "name": "main",
        "image": "registry.example.com/cuda:1",
        "command": ["/bin/sh", "-c", "nvidia-smi -L; sleep 3600"],
        "resources": {"claims": [{"name": "gpu"}]},
    }
    spec = {
        "resourceClaims": [{"name": "gpu", "resourceClaimName": claim}],
        "containers": [container],
        "tolerations": [{"operator": "Exists"}],
    }
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": TEAM}, "spec": spec}


def users(cluster: Cluster, claim: str = "shared-gpu") -> list[str]:
    """Return the pods that use a claim."""
    status = must_get(cluster.client, RESOURCE, "resourceclaims", claim, TEAM).get("status") or {}
    return sorted(one["name"] for one in status.get("reservedFor") or [])


@pytest.fixture(scope="module")
def enabled(playbook: Playbook) -> Run:
    return play(playbook, "enable_gpus", given())


def test_the_claims_are_made_and_proven(cluster: Cluster, enabled: Run) -> None:
    found = claims(cluster)
    assert sorted(found) == ["second-gpu", "shared-gpu"]
    assert found["shared-gpu"]["metadata"]["labels"]["accelerators.openshift/pool"] == "inference"
    (proof,) = [
        task.result["pools"][0]
        for task in enabled.tasks
        if "Prove the sharing" in task.name and not task.skipped
    ]
    (devices,) = proof["devices"]
    assert (proof["proven"], devices["replicas"], len(devices["uuids"])) == (True, 2, 1)
    until(
        lambda: not cluster.client.list(RESOURCE, "resourceclaims", "gpu-validation"),
        "the claims of the proof are gone",
    )


def test_the_second_run_writes_nothing(playbook: Playbook, audit: Audit, enabled: Run) -> None:
    again = play(playbook, "enable_gpus", given())
    assert (again.changed, audit.writes(*again.tasks)) == (0, [])


def test_two_pods_of_the_team_share_one_gpu(cluster: Cluster, enabled: Run) -> None:
    for name in ("one", "two"):
        cluster.client.create(worker(name))
    until(lambda: users(cluster) == ["one", "two"], "both pods use the claim")
    nodes = {must_get(cluster.client, "v1", "pods", one, TEAM)["spec"]["nodeName"] for one in ("one", "two")}
    assert len(nodes) == 1


def test_a_claim_in_use_is_asked_for(playbook: Playbook, audit: Audit, cluster: Cluster) -> None:
    fewer = given(claims=[{"name": "second-gpu", "namespace": TEAM}])
    refused = playbook.playbook("enable_gpus", **fewer)
    assert (refused.failure["code"], audit.writes(*refused.tasks)) == ("GPU-CLAIM-BUSY", [])
    assert f"{TEAM}/one" in refused.failure["msg"]
    play(playbook, "enable_gpus", fewer, gpu_on_busy="drain")
    assert sorted(claims(cluster)) == ["second-gpu"]
    assert cluster.client.list("v1", "pods", TEAM) == []


def test_the_driver_publishes_partitions_and_a_claim_gets_one(
    cluster: Cluster, playbook: Playbook, enabled: Run
) -> None:
    """Somebody partitions a GPU; the sandbox does not look at its model."""
    (node, *_more) = cluster.client.list("v1", "nodes", labels="accelerators.openshift/pool=inference")
    name = node["metadata"]["name"]
    layout = {"metadata": {"annotations": {LAYOUT: json.dumps([{"1g.5gb": 2}])}}}
    cluster.client.patch("v1", "nodes", name, None, layout)

    def kinds() -> set[str]:
        slices = cluster.client.list(RESOURCE, "resourceslices")
        return {
            device["attributes"]["type"]["string"]
            for one in slices
            if one["spec"].get("nodeName") == name
            for device in one["spec"].get("devices") or []
        }

    until(lambda: kinds() == {"mig"}, "the slices have the partitions")
    part = {"name": "part", "namespace": TEAM, "device_class": "mig.nvidia.com", "profile": "1g.5gb"}
    pools = [{"name": "parts", "sharing": {"claims": [part]}}]
    made = playbook.module("gpu_sharing", claims=True, pools=pools)
    assert made.failed is False
    cluster.client.create(worker("three", "part"))
    until(lambda: users(cluster, "part") == ["three"], "the pod has a partition")
    cluster.client.delete("v1", "pods", "three", TEAM)
    until(lambda: users(cluster, "part") == [], "the claim is free")
    playbook.module("gpu_sharing", claims=True, pools=[{"name": "parts"}], state="absent")
    cluster.client.patch("v1", "nodes", name, None, {"metadata": {"annotations": {LAYOUT: None}}})
    until(lambda: kinds() == {"gpu"}, "the GPU is whole again")


def test_a_removal_leaves_no_claim(cluster: Cluster, playbook: Playbook, enabled: Run) -> None:
    play(playbook, "remove_gpus", given())
    assert claims(cluster) == {}
