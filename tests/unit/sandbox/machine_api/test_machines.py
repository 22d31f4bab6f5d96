"""How a Machine becomes a Node, and the two ways in which AWS refuses one."""

from __future__ import annotations

import typing as t

import pytest
from unit.sandbox.machine_api.builders import NAMESPACE, add, machine, make

from openshift_sandbox.stand_ins.machine_api.nodelink import handed_over

TAINT = {"key": "nvidia.com/gpu", "value": "training", "effect": "NoSchedule"}


def creation(obj: dict[str, t.Any]) -> dict[str, t.Any]:
    [found] = [
        one for one in obj["status"]["providerStatus"]["conditions"] if one["type"] == "MachineCreation"
    ]
    return t.cast(dict[str, t.Any], found)


class TestBecomingANode:
    def test_phases_in_their_order(self) -> None:
        world, phases = make(), []
        add(world)
        for _time in range(12):
            world.settle()
            phases.append(machine(world)["status"]["phase"])
            world.time += 0.25
        assert list(dict.fromkeys(phases)) == ["Provisioning", "Provisioned", "Running"]

    def test_a_running_machine_says_where_its_instance_is(self) -> None:
        world = make()
        add(world)
        world.settle(3)
        found = machine(world)
        assert found["metadata"]["finalizers"] == ["machine.machine.openshift.io"]
        assert found["metadata"]["labels"] == {
            "machine.openshift.io/region": "us-east-2",
            "machine.openshift.io/zone": "us-east-2a",
            "machine.openshift.io/instance-type": "g4dn.xlarge",
        }
        assert found["metadata"]["annotations"] == {"machine.openshift.io/instance-state": "running"}
        instance = found["status"]["providerStatus"]["instanceId"]
        assert instance.startswith("i-0")
        assert found["spec"]["providerID"] == f"aws:///us-east-2a/{instance}"
        assert (creation(found)["status"], creation(found)["reason"]) == ("True", "MachineCreationSucceeded")
        assert {one["type"]: one["status"] for one in found["status"]["conditions"]} == {
            "Drainable": "True",
            "InstanceExists": "True",
            "Terminable": "True",
        }

    def test_the_node_gets_the_machine_s_labels_taints_and_name(self) -> None:
        world = make()
        add(world, metadata={"labels": {"team": "ml"}}, taints=[TAINT])
        world.settle(3)
        found = machine(world)
        node = world.api.get("Node", found["status"]["nodeRef"]["name"])
        address = found["status"]["addresses"][0]["address"]
        assert address.startswith("10.0.")
        assert node["metadata"]["name"] == f"ip-{address.replace('.', '-')}.us-east-2.compute.internal"
        assert node["metadata"]["labels"]["team"] == "ml"
        assert node["metadata"]["labels"]["node.kubernetes.io/instance-type"] == "g4dn.xlarge"
        assert node["metadata"]["annotations"]["machine.openshift.io/machine"] == f"{NAMESPACE}/gpu-1"
        assert node["spec"] == {"providerID": found["spec"]["providerID"], "taints": [TAINT]}

    def test_two_machines_have_two_addresses(self) -> None:
        world = make()
        for name in ("gpu-1", "gpu-2", "gpu-3"):
            add(world, name)
        world.settle(3)
        assert len(world.api.all("Node")) == 3

    def test_a_second_look_writes_nothing(self) -> None:
        world = make()
        add(world, metadata={"labels": {"team": "ml"}}, taints=[TAINT])
        world.settle(3)
        before = len(world.api.writes)
        world.settle(10)
        assert len(world.api.writes) == before

    def test_no_machine_moves_on_a_platform_without_a_stand_in(self) -> None:
        world = make(platform="None")
        add(world)
        world.settle(3)
        assert "status" not in machine(world)

    @pytest.mark.parametrize(
        ("known", "changes"),
        [
            ([], {"spec": {"taints": [TAINT]}}),
            (
                [{"key": "other", "effect": "NoExecute"}],
                {"spec": {"taints": [{"key": "other", "effect": "NoExecute"}, TAINT]}},
            ),
            ([TAINT | {"timeAdded": "2026-01-01T00:00:00Z"}], {}),
        ],
    )
    def test_taints_are_added_to_those_of_others(
        self, known: list[dict[str, str]], changes: dict[str, t.Any]
    ) -> None:
        metadata = {
            "name": "n",
            "resourceVersion": "7",
            "labels": {},
            "annotations": {"machine.openshift.io/machine": "a/b"},
        }
        wanted = handed_over(
            {"metadata": {"namespace": "a", "name": "b"}, "spec": {"taints": [TAINT]}},
            {"metadata": metadata, "spec": {"taints": known}},
        )
        assert wanted == (changes | {"metadata": {"resourceVersion": "7"}} if changes else {})


