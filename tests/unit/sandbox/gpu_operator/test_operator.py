# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the GPU operator makes of a ClusterPolicy, and what it says about it."""

from __future__ import annotations

import typing as t

import pytest
from unit.sandbox.fake_api import World
from unit.sandbox.gpu_operator.builders import NAMESPACE, Object
from unit.sandbox.gpu_operator.cluster import CLUSTER, FEATURES, GPU, put, run_daemon_sets

from openshift_sandbox.stand_ins.gpu_operator.operator import GpuOperator


def make(*, without: str = "", labels: tuple[Object, ...] = (GPU,), **scenario: t.Any) -> World:
    world = World(GpuOperator(), **scenario)
    for one in CLUSTER:
        if one[1] != without:
            put(world, *one)
    for number, found in enumerate(labels):
        world.api.create(
            {
                "apiVersion": "v1",
                "kind": "Node",
                "metadata": {"name": f"node-{number}", "labels": dict(found)},
                "spec": {},
                "status": {},
            }
        )
    return world


def add_policy(world: World, name: str = "gpu-cluster-policy", **spec: t.Any) -> None:
    put(world, "nvidia.com/v1", "ClusterPolicy", name, None, {"spec": spec})
    world.settle(1)


def verdict(world: World, name: str = "gpu-cluster-policy") -> tuple[str, str, str]:
    status = world.api.get("ClusterPolicy", name).get("status", {})
    found = {one["type"]: one for one in status.get("conditions", [])}
    chosen = found.get("Ready", {}) if status.get("state") == "ready" else found.get("Error", {})
    return status.get("state", ""), chosen.get("reason", ""), chosen.get("message", "")


def test_a_cluster_in_order_becomes_reconciled() -> None:
    world = make()
    add_policy(world)
    state, reason, message = verdict(world)
    assert (state, reason) == ("notReady", "OperandNotReady")
    assert message.startswith(
        "ClusterPolicy is not ready; states not ready: [state-driver state-container-toolkit "
        "state-operator-validation state-device-plugin"
    )
    run_daemon_sets(world)
    assert verdict(world)[:2] == ("ready", "Reconciled")
    assert world.api.get("Namespace", NAMESPACE)["metadata"]["labels"] == {
        "openshift.io/cluster-monitoring": "true"
    }
    assert world.api.get("Node", "node-0")["metadata"]["labels"]["nvidia.com/gpu.present"] == "true"


@pytest.mark.parametrize(
    ("labels", "reason"), [((), "NFDLabelsMissing"), (({},), "NFDLabelsMissing"), ((FEATURES,), "NoGPUNodes")]
)
def test_ready_without_any_gpu(labels: tuple[Object, ...], reason: str) -> None:
    world = make(labels=labels)
    add_policy(world)
    assert verdict(world)[:2] == ("ready", reason)
    assert world.api.all("DaemonSet") == []


def test_zero_wanted_pods_are_a_false_green() -> None:
    world = make()
    add_policy(world)
    run_daemon_sets(world, wanted=0)
    assert verdict(world)[:2] == ("ready", "Reconciled")


def test_the_last_gpu_goes_away() -> None:
    world = make()
    add_policy(world)
    made = len(world.api.all("DaemonSet"))
    world.api.patch(
        "v1",
        "nodes",
        "node-0",
        None,
        {"metadata": {"labels": {"feature.node.kubernetes.io/pci-10de.present": None}}},
    )
    world.settle(1)
    assert verdict(world)[:2] == ("ready", "NoGPUNodes")
    assert len(world.api.all("DaemonSet")) == made
    assert world.api.get("Node", "node-0")["metadata"]["labels"]["nvidia.com/gpu.present"] == "false"


@pytest.mark.parametrize(
    ("without", "message"),
    [
        ("ClusterVersion", "failed to find Completed Cluster Version"),
        ("Proxy", 'proxies.config.openshift.io "cluster" not found'),
        ("Infrastructure", 'infrastructures.config.openshift.io "cluster" not found'),
    ],
)
def test_what_the_operator_needs(without: str, message: str) -> None:
    world = make(without=without)
    add_policy(world)
    assert verdict(world) == ("notReady", "ReconcileFailed", message)


