# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a write ends is asked before it: drivers that an operator replaces while pods use GPUs.

The operator is of release 26.3, which evicts GPU pods node by node when a driver's pods change.
"""

from __future__ import annotations

import typing as t

import pytest
from cluster import Cluster, must_get
from integration.patience import until
from integration.playbook import Playbook, TaskResult
from integration.stack.driver_gaps import POLICIES, POOLS, QUICK, TRAINING, serving
from integration.wire import Audit

Data = dict[str, t.Any]
SCENARIO: t.Final = "gpu-nodes"
OPERATORS: t.Final = {"nfd": "openshift-nfd"}
pytestmark = pytest.mark.story("one GPU operator of release 26.3, and a pod that uses a GPU")

NAME: t.Final = "gpu-cluster-policy"
OPERATOR: t.Final[Data] = {
    "name": "gpu-operator-certified",
    "namespace": "nvidia-gpu-operator",
    "channel": "v26.3",
}
FIRST, NEXT = (f"gpu-operator-certified.v26.3.{patch}" for patch in (0, 3))
TEAM: t.Final[Data] = {"key": "team", "operator": "Equal", "value": "b", "effect": "NoSchedule"}
STACK: t.Final[Data] = {"pools": POOLS, **QUICK}


def pods(cluster: Cluster) -> list[Data]:
    """Return the pods that use a GPU and run."""
    found = cluster.client.list("v1", "pods", "default", labels="app=training")
    return [
        pod
        for pod in found
        if pod["status"].get("phase") == "Running" and not pod["metadata"].get("deletionTimestamp")
    ]


@pytest.fixture(scope="module")
def pod(cluster: Cluster, playbook: Playbook) -> Data:
    """Install the stack with release 26.3.0, and start a pod with a GPU; return the pod."""
    run = playbook.module("olm_operator", **OPERATOR, csv=FIRST)
    assert not run.failed, run.result
    made = playbook.module("special_resource", **STACK)
    assert not made.failed, made.result
    assert made["special_resource"]["ends"] == []
    cluster.client.create(TRAINING)
    until(lambda: pods(cluster), "a pod with a GPU")
    (found,) = pods(cluster)
    return found


def refused(made: TaskResult, code: str, pod: Data, audit: Audit) -> None:
    """Assert that the task names the pod and its node, and has written nothing."""
    assert (made["code"], audit.writes(made)) == (code, []), made.result
    title = f"default/{pod['metadata']['name']}"
    assert f"{title} on t4-0" in made["message"]
    assert "gpu_on_busy: wait" in made["remedy"]
    (ends,) = made["ends"]
    assert [(one["node"], one["name"], one["owner"]) for one in ends["pods"]] == [
        ("t4-0", pod["metadata"]["name"], "ReplicaSet training")
    ]
    assert ends["nodes"] == ["a100-0", "t4-0", "t4-1"]


def test_a_run_that_changes_no_driver_asks_about_no_pod(playbook: Playbook, audit: Audit, pod: Data) -> None:
    again = playbook.module("special_resource", **STACK)
    assert (again.failed, again.changed, audit.writes(again)) == (False, False, []), again.result
    asked = [one.uri for one in audit.of(again) if one.verb == "list"]
    assert not [uri for uri in asked if "gpu.deploy.driver" in uri or uri.startswith("/api/v1/pods")]


def test_a_toleration_for_another_pool_is_refused_before_the_first_write(
    playbook: Playbook, audit: Audit, pod: Data
) -> None:
    foreseen = playbook.module("special_resource", **STACK, tolerations=[TEAM], check=True)
    refused(foreseen, "GPU-BUSY", pod, audit)
    made = playbook.module("special_resource", **STACK, tolerations=[TEAM])
    refused(made, "GPU-BUSY", pod, audit)
    assert "because spec.daemonsets.tolerations of ClusterPolicy gpu-cluster-policy" in made["message"]
    assert "by: the GPU operator's upgrade controller; order: node by node" in made["message"]
    in_vain = playbook.module(
        "special_resource", **STACK | {"wait_timeout": 5}, tolerations=[TEAM], on_busy="wait"
    )
    assert (in_vain["code"], audit.writes(in_vain)) == ("GPU-BUSY", []), in_vain.result
    removed = playbook.module("special_resource", state="absent")
    refused(removed, "GPU-BUSY", pod, audit)


MACHINES: t.Final[Data] = {"enabled": True, "defaultWorkload": "vm-passthrough"}


@pytest.mark.parametrize(
    ("spec", "says"),
    [
        (
            {"sandboxWorkloads": MACHINES},
            "spec.sandboxWorkloads.enabled: true, spec.sandboxWorkloads.defaultWorkload: vm-passthrough of "
            f"ClusterPolicy {NAME} takes driver, container toolkit and device plugin off; by: ",
        ),
        ({"hostPaths": {"rootFS": "/host"}}, "other paths of the host"),
    ],
)
def test_a_field_that_takes_an_operand_away_is_refused_before_the_first_write(
    playbook: Playbook, audit: Audit, pod: Data, spec: Data, says: str
) -> None:
    for check in (True, False):
        made = playbook.module("special_resource", **STACK, spec=spec, check=check)
        assert (made["code"], audit.writes(made)) == ("GPU-BUSY", []), made.result
        assert says in made["message"]
        assert f"default/{pod['metadata']['name']} on t4-0" in made["message"]


def test_work_of_a_daemonset_is_refused_since_the_operator_could_not_end_it(
    cluster: Cluster, playbook: Playbook, audit: Audit, pod: Data
) -> None:
    cluster.client.create(serving("t4-1"))
    label = "app=serving"
    until(lambda: cluster.client.list("v1", "pods", "default", label), "the DaemonSet's pod")
    for on_busy in ("fail", "wait", "drain"):
        made = playbook.module("special_resource", **STACK, tolerations=[TEAM], on_busy=on_busy)
        assert (made["code"], audit.writes(made)) == ("GPU-UPG-KEPT", []), made.result
        assert "on t4-1 (of DaemonSet serving)" in made["message"]
        assert "oc patch daemonset serving -n default" in made["remedy"]
        (ends,) = made["ends"]
        assert [(one["node"], one["owner"]) for one in ends["pods"]] == [
            ("t4-0", "ReplicaSet training"),
            ("t4-1", "DaemonSet serving"),
        ]
    cluster.client.delete("apps/v1", "daemonsets", "serving", "default")
    until(lambda: not cluster.client.list("v1", "pods", "default", label), "the DaemonSet's pod gone")


def test_an_upgrade_with_the_same_driver_and_another_driver_manager_is_refused(
    playbook: Playbook, audit: Audit, pod: Data
) -> None:
    for answer in ("ask", "pin"):
        made = playbook.module("olm_operator", **OPERATOR, csv=NEXT, approve="upgrade", driver_change=answer)
        refused(made, "OLM-BUSY", pod, audit)
        assert f"replaces {FIRST} by {NEXT}: DRIVER_MANAGER_IMAGE" in made["message"]


def test_drain_lets_the_operator_end_the_pod(cluster: Cluster, playbook: Playbook, pod: Data) -> None:
    made = playbook.module("special_resource", **STACK, tolerations=[TEAM], on_busy="drain")
    assert (made.failed, made.changed) == (False, True), made.result
    (ends,) = made["special_resource"]["ends"]
    assert [one["name"] for one in ends["pods"]] == [pod["metadata"]["name"]]
    uid = pod["metadata"]["uid"]
    until(
        lambda: pods(cluster) and all(one["metadata"]["uid"] != uid for one in pods(cluster)),
        "the operator evicts the pod, and its controller makes another one",
    )


def test_what_somebody_patched_stays_and_what_the_task_asks_for_is_a_conflict(
    cluster: Cluster, playbook: Playbook, audit: Audit, pod: Data
) -> None:
    """The task has never asked for the interval; it asks for the strategy of MIG."""
    by_hand = {"dcgmExporter": {"serviceMonitor": {"interval": "30s"}}, "mig": {"strategy": "none"}}
    cluster.client.patch(*POLICIES, NAME, None, {"spec": by_hand})
    stays = playbook.module("special_resource", **STACK, tolerations=[TEAM])
    assert (stays.failed, stays.changed, audit.writes(stays)) == (False, False, []), stays.result
    asked = {**STACK, "tolerations": [TEAM], "mig": {"strategy": "single"}}
    made = playbook.module("special_resource", **asked)
    assert (made["code"], audit.writes(made)) == ("API-CONFLICT", []), made.result
    assert "spec.mig.strategy is 'none', set by " in made["message"]
    assert "the task asks for 'single'" in made["message"]
    assert "gpu_operator_adopt: take" in made["remedy"]
    taken = playbook.module("special_resource", **asked, adopt="take")
    assert (taken.failed, taken.changed) == (False, True), taken.result
    live = must_get(cluster.client, *POLICIES, NAME)
    assert live["spec"]["mig"]["strategy"] == "single"
    assert live["spec"]["dcgmExporter"]["serviceMonitor"]["interval"] == "30s"


def test_without_a_pod_with_a_gpu_nothing_has_to_be_asked(
    cluster: Cluster, playbook: Playbook, pod: Data
) -> None:
    cluster.client.delete("apps/v1", "replicasets", "training", "default")
    until(lambda: not cluster.client.list("v1", "pods", "default", labels="app=training"), "the pod is gone")
    made = playbook.module("special_resource", **STACK, tolerations=[TEAM, TEAM | {"value": "c"}])
    assert (made.failed, made["special_resource"]["ends"]) == (False, []), made.result
    gone = playbook.module("special_resource", state="absent")
    assert (gone.failed, gone.changed, gone["special_resource"]["ends"]) == (False, True, []), gone.result


def test_virtual_machines_by_default_take_the_driver_off_each_node(
    cluster: Cluster, playbook: Playbook
) -> None:
    """No pod uses a GPU now, so nothing is asked."""
    quick = {**STACK, "tolerations": [TEAM], "mig": {"strategy": "single"}, "wait": False}
    made = playbook.module("special_resource", **quick, adopt="take", spec={"sandboxWorkloads": MACHINES})
    assert (made.failed, made.changed) == (False, True), made.result
    assert made["special_resource"]["ends"] == []

    def left() -> bool:
        found = cluster.client.list("v1", "pods", "nvidia-gpu-operator")
        return not [one for one in found if "nvidia-driver-daemonset" in one["metadata"]["name"]]

    until(left, "the operator takes the driver off")
