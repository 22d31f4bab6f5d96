"""Which node the cluster autoscaler expects from a MachineSet."""

from __future__ import annotations

import pytest
from unit.sandbox.autoscaler.builders import (
    ACCELERATOR,
    MACHINE_API,
    NAMESPACE,
    OPENSHIFT,
    Data,
    events,
    machine,
    machine_autoscaler,
    machine_set,
    make,
    node,
    pending,
    replicas,
)

from openshift_sandbox.stand_ins.autoscaler import groups
from openshift_sandbox.stand_ins.core.pod_fit import Room, rejections

TAINT = {"key": "nvidia.com/gpu", "effect": "NoSchedule"}
TOLERATION = {"key": "nvidia.com/gpu", "operator": "Exists"}


class TestWhatANodeWouldBe:
    def test_upstream_s_keys_come_first(self) -> None:
        mixed = OPENSHIFT | {
            "capacity.cluster-autoscaler.kubernetes.io/gpu-count": "4",
            "capacity.cluster-autoscaler.kubernetes.io/gpu-type": "amd.com/gpu",
        }
        assert groups.scale_from_zero(mixed) == {
            "cpu": 4,
            "memory": 16 * 2**30,
            "nvidia.com/gpu": 4,
            "pods": 110,
        }

    def test_a_node_that_was_there_is_remembered_instead_of_newer_annotations(self) -> None:
        gpu = node("gpu-1", 1, ACCELERATOR)
        world = make(
            machine_set(replicas=1),
            machine_autoscaler(),
            machine("gpu-1", nodeRef={"name": "gpu-1"}),
            gpu,
            scaleDown={"enabled": False},
        )
        world.settle(61)
        world.api.delete(MACHINE_API, "machines", "gpu-1", NAMESPACE)
        world.api.delete("v1", "nodes", "gpu-1")
        newer = {"capacity.cluster-autoscaler.kubernetes.io/gpu-count": "8"}
        world.api.patch(
            MACHINE_API,
            "machinesets",
            "gpu-a",
            NAMESPACE,
            {"metadata": {"annotations": newer}, "spec": {"replicas": 0}},
        )
        world.api.create(pending(gpus=8))
        world.settle(3)
        assert replicas(world) == 0
        assert events(world, "NotTriggerScaleUp") == [
            "pod didn't trigger scale-up: 1 Insufficient nvidia.com/gpu"
        ]

    def test_a_set_at_zero_of_unknown_capacity_is_no_node_group(self) -> None:
        world = make(
            machine_set(annotations={"machine.openshift.io/GPU": "1"}), machine_autoscaler(), pending()
        )
        assert replicas(world) == 0
        assert events(world, "NotTriggerScaleUp") == ["pod didn't trigger scale-up: "]

    @pytest.mark.parametrize(
        ("spec", "expected"),
        [
            ({}, ["node(s) had untolerated taint(s)"]),
            ({"tolerations": [TOLERATION]}, []),
            (
                {"tolerations": [TOLERATION], "nodeSelector": {"node-role.kubernetes.io/worker": ""}},
                ["node(s) didn't match Pod's node affinity/selector"],
            ),
            ({"tolerations": [TOLERATION], "nodeSelector": ACCELERATOR}, []),
        ],
    )
    def test_taints_and_labels_of_the_template(self, spec: Data, expected: list[str]) -> None:
        world = make(machine_set(taints=[TAINT]), machine_autoscaler(), pending(**spec))
        assert replicas(world) == (0 if expected else 1)
        assert events(world, "NotTriggerScaleUp") == [
            f"pod didn't trigger scale-up: 1 {one}" for one in expected
        ]

    @pytest.mark.parametrize(
        ("operator", "values", "fits"),
        [
            ("In", ["a", "b"], True),
            ("NotIn", ["a"], False),
            ("Exists", [], True),
            ("DoesNotExist", [], False),
            ("Gt", ["1"], False),
        ],
    )
    def test_node_affinity(self, operator: str, values: list[str], fits: bool) -> None:
        expression = {"key": "size" if operator == "Gt" else "zone", "operator": operator, "values": values}
        required = {
            "requiredDuringSchedulingIgnoredDuringExecution": {
                "nodeSelectorTerms": [{"matchExpressions": [expression]}]
            }
        }
        pod = pending(gpus=0, affinity={"nodeAffinity": required})
        assert (not rejections(pod, Room({"zone": "a"}, [], {"cpu": 4, "memory": 2**34, "pods": 1}))) is fits