def test_without_the_image_stream_the_driver_is_plain() -> None:
    world = make(without="ImageStream")
    add_policy(world)
    assert "nvidia-driver-daemonset" in {one["metadata"]["name"] for one in world.api.all("DaemonSet")}


def test_nothing_happens_while_the_deployment_is_not_available() -> None:
    world = make(without="Deployment")
    add_policy(world)
    assert verdict(world) == ("", "", "")


def test_the_younger_policy_has_no_status() -> None:
    world = make()
    add_policy(world)
    add_policy(world, "another")
    assert "status" not in world.api.get("ClusterPolicy", "another")
    assert verdict(world)[0] == "notReady"


def wake_by_spec(world: World) -> None:
    world.api.patch(
        "nvidia.com/v1", "clusterpolicies", "another", None, {"spec": {"dcgm": {"enabled": False}}}
    )


def wake_by_labels(world: World) -> None:
    marks = {"feature.node.kubernetes.io/system-os_release.OSTREE_VERSION": "9.8.2"}
    world.api.patch("v1", "nodes", "node-0", None, {"metadata": {"labels": marks}})


def wake_by_restart(world: World) -> None:
    available = {"status": {"conditions": [{"type": "Available", "status": "False"}]}}
    world.api.patch("apps/v1", "deployments", "gpu-operator", NAMESPACE, available, "status")
    world.settle(1)
    available["status"]["conditions"][0]["status"] = "True"
    world.api.patch("apps/v1", "deployments", "gpu-operator", NAMESPACE, available, "status")


def wake_by_another_pod(world: World) -> None:
    labels = {"app": "gpu-operator", "app.kubernetes.io/component": "gpu-operator"}
    put(world, "v1", "Pod", "gpu-operator-2", NAMESPACE, {"spec": {}})
    world.api.patch("v1", "pods", "gpu-operator-2", NAMESPACE, {"metadata": {"labels": labels}})


@pytest.mark.parametrize("wake", [wake_by_spec, wake_by_labels, wake_by_restart, wake_by_another_pod])
def test_the_younger_policy_waits_for_news_when_the_older_is_gone(wake: t.Callable[[World], None]) -> None:
    world = make()
    add_policy(world)
    add_policy(world, "another")
    world.api.delete("nvidia.com/v1", "clusterpolicies", "gpu-cluster-policy")
    world.settle(60)
    world.api.patch("v1", "nodes", "node-0", None, {"metadata": {"labels": {"team": "a"}}})
    world.settle(1)
    assert "status" not in world.api.get("ClusterPolicy", "another")
    wake(world)
    world.settle(1)
    assert verdict(world, "another")[:2] == ("notReady", "OperandNotReady")


def test_a_policy_that_is_made_again_is_taken_at_once() -> None:
    world = make()
    add_policy(world)
    add_policy(world, "another")
    for name in ("gpu-cluster-policy", "another"):
        world.api.delete("nvidia.com/v1", "clusterpolicies", name)
    add_policy(world)
    assert verdict(world)[0] == "notReady"


@pytest.mark.parametrize(("missing", "part"), [("ID", "name"), ("VERSION_ID", "version")])
def test_without_the_system_of_the_first_gpu_node_nothing_is_made(missing: str, part: str) -> None:
    key = f"feature.node.kubernetes.io/system-os_release.{missing}"
    bad = {name: value for name, value in GPU.items() if name != key}
    world = make(labels=(bad, GPU))
    add_policy(world)
    message = f"failed to retrieve GPU node OS info: unable to retrieve OS {part} from label {key}"
    assert verdict(world) == ("notReady", "ReconcileFailed", message)
    assert world.api.all("DaemonSet") == []
    second = make(labels=(GPU, bad))
    add_policy(second)
    assert verdict(second)[1] == "OperandNotReady"


def test_state_and_conditions_are_two_requests() -> None:
    world = make(delays={"gpu_conditions": 2})
    add_policy(world)
    status = world.api.get("ClusterPolicy", "gpu-cluster-policy")["status"]
    assert status == {"state": "notReady", "namespace": NAMESPACE}
    world.settle(2)
    assert verdict(world)[1] == "OperandNotReady"
    for one in world.api.all("DaemonSet"):
        world.api.delete("apps/v1", "daemonsets", one["metadata"]["name"], NAMESPACE)
    run_daemon_sets(world)
    run_daemon_sets(world)
    status = world.api.get("ClusterPolicy", "gpu-cluster-policy")["status"]
    assert status["state"] == "ready"
    assert [one["reason"] for one in status["conditions"]] == ["Error", "OperandNotReady"]
    world.settle(2)
    assert verdict(world)[:2] == ("ready", "Reconciled")


