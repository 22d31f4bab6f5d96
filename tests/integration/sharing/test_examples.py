# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The examples with shared GPUs: enabled, again without a write, changed, and taken away without a trace."""

from __future__ import annotations

import typing as t
from pathlib import Path

import pytest
import yaml
from cluster import Cluster, must_get
from integration.killed import kill
from integration.patience import until
from integration.playbook import ROOT, Playbook, Run
from integration.troubles.demo import PATIENT
from integration.wire import Audit

pytestmark = [
    pytest.mark.story("one pool shares its GPUs in one way after the other"),
    pytest.mark.long("the whole chain five times: the unit tests of gpu_sharing hold each of its steps"),
]

Data = dict[str, t.Any]
SCENARIO: t.Final = "aws"
SPACE: t.Final = "nvidia-gpu-operator"
PROOFS: t.Final = "gpu-validation"
LABEL: t.Final = "nvidia.com/device-plugin.config"
PLUGIN: t.Final = "app=nvidia-device-plugin-daemonset"
POOL: t.Final = {
    "name": "inference",
    "node_selector": {"accelerators.openshift/pool": "inference"},
    "replicas": 4,
}
EIGHT: t.Final = {"time_slicing": {"replicas": 8}}


def pools(example: str, **more: t.Any) -> list[Data]:
    """Return the pools of an example, with other values."""
    found = yaml.safe_load((ROOT / f"examples/{example}.yml").read_text())["gpu_pools"]
    return [one | more for one in found]


def play(playbook: Playbook, name: str, given: list[Data], **more: t.Any) -> Run:
    run = playbook.playbook(name, gpu_pools=given, **PATIENT, **more)
    assert run.rc == 0, run.output[-4000:]
    return run


def node(cluster: Cluster) -> Data:
    """Return the only node of the pool."""
    (found,) = cluster.client.list("v1", "nodes", labels="accelerators.openshift/pool=inference")
    return found


def offers(cluster: Cluster) -> dict[str, str]:
    """Return what the node offers, without resources of the number 0."""
    found = node(cluster)["status"]["allocatable"]
    return {key: number for key, number in found.items() if key.startswith("nvidia.com/") and number != "0"}


def plugin(cluster: Cluster) -> str:
    (pod,) = cluster.client.list("v1", "pods", SPACE, labels=PLUGIN)
    return str(pod["metadata"]["uid"])


def test_four_pods_share_a_gpu(cluster: Cluster, playbook: Playbook) -> None:
    play(playbook, "enable_gpus", pools("time-slicing"))
    assert offers(cluster) == {"nvidia.com/gpu": "4"}
    marks = node(cluster)["metadata"]["labels"]
    assert (marks[LABEL], marks["nvidia.com/gpu.replicas"]) == ("gpu-inference", "4")
    (quota,) = cluster.client.list("v1", "resourcequotas", "team-a")
    assert quota["spec"]["hard"] == {"requests.nvidia.com/gpu": "4"}
    (machines,) = cluster.client.list(
        "machine.openshift.io/v1beta1",
        "machinesets",
        "openshift-machine-api",
        labels="accelerators.openshift/pool=inference",
    )
    assert machines["spec"]["template"]["spec"]["metadata"]["labels"][LABEL] == "gpu-inference"


def prove(playbook: Playbook) -> Data:
    """Return what a new proof of the pool with four shares says."""
    task = playbook.module("gpu_workload", prove={"sharing": [POOL]}, force=True)
    assert not task.failed, task.result
    return t.cast(Data, task["sharing"][0])


def test_the_run_has_proven_that_four_pods_share_the_gpu(cluster: Cluster, playbook: Playbook) -> None:
    known = must_get(cluster.client, "v1", "configmaps", "gpu-sharing-proof", PROOFS)["data"]
    assert known["inference"].startswith("replicas=4 shares=nvidia.com/gpu=4 product=Tesla-T4")
    found = prove(playbook)
    assert found["proven"] is True, found
    (devices,) = found["devices"]
    assert (devices["shares"], devices["devices"]) == (4, 1)
    assert devices["overlap_seconds"] >= 3
    assert "Insufficient nvidia.com/gpu" in devices["refused"]
    until(lambda: cluster.client.list("v1", "pods", PROOFS) == [], "no pod of the proof is left")


