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


def test_a_second_policy_is_ignored() -> None:
    world = make()
    add_policy(world)
    add_policy(world, "another")
    assert world.api.get("ClusterPolicy", "another")["status"] == {"state": "ignored", "namespace": NAMESPACE}


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
