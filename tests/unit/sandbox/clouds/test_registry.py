# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What all clouds do alike: Machines become Nodes, or fail for good."""

from __future__ import annotations

import pytest
from unit.sandbox.clouds.builders import VGPU, Data, make, outcome, rests, value

from openshift_sandbox import scenario
from openshift_sandbox.hardware import instance_types
from openshift_sandbox.stand_ins.clouds.registry import CLOUDS
from openshift_sandbox.stand_ins.machine_api.machine_sets import scale_from_zero


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
            "gpu-1: failed in validating machine providerSpec: spec.providerSpec.value.gpus.name: "
            "Invalid value:"
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
