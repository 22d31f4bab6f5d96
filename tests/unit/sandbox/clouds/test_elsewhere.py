# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What vSphere, OpenStack, Nutanix and IBM Cloud grant and refuse; half of them do not say why."""

from __future__ import annotations

import copy
import typing as t

import pytest
from unit.sandbox.fake_api import World

from openshift_sandbox import scenario
from openshift_sandbox.hardware import instance_types
from openshift_sandbox.seed import installer
from openshift_sandbox.stand_ins.clouds.registry import CLOUDS
from openshift_sandbox.stand_ins.machine_api.machine_sets import scale_from_zero
from openshift_sandbox.stand_ins.machine_api.machines import Machines
from openshift_sandbox.stand_ins.machine_api.nodelink import Nodelink

Data = dict[str, t.Any]

NAMESPACE = "openshift-machine-api"
API = "machine.openshift.io/v1beta1"
CLUSTER = "machine.openshift.io/cluster-api-cluster"
VGPU = "/dc-east/vm/gpu/rhcos-9.8-2xL40S"


def make(name: str, *troubles: Data) -> World:
    shape = scenario.load(name).cluster
    world = World(Machines(), Nodelink(), cluster=shape, troubles=list(troubles))
    infrastructure = {
        "apiVersion": "config.openshift.io/v1",
        "kind": "Infrastructure",
        "metadata": {"name": "cluster"},
    }
    world.api.create(infrastructure | {"status": {"platformStatus": {"type": shape["platform"]}}})
    return world


def value(name: str, number: int = 0, **more: t.Any) -> Data:
    """The provider specification of a worker set, with changes."""
    sets = installer.machine_sets(scenario.load(name).cluster)
    return copy.deepcopy(sets[number]["spec"]["template"]["spec"]["providerSpec"]["value"]) | more


def outcome(world: World, provider: Data, name: str = "gpu-1", seconds: float = 6) -> Data:
    metadata = {"name": name, "namespace": NAMESPACE, "labels": {CLUSTER: "demo-x7k2p"}}
    world.api.create(
        {
            "apiVersion": API,
            "kind": "Machine",
            "metadata": metadata,
            "spec": {"providerSpec": {"value": provider}},
        }
    )
    world.settle(seconds)
    return world.api.get("Machine", name, NAMESPACE)


def rests(world: World) -> bool:
    before = len(world.api.writes)
    world.settle(10)
    return len(world.api.writes) == before


def creation(machine: Data) -> Data:
    found: Data = next(
        one
        for one in machine["status"]["providerStatus"]["conditions"]
        if one["type"].startswith("MachineCreat")
    )
    return found


@pytest.mark.parametrize(
    ("name", "changes", "gpus", "node_type", "machine_type"),
    [
        (
            "vsphere",
            {"template": VGPU, "numCPUs": 16, "memoryMiB": 65536},
            2,
            "vsphere-vm.cpu-16.mem-64gb.os-unknown",
            None,
        ),
        (
            "vsphere-one-zone",
            {"template": "rhcos-9.8-1xA40"},
            1,
            "vsphere-vm.cpu-8.mem-32gb.os-unknown",
            None,
        ),
        ("openstack", {"flavor": "g1.a100.2"}, 2, "g1.a100.2", "g1.a100.2"),
        (
            "nutanix",
            {"gpus": [{"type": "Name", "name": "Ampere 40"}, {"type": "DeviceID", "deviceID": 8757}]},
            2,
            "ahv-vm",
            "AHV",
        ),
        ("ibmcloud", {"profile": "gx3-32x160x2l4"}, 2, "gx3-32x160x2l4", "gx3-32x160x2l4"),
    ],
)
def test_a_machine_becomes_a_node_with_gpus(
    name: str, changes: Data, gpus: int, node_type: str, machine_type: str | None
) -> None:
    world = make(name)
    machine = outcome(world, value(name, **changes))
    assert machine["status"]["phase"] == "Running"
    assert machine["metadata"]["labels"].get("machine.openshift.io/instance-type") == machine_type
    node = world.api.get("Node", "gpu-1")
    made_of = instance_types.of_node(node)
    assert made_of is not None
    assert made_of.gpus == gpus
    assert node["spec"]["providerID"] == machine["spec"]["providerID"]
    assert node["metadata"]["labels"]["node.kubernetes.io/instance-type"] == node_type
    assert node["status"]["capacity"]["cpu"] == str(made_of.vcpus)
    assert rests(world)