def test_the_next_proof_takes_away_what_a_killed_one_left(
    cluster: Cluster, playbook: Playbook, tmp_path: Path
) -> None:
    def running() -> list[str]:
        found = cluster.client.list("v1", "pods", PROOFS)
        return [one["metadata"]["name"] for one in found if one["status"].get("phase") == "Running"]

    given = {"prove": {"sharing": [POOL]}, "force": True, "hold": 60}
    kill(playbook, tmp_path, lambda: len(running()) == 4, "gpu_workload", **given)
    assert len(running()) == 4
    assert prove(playbook)["proven"] is True
    until(lambda: cluster.client.list("v1", "pods", PROOFS) == [], "no pod of either proof is left")


def test_a_pod_of_a_team_keeps_its_share_and_nothing_is_proven(
    cluster: Cluster, playbook: Playbook, audit: Audit
) -> None:
    limits = {"resources": {"limits": {"nvidia.com/gpu": "1"}}}
    spec = {"containers": [{"name": "c", "image": "example.com/none", **limits}]}
    cluster.client.create(
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": "work", "namespace": "default"},
            "spec": {**spec, "tolerations": [{"operator": "Exists"}]},
        }
    )

    def running() -> bool:
        return bool(must_get(cluster.client, "v1", "pods", "work", "default")["status"]["phase"] == "Running")

    until(running, "the pod of a team runs")
    since = audit.position()
    found = prove(playbook)
    assert (found["proven"], "held by default/work (1)" in found["why"]) == (False, True)
    audit.flush()
    assert audit.written(since) == []
    assert running()
    cluster.client.delete("v1", "pods", "work", "default")


def test_a_second_run_writes_nothing(playbook: Playbook, audit: Audit) -> None:
    since = audit.position()
    again = play(playbook, "enable_gpus", pools("time-slicing"))
    assert again.changed == 0
    audit.flush()
    assert audit.written(since) == []


def test_other_shares_restart_the_plugin_and_nothing_else(cluster: Cluster, playbook: Playbook) -> None:
    before = plugin(cluster)
    play(playbook, "enable_gpus", pools("time-slicing", sharing=EIGHT))
    assert offers(cluster) == {"nvidia.com/gpu": "8"}
    assert plugin(cluster) != before


def test_mps_renames_what_pods_request_and_what_the_quota_counts(
    cluster: Cluster, playbook: Playbook
) -> None:
    play(playbook, "enable_gpus", pools("mps"))
    assert offers(cluster) == {"nvidia.com/gpu.shared": "4"}
    assert node(cluster)["metadata"]["labels"]["nvidia.com/gpu.sharing-strategy"] == "mps"
    (quota,) = cluster.client.list("v1", "resourcequotas", "team-a")
    assert quota["spec"]["hard"] == {"requests.nvidia.com/gpu.shared": "4"}


def test_without_sharing_the_gpus_are_whole_again(cluster: Cluster, playbook: Playbook) -> None:
    whole = [{key: value for key, value in one.items() if key != "sharing"} for one in pools("mps")]
    play(playbook, "enable_gpus", whole)
    until(lambda: offers(cluster) == {"nvidia.com/gpu": "1"}, "whole GPUs")
    assert LABEL not in node(cluster)["metadata"]["labels"]


def test_a_removal_leaves_nothing(cluster: Cluster, playbook: Playbook) -> None:
    play(playbook, "remove_gpus", pools("mps"))
    assert cluster.client.get("v1", "configmaps", "gpu-sharing", SPACE) is None
    assert not [one for one in cluster.client.list("v1", "nodes") if LABEL in one["metadata"]["labels"]]
