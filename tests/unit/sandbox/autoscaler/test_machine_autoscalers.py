"""What the operator of the cluster autoscaler makes of its two kinds."""

from __future__ import annotations

import pytest
from unit.sandbox.autoscaler.builders import (
    MACHINE_API,
    NAMESPACE,
    OPENSHIFT,
    Data,
    events,
    machine_autoscaler,
    machine_set,
    make,
)
from unit.sandbox.fake_api import World

from openshift_sandbox.stand_ins.autoscaler import deployment as autoscaler_deployment
from openshift_sandbox.stand_ins.autoscaler.cluster_autoscaler import ClusterAutoscalers
from openshift_sandbox.stand_ins.autoscaler.machine_autoscalers import accelerator_warning, upstream_copies

COPIES = {
    "capacity.cluster-autoscaler.kubernetes.io/cpu": "4",
    "capacity.cluster-autoscaler.kubernetes.io/memory": "17179869184",
    "capacity.cluster-autoscaler.kubernetes.io/gpu-count": "1",
    "capacity.cluster-autoscaler.kubernetes.io/gpu-type": "nvidia.com/gpu",
}


class TestOperator:
    def test_a_machine_autoscaler_marks_its_set(self) -> None:
        world = make(machine_set(), machine_autoscaler())
        annotations = world.api.get("MachineSet", "gpu-a", NAMESPACE)["metadata"]["annotations"]
        assert annotations == OPENSHIFT | COPIES | {
            "machine.openshift.io/cluster-api-autoscaler-node-group-min-size": "0",
            "machine.openshift.io/cluster-api-autoscaler-node-group-max-size": "4",
            "autoscaling.openshift.io/machineautoscaler": f"{NAMESPACE}/gpu-a",
        }
        one = world.api.get("MachineAutoscaler", "gpu-a", NAMESPACE)
        assert one["metadata"]["finalizers"] == ["machinetarget.autoscaling.openshift.io"]
        assert one["status"]["lastTargetRef"] == one["spec"]["scaleTargetRef"]

    def test_copied_capacity_goes_stale_when_the_instance_type_changes(self) -> None:
        world = make(machine_set(), machine_autoscaler())
        world.api.patch(
            MACHINE_API,
            "machinesets",
            "gpu-a",
            NAMESPACE,
            {"metadata": {"annotations": {"machine.openshift.io/GPU": "8"}}},
        )
        world.api.patch(
            "autoscaling.openshift.io/v1beta1",
            "machineautoscalers",
            "gpu-a",
            NAMESPACE,
            {"spec": {"maxReplicas": 6}},
        )
        world.settle(2)
        annotations = world.api.get("MachineSet", "gpu-a", NAMESPACE)["metadata"]["annotations"]
        assert annotations["capacity.cluster-autoscaler.kubernetes.io/gpu-count"] == "1"
        assert annotations["machine.openshift.io/cluster-api-autoscaler-node-group-max-size"] == "6"

    def test_an_autoscaler_that_goes_leaves_the_set_without_bounds(self) -> None:
        world = make(machine_set(), machine_autoscaler())
        world.api.delete("autoscaling.openshift.io/v1beta1", "machineautoscalers", "gpu-a", NAMESPACE)
        world.settle()
        assert world.api.all("MachineAutoscaler") == []
        assert (
            world.api.get("MachineSet", "gpu-a", NAMESPACE)["metadata"]["annotations"] == OPENSHIFT | COPIES
        )

    def test_another_target_frees_the_one_before(self) -> None:
        world = make(machine_set(), machine_set("gpu-b"), machine_autoscaler())
        body = {"spec": {"scaleTargetRef": {"name": "gpu-b"}}}
        world.api.patch("autoscaling.openshift.io/v1beta1", "machineautoscalers", "gpu-a", NAMESPACE, body)
        world.settle()
        owners = [
            one["metadata"]["annotations"].get("autoscaling.openshift.io/machineautoscaler")
            for one in world.api.all("MachineSet")
        ]
        assert owners == [None, f"{NAMESPACE}/gpu-a"]

    def test_a_set_has_one_autoscaler(self) -> None:
        second = machine_autoscaler(high=9)
        second["metadata"]["name"] = "second"
        world = make(machine_set(), machine_autoscaler(), second)
        assert events(world, "FailedSetOwner") == [
            "Error setting target owner: already owned by another MachineAutoscaler"
        ]

    def test_a_target_that_does_not_exist(self) -> None:
        assert events(make(machine_autoscaler()), "FailedGetTarget") == [
            'Error getting target: machinesets.machine.openshift.io "gpu-a" not found'
        ]

    def test_only_the_one_called_default_is_looked_at(self) -> None:
        world = World(ClusterAutoscalers())
        world.api.create(
            {
                "apiVersion": "autoscaling.openshift.io/v1",
                "kind": "ClusterAutoscaler",
                "metadata": {"name": "mine"},
                "spec": {},
            }
        )
        world.settle(2)
        assert world.api.all("Deployment") == []

    def test_the_deployment_carries_the_limits(self) -> None:
        caps = {
            "maxNodesTotal": 20,
            "cores": {"min": 8, "max": 128},
            "gpus": [{"type": "nvidia-t4", "min": 0, "max": 4}],
        }
        assert autoscaler_deployment.arguments(
            {"resourceLimits": caps, "scaleDown": {"enabled": True, "unneededTime": "5m"}}
        )[4:] == [
            "--max-nodes-total=20",
            "--cores-total=8:128",
            "--gpu-total=nvidia-t4:0:4",
            "--scale-down-enabled=true",
            "--scale-down-unneeded-time=5m",
            "--v=1",
        ]

    def test_the_deployment_follows_and_goes(self) -> None:
        world = make(machine_set())
        path = ("autoscaling.openshift.io/v1", "clusterautoscalers", "default", None)
        world.api.patch(*path, {"spec": {"resourceLimits": {"maxNodesTotal": 7}}})
        world.settle()
        [deployment] = world.api.all("Deployment")
        assert "--max-nodes-total=7" in deployment["spec"]["template"]["spec"]["containers"][0]["args"]
        world.api.delete(*path)
        world.settle()
        assert world.api.all("Deployment") == []

    def test_absent_keys_only(self) -> None:
        key = "capacity.cluster-autoscaler.kubernetes.io/cpu"
        assert key not in upstream_copies(OPENSHIFT | {key: "2"})
        assert (
            upstream_copies({"machine.openshift.io/GPU": "0"})[
                "capacity.cluster-autoscaler.kubernetes.io/gpu-type"
            ]
            == ""
        )

    @pytest.mark.parametrize(
        ("labels", "start"),
        [
            ({}, "GPU accelerator label not found on MachineSet gpu-a. This is not an error"),
            ({"cluster-api/accelerator": ""}, "GPU accelerator label is empty. This"),
            (
                {"cluster-api/accelerator": "nvidia.com/gpu"},
                "GPU accelerator label contains a poorly formed value: nvidia.com/gpu",
            ),
        ],
    )
    def test_the_accelerator_label_is_only_warned_about(self, labels: Data, start: str) -> None:
        assert (accelerator_warning(machine_set(labels=labels)) or "").startswith(start)
        assert accelerator_warning(machine_set()) is None