@pytest.mark.parametrize(
    ("name", "place"),
    [
        ("vsphere", ("dc-east", "cluster-b")),
        ("vsphere-one-zone", (None, None)),
        ("openstack", ("regionOne", "az1")),
        ("nutanix", ("prism-central", "pe-2")),
    ],
)
def test_machine_and_node_are_where_the_specification_says(
    name: str, place: tuple[str | None, str | None]
) -> None:
    world = make(name)
    machine = outcome(world, value(name, -1))
    for obj, prefix in (
        (machine, "machine.openshift.io"),
        (world.api.get("Node", "gpu-1"), "topology.kubernetes.io"),
    ):
        assert tuple(obj["metadata"]["labels"].get(f"{prefix}/{key}") for key in ("region", "zone")) == place


@pytest.mark.parametrize(
    ("name", "changes", "told"),
    [
        ("vsphere", {"template": VGPU}, {"vCPU": "8", "memoryMb": "32768"}),
        ("openstack", {"flavor": "g1.t4.1"}, {"vCPU": "8", "memoryMb": "32768"}),
        (
            "nutanix",
            {"gpus": [{"type": "Name", "name": "Ampere 40"}], "memorySize": "64Gi"},
            {"vCPU": "8", "memoryMb": "65536"},
        ),
        ("ibmcloud", {"profile": "gx3-16x80x1l4"}, {"vCPU": "16", "memoryMb": "81920"}),
        ("baremetal", {}, {}),
    ],
)
def test_no_provider_here_tells_the_autoscaler_of_gpus(
    name: str, changes: Data, told: dict[str, str]
) -> None:
    cloud = CLOUDS[scenario.load(name).cluster["platform"]]
    machine_set = {
        "metadata": {},
        "spec": {"template": {"spec": {"providerSpec": {"value": value(name, **changes)}}}},
    }
    assert scale_from_zero(cloud, machine_set) == {
        f"machine.openshift.io/{key}": text for key, text in told.items()
    }


@pytest.mark.parametrize(
    ("name", "changes", "message"),
    [
        ("vsphere", {"template": "rhcos-gone"}, "template not found, specify valid value"),
        (
            "vsphere",
            {"workspace": {"resourcePool": "/dc-east/host/cluster-a/gone"}},
            "resource pool not found, specify valid value",
        ),
        (
            "openstack",
            {"flavor": "g9.none"},
            "Machine validation failed: Unable to find flavor with name g9.none",
        ),
        (
            "openstack",
            {"availabilityZone": "az9"},
            "Machine validation failed: could not find compute availability zone: az9",
        ),
        (
            "nutanix",
            {"gpus": [{"type": "Name", "name": "Hopper"}]},
            "gpu-1: failed in validating machine providerSpec: spec.providerSpec.value.gpus.name: Invalid value:"
            ' "Hopper": no available GPU found that matches required GPU inputs',
        ),
        ("ibmcloud", {"profile": "gx9-1x1x1"}, "could not find instance profile: gx9-1x1x1"),
    ],
)
def test_what_can_never_be_made_fails_for_good(name: str, changes: Data, message: str) -> None:
    world = make(name)
    status = outcome(world, value(name, **changes))["status"]
    assert (status["phase"], status["errorReason"], status["errorMessage"]) == (
        "Failed",
        "InvalidConfiguration",
        message,
    )
    assert rests(world)


class TestVSphere:
    def test_a_failed_task_has_the_reason_of_a_success_and_is_never_tried_again(self) -> None:
        world = make("vsphere", {"type": "no_capacity", "zone": "cluster-a"})
        machine = outcome(world, value("vsphere", template=VGPU))
        found = creation(machine)
        assert (found["status"], found["reason"]) == ("False", "MachineCreationSucceeded")
        assert found["message"] == "No host is compatible with the virtual machine."
        assert machine["status"]["phase"] == "Provisioning"
        world.scenario.now.troubles.clear()
        world.settle(20)
        assert world.api.get("Machine", "gpu-1", NAMESPACE)["status"]["phase"] == "Provisioning"
        assert outcome(world, value("vsphere", template=VGPU), "gpu-2")["status"]["phase"] == "Running"

    def test_a_reserve_for_failover_is_kept(self) -> None:
        machine = outcome(make("vsphere", {"type": "quota_exceeded"}), value("vsphere"))
        assert (
            creation(machine)["message"]
            == "Insufficient resources to satisfy configured failover level for vSphere HA."
        )


