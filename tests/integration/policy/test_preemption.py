# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Priorities on the real scheduler: the low pod goes, all others stay; and placeholder pods give way."""

from __future__ import annotations

import typing as t

import own_cluster
import pytest
from cluster import Cluster
from integration.patience import until
from integration.playbook import Playbook

pytestmark = [
    pytest.mark.long(
        "a sandbox of its own: tests/unit/workload/proofs/test_preemption.py holds what the module decides"
    ),
    pytest.mark.story("classes and a node with devices first, then the proofs"),
]

Data = dict[str, t.Any]
SCENARIO: t.Final = "gpu-nodes"
cluster = own_cluster.cluster
# The sandbox takes nvidia.com/gpu from a node without a driver, and has nothing to do with this resource.
GPU: t.Final = "example.com/gpu"
NODE: t.Final = "a100-0"
SPACE: t.Final = "gpu-validation"
PLACE: t.Final = {"accelerators.openshift/pool": "training"}
CLASSES: t.Final = {"gpu-training": (100000, "PreemptLowerPriority"), "gpu-batch": (1000, "Never")}
POOL: t.Final = {
    "name": "training",
    "node_selector": PLACE,
    "resource": GPU,
    "low": "gpu-batch",
    "high": "gpu-training",
}


def pod(name: str, gpus: int, priority_class: str) -> Data:
    """Return a pod for the node with the devices."""
    container = {"name": "c", "image": "example.com/none", "resources": {"limits": {GPU: str(gpus)}}}
    spec = {"priorityClassName": priority_class, "nodeSelector": PLACE, "containers": [container]}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": SPACE}, "spec": spec}


@pytest.fixture(scope="module", autouse=True)
def _classes(cluster: Cluster) -> None:
    """Create the classes and the namespace, and give the node devices, which no driver stack brings here."""
    space = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": SPACE}}
    cluster.client.apply(space)
    for name, (value, policy) in {**CLASSES, "gpu-spare": (-10, "Never")}.items():
        made = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": name}}
        cluster.client.apply({**made, "value": value, "preemptionPolicy": policy})
    amounts = {"status": {"allocatable": {GPU: "4"}, "capacity": {GPU: "4"}}}
    cluster.client.patch("v1", "nodes", NODE, None, amounts, "status")


def phases(cluster: Cluster) -> dict[str, str]:
    """Return the phase of each pod of the namespace that does not end."""
    return {
        one["metadata"]["name"]: one["status"]["phase"]
        for one in cluster.client.list("v1", "pods", SPACE)
        if not one["metadata"].get("deletionTimestamp")
    }


def test_the_low_pod_goes_and_no_other(playbook: Playbook, cluster: Cluster) -> None:
    cluster.client.create(pod("work", 1, "gpu-training"))
    until(lambda: phases(cluster).get("work") == "Running", "the pod of a team runs")
    task = playbook.module("gpu_workload", prove={"preemption": [POOL]})
    assert not task.failed, task.result
    (found,) = task["preemption"]
    assert (found["proven"], found["node"]) == (True, NODE), task.result
    assert found["pushed_out"].endswith("-low")
    assert found["stayed"] >= 2
    until(lambda: phases(cluster) == {"work": "Running"}, "only the pod of the team is left")


def test_a_pod_of_others_that_could_end_is_left_alone(playbook: Playbook, cluster: Cluster) -> None:
    cluster.client.create(pod("batch", 1, "gpu-batch"))
    until(lambda: phases(cluster).get("batch") == "Running", "the batch pod runs")
    task = playbook.module("gpu_workload", prove={"preemption": [POOL]})
    assert (task.failed, task.changed) == (False, False)
    assert task["preemption"][0]["proven"] is False
    assert phases(cluster) == {"work": "Running", "batch": "Running"}


def test_placeholder_pods_give_way_to_training_and_not_to_batch_work(
    playbook: Playbook, cluster: Cluster
) -> None:
    wanted: Data = {"pools": [{"name": "training", "spare": 2, "resources": [GPU]}]}
    assert playbook.module("gpu_admission", **wanted).changed

    def spare() -> list[str]:
        pods = cluster.client.list("v1", "pods", "gpu-spare")
        return [
            str(one["spec"].get("nodeName") or "")
            for one in pods
            if "deletionTimestamp" not in one["metadata"]
        ]

    until(lambda: spare() == [NODE, NODE], "both placeholder pods hold a device")
    cluster.client.create(pod("more-batch", 1, "gpu-batch"))
    cluster.client.create(pod("more", 1, "gpu-training"))
    until(lambda: phases(cluster).get("more") == "Running", "training has the device")
    assert phases(cluster)["more-batch"] == "Pending"
    until(lambda: sorted(spare()) == ["", NODE], "one placeholder pod waits")
    gone = playbook.module("gpu_admission", pools=[{"name": "training"}], state="absent")
    assert gone.changed
    assert cluster.client.get("v1", "namespaces", "gpu-spare") is None
