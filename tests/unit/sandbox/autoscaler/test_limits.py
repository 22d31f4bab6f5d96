"""Which limits stop the cluster autoscaler, and what it says then."""

from __future__ import annotations

import pytest
from unit.sandbox.autoscaler.builders import (
    Data,
    events,
    machine_autoscaler,
    machine_set,
    make,
    node,
    pending,
    replicas,
)


class TestLimits:
    def test_gpus_of_the_type_that_the_label_names(self) -> None:
        caps = {"gpus": [{"type": "nvidia-t4", "min": 0, "max": 2}]}
        world = make(
            machine_set(),
            machine_autoscaler(),
            *(pending(f"train-{number}") for number in range(3)),
            resourceLimits=caps,
        )
        world.settle(10)
        assert replicas(world) == 2
        assert events(world, "NotTriggerScaleUp") == [
            "pod didn't trigger scale-up: 1 max cluster nvidia-t4 limit reached"
        ]

    @pytest.mark.parametrize("labels", [{}, {"cluster-api/accelerator": "nvidia-a100"}])
    def test_a_limit_binds_no_group_whose_label_says_something_else(self, labels: Data) -> None:
        caps = {"gpus": [{"type": "nvidia-t4", "min": 0, "max": 1}]}
        world = make(
            machine_set(labels=labels),
            machine_autoscaler(),
            *(pending(f"train-{number}") for number in range(3)),
            resourceLimits=caps,
        )
        world.settle(10)
        assert replicas(world) == 3

    def test_cores_count_the_whole_cluster(self) -> None:
        caps = {"cores": {"min": 0, "max": 7}}
        world = make(machine_set(), machine_autoscaler(), node("worker"), pending(), resourceLimits=caps)
        assert replicas(world) == 0
        assert events(world, "NotTriggerScaleUp") == [
            "pod didn't trigger scale-up: 1 max cluster cpu limit reached"
        ]

    def test_so_many_nodes_and_no_more(self) -> None:
        world = make(
            machine_set(),
            machine_autoscaler(),
            node("worker"),
            pending(),
            resourceLimits={"maxNodesTotal": 1},
        )
        assert replicas(world) == 0
        assert events(world, "NotTriggerScaleUp") == [
            "pod didn't trigger scale-up: max total nodes in cluster reached"
        ]
        assert events(world, "MaxNodesTotalReached") == ["Max total nodes in cluster reached: 1"]

    def test_nodes_that_are_not_ready_leave_the_pod_without_a_word(self) -> None:
        broken = node("worker")
        broken["status"]["conditions"] = []
        world = make(
            machine_set(), machine_autoscaler(), broken, pending(), resourceLimits={"maxNodesTotal": 1}
        )
        assert replicas(world) == 0
        assert events(world, "NotTriggerScaleUp") == []