class TestOpenStack:
    def test_a_server_that_no_host_took_looks_provisioned_and_joins_never(self) -> None:
        world = make("openstack", {"type": "no_capacity", "instance_type": "g1.t4.1"})
        machine = outcome(world, value("openstack", flavor="g1.t4.1"), seconds=20)
        assert machine["status"]["phase"] == "Provisioned"
        assert machine["metadata"]["annotations"]["machine.openshift.io/instance-state"] == "ERROR"
        assert machine["metadata"]["annotations"]["openstack-resourceId"] == machine["spec"][
            "providerID"
        ].removeprefix("openstack:///")
        assert "providerStatus" not in machine["status"]
        assert world.api.all("Node") == []

    def test_a_quota_leaves_no_word_on_the_machine_and_ends_when_raised(self) -> None:
        world = make("openstack", {"type": "quota_exceeded"})
        machine = outcome(world, value("openstack"))
        assert machine["status"]["phase"] == "Provisioning"
        assert "errorMessage" not in machine["status"]
        assert "providerStatus" not in machine["status"]
        world.scenario.now.troubles.clear()
        world.settle(6)
        assert world.api.get("Machine", "gpu-1", NAMESPACE)["status"]["phase"] == "Running"


class TestNutanix:
    def test_gpus_that_are_all_used_fail_a_machine_as_a_wrong_name_does(self) -> None:
        world = make("nutanix", {"type": "no_capacity", "zone": "pe-1"})
        status = outcome(world, value("nutanix", gpus=[{"type": "DeviceID", "deviceID": 8757}]))["status"]
        assert (status["phase"], status["errorReason"]) == ("Failed", "InvalidConfiguration")
        assert status["errorMessage"].endswith(
            "gpus.deviceID: Invalid value: 8757: no available GPU found that matches required GPU inputs"
        )

    def test_a_lack_of_memory_is_waited_for(self) -> None:
        world = make("nutanix", {"type": "no_capacity", "zone": "pe-1"})
        machine = outcome(world, value("nutanix"))
        assert machine["status"]["phase"] == "Provisioning"
        assert creation(machine)["message"].startswith(
            "failed to create VM: gpu-1 failed to create the vm: error_detail: No host has enough available memory"
        )
        states = {one["type"]: one["status"] for one in machine["status"]["providerStatus"]["conditions"]}
        assert states == {"MachineCreation": "False", "MachineInstanceReady": "False"}
        world.scenario.now.troubles.clear()
        world.settle(8)
        assert world.api.get("Machine", "gpu-1", NAMESPACE)["status"]["phase"] == "Running"

    def test_a_running_machine_says_so_in_its_own_words(self) -> None:
        machine = outcome(make("nutanix"), value("nutanix"))
        assert machine["metadata"]["annotations"] == {
            "machine.openshift.io/instance-state": "COMPLETE",
            "machine.openshift.io/instance-power-state": "ON",
        }
        assert machine["spec"]["providerID"] == f"nutanix://{machine['status']['providerStatus']['vmUUID']}"
        assert creation(machine)["message"] == "MachineCreation succeeded"


class TestIbmCloud:
    def test_a_zone_without_room_leaves_a_server_that_failed(self) -> None:
        world = make("ibmcloud", {"type": "no_capacity", "zone": "us-east-1"})
        machine = outcome(world, value("ibmcloud", profile="gx3d-160x1792x8h100"), seconds=20)
        assert machine["status"]["phase"] == "Provisioning"
        assert machine["status"]["providerStatus"]["instanceState"] == "failed"
        assert creation(machine)["status"] == "True"
        assert world.api.all("Node") == []
        assert rests(world)

    def test_a_quota_is_told_and_tried_again(self) -> None:
        world = make("ibmcloud", {"type": "quota_exceeded", "limit": 200})
        machine = outcome(world, value("ibmcloud", profile="gx3-16x80x1l4"))
        assert machine["status"]["phase"] == "Provisioning"
        assert creation(machine)["type"] == "MachineCreated"
        assert (
            creation(machine)["message"]
            == "Creating a new instance will put the user over quota. Allocated: 200, Requested: 16, Quota: 200"
        )
        world.scenario.now.troubles.clear()
        world.settle(8)
        assert world.api.get("Machine", "gpu-1", NAMESPACE)["status"]["phase"] == "Running"
