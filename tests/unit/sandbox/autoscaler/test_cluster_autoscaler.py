"""When the cluster autoscaler removes nodes, how it gives up, and what it reports."""

from __future__ import annotations

import typing as t

import pytest
import yaml
from unit.sandbox.autoscaler.builders import (
    ACCELERATOR,
    MACHINE_API,
    NAMESPACE,
    Data,
    machine,
    machine_autoscaler,
    machine_set,
    make,
    node,
    pending,
    replicas,
)
from unit.sandbox.fake_api import World


class TestShrinkingAndFailing:
    def grown(self, **spec: t.Any) -> World:
        return make(
            machine_set(replicas=1),
            machine_autoscaler(),
            machine("gpu-1", nodeRef={"name": "gpu-1"}),
            node("gpu-1", 1, ACCELERATOR),
            **spec,
        )

    def test_an_idle_node_goes_after_its_time(self) -> None:
        world = self.grown(scaleDown={"enabled": True, "unneededTime": "20s", "delayAfterAdd": "5s"})
        world.settle(10)
        assert replicas(world) == 1
        world.settle(15)
        assert replicas(world) == 0
        assert (
            "machine.openshift.io/delete-machine"
            in world.api.get("Machine", "gpu-1", NAMESPACE)["metadata"]["annotations"]
        )
        assert world.api.get("Node", "gpu-1")["spec"]["taints"][0]["key"] == "ToBeDeletedByClusterAutoscaler"

    @pytest.mark.parametrize(
        ("spec", "low", "busy"),
        [
            ({"enabled": False}, 0, False),
            ({"enabled": True, "unneededTime": "5s"}, 1, False),
            ({"enabled": True, "unneededTime": "5s"}, 0, True),
        ],
    )
    def test_a_node_stays(self, spec: Data, low: int, busy: bool) -> None:
        pod = pending(nodeName="gpu-1") if busy else pending("other", nodeName="elsewhere")
        gpu = machine("gpu-1", nodeRef={"name": "gpu-1"})
        world = make(
            machine_set(replicas=1),
            machine_autoscaler(low=low),
            gpu,
            node("gpu-1", 1, ACCELERATOR),
            pod,
            scaleDown=spec,
        )
        world.settle(30)
        assert replicas(world) == 1

    def test_a_failed_machine_is_taken_back_and_another_set_is_tried(self) -> None:
        world = make(
            machine_set(), machine_set("gpu-b"), machine_autoscaler(), machine_autoscaler("gpu-b"), pending()
        )
        world.api.create(machine("gpu-1", phase="Failed", errorReason="InvalidConfiguration"))
        world.settle(1)
        world.api.delete(MACHINE_API, "machines", "gpu-1", NAMESPACE)
        world.settle(3)
        assert (replicas(world), replicas(world, "gpu-b")) == (0, 1)
        status = yaml.safe_load(
            world.api.get("ConfigMap", "cluster-autoscaler-status", NAMESPACE)["data"]["status"]
        )
        assert [one["scaleUp"]["status"] for one in status["nodeGroups"]] == ["Backoff", "InProgress"]

    def test_the_status_config_map(self) -> None:
        status = yaml.safe_load(
            self.grown().api.get("ConfigMap", "cluster-autoscaler-status", NAMESPACE)["data"]["status"]
        )
        assert status["autoscalerStatus"] == "Running"
        [group] = status["nodeGroups"]
        assert group["name"] == f"MachineSet/{NAMESPACE}/gpu-a"
        assert group["health"]["nodeCounts"]["registered"] == {
            "total": 1,
            "ready": 1,
            "notStarted": 0,
            "unready": {"total": 0, "resourceUnready": 0},
        }
        assert (group["health"]["cloudProviderTarget"], group["health"]["maxSize"]) == (1, 4)
