"""What the machine-set controller does with replicas, Machines and the status."""

from __future__ import annotations

import typing as t

import pytest
from unit.sandbox.fake_api import World

from openshift_sandbox.stand_ins.machine_api.machine_sets import MachineSets, deletion_order

NAMESPACE = "openshift-machine-api"
NAME = "demo-x7k2p-gpu-us-east-2a"
SET_LABEL = {"machine.openshift.io/cluster-api-machineset": NAME}


def machine_set(replicas: int = 2, instance_type: str = "g4dn.xlarge", **spec: t.Any) -> dict[str, t.Any]:
    value = {
        "instanceType": instance_type,
        "placement": {"availabilityZone": "us-east-2a", "region": "us-east-2"},
    }
    template = {
        "metadata": {"labels": SET_LABEL},
        "spec": {"metadata": {"labels": {"team": "ml"}}, "providerSpec": {"value": value}},
    }
    return {
        "apiVersion": "machine.openshift.io/v1beta1",
        "kind": "MachineSet",
        "metadata": {"name": NAME, "namespace": NAMESPACE},
        "spec": {"replicas": replicas, "selector": {"matchLabels": SET_LABEL}, "template": template} | spec,
    }


def machine(name: str, **status: t.Any) -> dict[str, t.Any]:
    return {
        "apiVersion": "machine.openshift.io/v1beta1",
        "kind": "Machine",
        "metadata": {
            "name": name,
            "namespace": NAMESPACE,
            "labels": dict(SET_LABEL),
            "creationTimestamp": name,
        },
        "spec": {},
        "status": status,
    }


@pytest.fixture
def world() -> World:
    world = World(MachineSets())
    infrastructure = {
        "apiVersion": "config.openshift.io/v1",
        "kind": "Infrastructure",
        "metadata": {"name": "cluster"},
    }
    world.api.create(infrastructure | {"status": {"platformStatus": {"type": "AWS"}}})
    world.api.create(machine_set())
    world.settle()
    return world


def scale(world: World, replicas: int) -> None:
    world.api.patch(
        "machine.openshift.io/v1beta1", "machinesets", NAME, NAMESPACE, {"spec": {"replicas": replicas}}
    )
    world.settle()


def names(world: World) -> list[str]:
    return [one["metadata"]["name"] for one in world.api.all("Machine")]


def test_machines_come_from_the_template(world: World) -> None:
    machines = world.api.all("Machine")
    assert len(machines) == 2
    for one in machines:
        assert one["metadata"]["generateName"] == f"{NAME}-"
        assert one["metadata"]["labels"] == SET_LABEL
        assert one["spec"] == machine_set()["spec"]["template"]["spec"]
        [owner] = one["metadata"]["ownerReferences"]
        assert (owner["kind"], owner["name"], owner["controller"]) == ("MachineSet", NAME, True)


def test_the_status_counts_and_leaves_zeros_out(world: World) -> None:
    status = world.api.get("MachineSet", NAME, NAMESPACE)["status"]
    label = "machine.openshift.io/cluster-api-machineset"
    assert status == {
        "replicas": 2,
        "fullyLabeledReplicas": 2,
        "observedGeneration": 1,
        "labelSelector": f"{label}={NAME}",
    }


def test_ready_replicas_are_machines_whose_node_is_ready(world: World) -> None:
    node = {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": "n1"},
        "spec": {},
        "status": {"conditions": [{"type": "Ready", "status": "True"}]},
    }
    world.api.create(node)
    first = names(world)[0]
    world.api.patch(
        "machine.openshift.io/v1beta1",
        "machines",
        first,
        NAMESPACE,
        {"status": {"nodeRef": {"name": "n1"}}},
        "status",
    )
    world.settle()
    status = world.api.get("MachineSet", NAME, NAMESPACE)["status"]
    assert (status["readyReplicas"], status["availableReplicas"]) == (1, 1)


def test_the_autoscaler_s_annotations_follow_the_instance_type(world: World) -> None:
    annotations = world.api.get("MachineSet", NAME, NAMESPACE)["metadata"]["annotations"]
    assert annotations == {
        "machine.openshift.io/vCPU": "4",
        "machine.openshift.io/memoryMb": "16384",
        "machine.openshift.io/GPU": "1",
        "capacity.cluster-autoscaler.kubernetes.io/labels": "kubernetes.io/arch=amd64",
    }


def test_scaling_keeps_the_machines_that_there_are(world: World) -> None:
    before = names(world)
    scale(world, 3)
    assert set(before) < set(names(world))
    scale(world, 0)
    assert names(world) == []
    assert world.api.get("MachineSet", NAME, NAMESPACE)["status"]["replicas"] == 0


def test_a_deleted_machine_is_replaced_at_once(world: World) -> None:
    first, second = names(world)
    world.api.objects[("Machine", NAMESPACE, first)]["metadata"]["finalizers"] = [
        "machine.machine.openshift.io"
    ]
    world.api.delete("machine.openshift.io/v1beta1", "machines", first, NAMESPACE)
    world.settle()
    assert len(names(world)) == 3
    assert {first, second} < set(names(world))


def test_an_orphan_is_adopted(world: World) -> None:
    scale(world, 3)
    orphan = world.api.all("Machine")[0]
    del world.api.objects[("Machine", NAMESPACE, orphan["metadata"]["name"])]["metadata"]["ownerReferences"]
    world.api.patch(
        "machine.openshift.io/v1beta1",
        "machines",
        orphan["metadata"]["name"],
        NAMESPACE,
        {"metadata": {"labels": {"x": "y"}}},
    )
    world.settle()
    assert len(names(world)) == 3
    assert all(one["metadata"]["ownerReferences"] for one in world.api.all("Machine"))


def test_machines_go_with_their_set(world: World) -> None:
    world.api.delete("machine.openshift.io/v1beta1", "machinesets", NAME, NAMESPACE)
    world.settle()
    assert names(world) == []


def test_a_second_look_writes_nothing(world: World) -> None:
    before = len(world.api.writes)
    world.settle(5.0)
    assert len(world.api.writes) == before


@pytest.mark.parametrize(
    ("policy", "first"),
    [("Random", "2-without-node"), ("Oldest", "1-with-node"), ("Newest", "3-with-node")],
)
def test_deletion_order_by_policy(policy: str, first: str) -> None:
    machines = [
        machine("1-with-node", nodeRef={"name": "a"}),
        machine("2-without-node"),
        machine("3-with-node", nodeRef={"name": "b"}),
    ]
    assert deletion_order(machines, policy)[0]["metadata"]["name"] == first


@pytest.mark.parametrize("policy", ["Random", "Oldest", "Newest"])
def test_failed_and_marked_machines_go_first(policy: str) -> None:
    marked = machine("2", nodeRef={"name": "b"})
    marked["metadata"]["annotations"] = {"machine.openshift.io/delete-machine": ""}
    machines = [machine("1"), marked, machine("3", errorReason="InvalidConfiguration"), machine("4")]
    assert {one["metadata"]["name"] for one in deletion_order(machines, policy)[:2]} == {"2", "3"}
