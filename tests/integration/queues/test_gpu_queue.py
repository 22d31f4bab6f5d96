# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""gpu_queue on scenario gpu-queues: queues are made, judged, changed, refused while Jobs run, and removed."""

from __future__ import annotations

import typing as t

import pytest
from cluster import Cluster, must_get
from integration.patience import until
from integration.playbook import Playbook
from integration.wire import Audit

SCENARIO: t.Final = "gpu-queues"
pytestmark = [
    pytest.mark.story("two queues of one cluster, from nothing to nothing"),
    pytest.mark.long("few clusters have Kueue; the unit tests of _queue hold each step in every run"),
]
VERSION: t.Final = "kueue.x-k8s.io/v1beta2"
GPU: t.Final = "nvidia.com/gpu"
KINDS: t.Final = ("localqueues", "clusterqueues", "resourceflavors")


def pool(name: str, gpus: int) -> dict[str, t.Any]:
    labels = {"accelerators.openshift/pool": name}
    return {"name": name, "existing": {"node_selector": labels, "expected": {GPU: gpus}}}


def queue(name: str, *pools: dict[str, t.Any], **more: t.Any) -> dict[str, t.Any]:
    return {"name": name, "cohort": "gpus", "pools": list(pools), "namespaces": ["it-team"], **more}


QUEUES: t.Final = [
    queue("research", {"name": "training", "gpus": 6}, preemption={"reclaim": "Any"}),
    queue("products", {"name": "training", "gpus": 2, "borrow": 4}, {"name": "inference", "gpus": 2}),
]


@pytest.fixture(scope="module")
def options(cluster: Cluster, playbook: Playbook) -> dict[str, t.Any]:
    cluster.client.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "it-team"}})
    planned = playbook.module("gpu_plan", pools=[pool("training", 8), pool("inference", 1)])
    assert not planned.failed, planned.result
    return {"pools": planned["plan"]["pools"]}


def names(cluster: Cluster) -> dict[str, list[str]]:
    return {
        kind: sorted(one["metadata"]["name"] for one in cluster.client.list(VERSION, kind)) for kind in KINDS
    }


def test_check_mode_writes_nothing(playbook: Playbook, audit: Audit, options: dict[str, t.Any]) -> None:
    task = playbook.module("gpu_queue", **options, queues=QUEUES, check=True)
    assert not task.failed, task.result
    assert task.changed
    assert audit.writes(task) == []


def test_queues_are_active_and_a_second_run_writes_nothing(
    cluster: Cluster, playbook: Playbook, audit: Audit, options: dict[str, t.Any]
) -> None:
    task = playbook.module("gpu_queue", **options, queues=QUEUES)
    assert not task.failed, task.result
    assert [one["active"] for one in task["queues"]] == [True, True]
    assert names(cluster) == {
        "localqueues": ["products", "research"],
        "clusterqueues": ["products", "research"],
        "resourceflavors": ["inference", "training"],
    }
    for in_process in (True, False):
        again = playbook.module("gpu_queue", in_process, **options, queues=QUEUES)
        assert not again.failed, again.result
        assert not again.changed
        assert audit.writes(again) == []


def test_a_change_is_one_write(
    cluster: Cluster, playbook: Playbook, audit: Audit, options: dict[str, t.Any]
) -> None:
    smaller = [queue("research", {"name": "training", "gpus": 4}, preemption={"reclaim": "Any"}), QUEUES[1]]
    task = playbook.module("gpu_queue", **options, queues=smaller)
    assert audit.writes(task) == ["patch clusterqueues /research"]
    (group,) = must_get(cluster.client, VERSION, "clusterqueues", "research")["spec"]["resourceGroups"]
    assert group["flavors"][0]["resources"][0] == {"name": GPU, "nominalQuota": "4"}
    assert playbook.module("gpu_queue", **options, queues=QUEUES).changed


@pytest.mark.parametrize(
    ("wrong", "code"),
    [
        pytest.param({"pools": []}, "QUEUE-FLAVOR", id="no flavor"),
        pytest.param({"cohort": "lonely"}, "QUEUE-COHORT", id="borrows from itself"),
        pytest.param({"namespaces": ["openshift-nfd"]}, "QUEUE-NAMESPACE", id="namespace of the platform"),
    ],
)
def test_bad_input_writes_nothing(
    wrong: dict[str, t.Any], code: str, playbook: Playbook, audit: Audit, options: dict[str, t.Any]
) -> None:
    task = playbook.module("gpu_queue", **options, queues=[QUEUES[0], QUEUES[1] | wrong])
    assert task["code"] == code
    assert "gpu_queues[1]" in task["msg"]
    assert audit.writes(task) == []


def test_a_quota_of_ours_is_handed_over(
    cluster: Cluster, playbook: Playbook, options: dict[str, t.Any]
) -> None:
    hard = {f"requests.{GPU}": 1, "requests.memory": "64Gi"}
    assert playbook.module("gpu_quota", namespace="it-team", hard=hard).changed
    task = playbook.module("gpu_queue", **options, queues=QUEUES)
    assert task["handed_over"] == ["it-team/gpu-quota"]
    assert must_get(cluster.client, "v1", "resourcequotas", "gpu-quota", "it-team")["spec"]["hard"] == {
        "requests.memory": "64Gi"
    }
    assert playbook.module("gpu_quota", namespace="it-team", state="absent").changed


def job() -> dict[str, t.Any]:
    container = {"name": "c", "image": "example.com/train", "resources": {"limits": {GPU: "1"}}}
    pod = {"restartPolicy": "Never", "containers": [container]}
    labels = {"kueue.x-k8s.io/queue-name": "research"}
    metadata = {"name": "train", "namespace": "it-team", "labels": labels}
    spec = {"suspend": True, "template": {"spec": pod}}
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": metadata, "spec": spec}


def test_queues_with_jobs_are_removed_only_when_that_is_wanted(
    cluster: Cluster, playbook: Playbook, audit: Audit, options: dict[str, t.Any]
) -> None:
    cluster.client.create(job())

    def is_admitted() -> bool:
        found = cluster.client.get(VERSION, "workloads", "job-train", "it-team") or {}
        return bool((found.get("status") or {}).get("admission"))

    until(is_admitted, "the Job is admitted")
    refused = playbook.module("gpu_queue", **options, state="absent")
    assert refused["code"] == "QUEUE-BUSY"
    assert "it-team/job-train" in refused["msg"]
    assert audit.writes(refused) == []
    task = playbook.module("gpu_queue", **options, state="absent", on_busy="drain")
    assert not task.failed, task.result
    assert task["ends"] == ["it-team/job-train"]
    assert names(cluster) == {kind: [] for kind in KINDS}
    again = playbook.module("gpu_queue", **options, state="absent")
    assert audit.writes(again) == []
