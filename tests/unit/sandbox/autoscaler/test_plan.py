"""What makes the cluster autoscaler grow a MachineSet, and by how much."""

from __future__ import annotations

from unit.sandbox.autoscaler.builders import (
    ACCELERATOR,
    NAMESPACE,
    OPENSHIFT,
    events,
    machine,
    machine_autoscaler,
    machine_set,
    make,
    node,
    pending,
    replicas,
)
from unit.sandbox.fake_api import World

from openshift_sandbox.stand_ins.autoscaler.cluster_autoscaler import ClusterAutoscaler, ClusterAutoscalers
from openshift_sandbox.stand_ins.autoscaler.machine_autoscalers import MachineAutoscalers


class TestGrowing:
    def test_from_zero_for_a_pending_pod(self) -> None:
        world = make(machine_set(), machine_autoscaler(), pending())
        assert replicas(world) == 1
        assert events(world, "TriggeredScaleUp") == [
            f"pod triggered scale-up: [{{MachineSet/{NAMESPACE}/gpu-a 0->1 (max: 4)}}]"
        ]
        assert ("patch scale", "MachineSet", "gpu-a") in world.api.writes

    def test_one_node_for_each_pod_that_fills_one(self) -> None:
        world = make(
            machine_set(), machine_autoscaler(), *(pending(f"train-{number}") for number in range(3))
        )
        world.settle(10)
        assert replicas(world) == 3

    def test_no_further_than_the_maximum(self) -> None:
        world = make(
            machine_set(), machine_autoscaler(high=2), *(pending(f"train-{number}") for number in range(3))
        )
        world.settle(10)
        assert replicas(world) == 2
        assert events(world, "NotTriggerScaleUp") == [
            "pod didn't trigger scale-up: 1 max node group size reached"
        ]

    def test_a_labelled_node_without_its_gpus_is_still_awaited(self) -> None:
        labelled = node("gpu-1", labels=ACCELERATOR)
        world = make(
            machine_set(replicas=1),
            machine_autoscaler(),
            machine("gpu-1", nodeRef={"name": "gpu-1"}),
            labelled,
            pending(),
        )
        world.settle(30)
        assert replicas(world) == 1

    def test_no_second_node_before_the_labels_of_the_machine_have_come(self) -> None:
        labelled = machine("gpu-1", nodeRef={"name": "gpu-1"})
        labelled["spec"]["metadata"] = {"labels": ACCELERATOR}
        world = make(machine_set(replicas=1), machine_autoscaler(), labelled, node("gpu-1"), pending())
        world.settle(5)
        assert replicas(world) == 1

    def test_no_second_node_while_the_scheduler_has_not_seen_the_first(self) -> None:
        first = node("gpu-1", gpus=1, labels=ACCELERATOR)
        world = make(
            machine_set(replicas=1),
            machine_autoscaler(),
            machine("gpu-1", nodeRef={"name": "gpu-1"}),
            first,
            pending(),
        )
        world.settle(30)
        assert replicas(world) == 1

    def test_a_second_node_when_a_pod_has_the_first(self) -> None:
        busy = pending("train-0", nodeName="gpu-1")
        world = make(
            machine_set(replicas=1),
            machine_autoscaler(),
            machine("gpu-1", nodeRef={"name": "gpu-1"}),
            node("gpu-1", gpus=1, labels=ACCELERATOR),
            busy,
            pending("train-1"),
        )
        world.settle(30)
        assert replicas(world) == 2

    def test_without_the_label_node_after_node_is_ordered(self) -> None:
        bare = machine_set(labels={}, replicas=1)
        world = make(
            bare, machine_autoscaler(), machine("gpu-1", nodeRef={"name": "gpu-1"}), node("gpu-1"), pending()
        )
        assert replicas(world) == 2

    def test_without_the_label_a_node_of_a_minute_s_age_says_that_the_group_has_no_gpus(self) -> None:
        bare = machine_set(labels={}, replicas=1)
        world = make(
            bare, machine_autoscaler(high=2), machine("gpu-1", nodeRef={"name": "gpu-1"}), node("gpu-1")
        )
        world.settle(61)
        world.api.create(pending())
        world.settle(3)
        assert replicas(world) == 1
        assert events(world, "NotTriggerScaleUp") == [
            "pod didn't trigger scale-up: 1 Insufficient nvidia.com/gpu"
        ]

    def test_the_smaller_waste_wins(self) -> None:
        big = OPENSHIFT | {
            "machine.openshift.io/vCPU": "96",
            "machine.openshift.io/memoryMb": "1179648",
            "machine.openshift.io/GPU": "8",
        }
        world = make(
            machine_set("big", annotations=big),
            machine_set("small"),
            machine_autoscaler("big"),
            machine_autoscaler("small"),
            pending(),
        )
        assert (replicas(world, "big"), replicas(world, "small")) == (0, 1)

    def test_no_scale_up_before_the_deployment_is_available(self) -> None:
        world = World(MachineAutoscalers(), ClusterAutoscalers(), ClusterAutoscaler())
        for obj in (machine_set(), machine_autoscaler(), pending()):
            world.api.create(obj)
        world.api.create(
            {
                "apiVersion": "autoscaling.openshift.io/v1",
                "kind": "ClusterAutoscaler",
                "metadata": {"name": "default"},
                "spec": {},
            }
        )
        world.settle(5)
        assert replicas(world) == 0

    def test_a_second_look_writes_nothing(self) -> None:
        world = make(machine_set(), machine_autoscaler(), pending(), pending("odd", gpus=3))
        world.settle(3)
        before = len(world.api.writes)
        world.settle(20)
        assert len(world.api.writes) == before