class TestRefusals:
    def test_no_capacity_is_tried_for_ever_and_ends_when_there_is_some(self) -> None:
        shortage = {"type": "no_capacity", "zone": "us-east-2a", "instance_type": "p4d.24xlarge"}
        world = make(troubles=[shortage])
        add(world, instance_type="p4d.24xlarge")
        world.settle(10)
        found = machine(world)
        assert found["status"]["phase"] == "Provisioning"
        assert "errorReason" not in found["status"]
        assert (creation(found)["status"], creation(found)["reason"]) == ("False", "MachineCreationFailed")
        assert creation(found)["message"].startswith(
            "error creating EC2 instance: InsufficientInstanceCapacity: We currently do not have "
            "sufficient p4d.24xlarge capacity"
            " in the Availability Zone you requested (us-east-2a)."
        )
        world.scenario.now.troubles.clear()
        world.settle(6)
        assert machine(world)["status"]["phase"] == "Running"
        assert creation(machine(world))["status"] == "True"

    def test_a_shortage_is_of_one_zone_and_type_and_may_leave_some(self) -> None:
        world = make(troubles=[{"type": "no_capacity", "zone": "us-east-2a", "available": 1}])
        add(world, "a-1")
        add(world, "a-2")
        add(world, "b-1", zone="us-east-2b")
        world.settle(4)
        phases = {name: machine(world, name)["status"]["phase"] for name in ("a-1", "a-2", "b-1")}
        assert phases == {"a-1": "Running", "a-2": "Provisioning", "b-1": "Running"}

    @pytest.mark.parametrize(
        ("instance_type", "trouble", "text"),
        [
            (
                "p4d.24xlarge",
                {"type": "quota_exceeded"},
                "You have requested more vCPU capacity than your current vCPU limit of 0 allows",
            ),
            (
                "p5.48xlarge",
                {"type": "unsupported_zone"},
                (
                    "Your requested instance type (p5.48xlarge) is not supported in your requested "
                    "Availability Zone"
                ),
            ),
            ("g99.xlarge", {"type": "nothing"}, "Invalid value 'g99.xlarge' for InstanceType"),
        ],
    )
    def test_what_aws_never_grants_fails_for_good(
        self, instance_type: str, trouble: dict[str, str], text: str
    ) -> None:
        world = make(troubles=[trouble])
        add(world, instance_type=instance_type)
        world.settle(3)
        world.scenario.now.troubles.clear()
        world.settle(10)
        status = machine(world)["status"]
        assert (status["phase"], status["errorReason"]) == ("Failed", "InvalidConfiguration")
        assert status["errorMessage"].startswith("error launching instance: ")
        assert text in status["errorMessage"]

    def test_any_other_failure_with_its_own_words(self) -> None:
        world = make(
            troubles=[{"type": "machine_failed", "reason": "CreateError", "message": "out of ideas"}]
        )
        add(world)
        world.settle(3)
        assert (machine(world)["status"]["errorReason"], machine(world)["status"]["errorMessage"]) == (
            "CreateError",
            "out of ideas",
        )

    def test_a_node_that_never_joins_leaves_its_machine_provisioned(self) -> None:
        world = make(troubles=[{"type": "node_never_joins", "zone": "us-east-2a"}])
        add(world)
        world.settle(30)
        assert machine(world)["status"]["phase"] == "Provisioned"
        assert world.api.all("Node") == []

    def test_slow_machines_take_their_time(self) -> None:
        world = make(troubles=[{"type": "slow_machines", "seconds": 10}])
        add(world)
        world.settle(9)
        assert machine(world)["status"]["phase"] == "Provisioning"
        world.settle(15)
        assert machine(world)["status"]["phase"] == "Running"