def test_a_driver_pod_says_that_it_is_not_precompiled() -> None:
    world = make()
    add_policy(world)
    made = world.api.get("DaemonSet", "nvidia-driver-daemonset-9.8.1", NAMESPACE)
    for metadata in (made["metadata"], made["spec"]["template"]["metadata"]):
        assert metadata["labels"]["nvidia.com/precompiled"] == "false"
    assert "nvidia.com/precompiled" not in made["spec"]["selector"]["matchLabels"]


def test_an_operand_that_is_switched_off_goes() -> None:
    world = make()
    add_policy(world)
    world.api.patch(
        "nvidia.com/v1", "clusterpolicies", "gpu-cluster-policy", None, {"spec": {"dcgm": {"enabled": False}}}
    )
    world.settle(1)
    assert "nvidia-dcgm" not in {one["metadata"]["name"] for one in world.api.all("DaemonSet")}


def test_half_an_image_fails_the_reconcile() -> None:
    world = make()
    add_policy(world, driver={"version": "580.1"})
    state, reason, message = verdict(world)
    assert (state, reason) == ("notReady", "ReconcileFailed")
    assert message.startswith("Failed to reconcile state-driver: invalid image specification")


def test_a_policy_that_lies() -> None:
    world = make(troubles=[{"type": "clusterpolicy_lies"}])
    add_policy(world)
    assert verdict(world)[:2] == ("ready", "Reconciled")


def test_an_operand_that_is_missing() -> None:
    world = make(troubles=[{"type": "operand_missing", "operand": "nvidia-dcgm-exporter"}])
    add_policy(world)
    run_daemon_sets(world)
    assert verdict(world)[:2] == ("ready", "Reconciled")
    assert "nvidia-dcgm-exporter" not in {one["metadata"]["name"] for one in world.api.all("DaemonSet")}


def test_what_stays_when_the_policy_is_deleted() -> None:
    owner = {"nvidia.com/gpu-operator.driver.owner": "a"}
    world = make(labels=(GPU | owner,))
    add_policy(world)
    before = world.api.get("Node", "node-0")["metadata"]["labels"]
    world.api.delete("nvidia.com/v1", "clusterpolicies", "gpu-cluster-policy")
    world.settle(5)
    after = world.api.get("Node", "node-0")["metadata"]["labels"]
    assert after == before
    assert owner.items() | {("nvidia.com/gpu.present", "true")} <= after.items()
    assert sum(key.startswith("nvidia.com/gpu.deploy.") for key in after) == 9
    assert "openshift.io/cluster-monitoring" in world.api.get("Namespace", NAMESPACE)["metadata"]["labels"]


@pytest.mark.parametrize(
    ("field", "what"),
    [("kernelModuleConfig", "kernel module configuration"), ("certConfig", "custom certs")],
)
def test_a_driver_whose_config_map_is_missing_is_not_made(field: str, what: str) -> None:
    world = make()
    add_policy(world, driver={field: {"name": "mine"}})
    found = (
        f"Failed to reconcile state-driver: ERROR: failed to create ConfigMap VolumeMounts for {what}: "
        'ERROR: could not get ConfigMap mine from client: ConfigMap "mine" not found'
    )
    assert verdict(world) == ("notReady", "ReconcileFailed", found)
    put(world, "v1", "ConfigMap", "mine", NAMESPACE, {"data": {"nvidia.conf": "NVreg_A=1"}})
    world.settle(1)
    assert verdict(world)[1] == "OperandNotReady"
    (driver,) = [
        one
        for one in world.api.list("apps/v1", "daemonsets", NAMESPACE)
        if one["metadata"]["name"].startswith("nvidia-driver-daemonset")
    ]
    volumes = driver["spec"]["template"]["spec"]["volumes"]
    assert volumes == [{"name": "mine", "configMap": {"name": "mine"}}]
