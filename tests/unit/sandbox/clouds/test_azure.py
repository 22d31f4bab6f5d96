"""What Azure grants and refuses, in its own words."""

from __future__ import annotations

import pytest
from unit.sandbox.clouds.builders import NAMESPACE, Data, azure, creation_text, make, outcome


class TestAzure:
    def test_a_machine_becomes_a_node_under_its_own_name(self) -> None:
        world = make("azure")
        machine = outcome(world, azure())
        assert machine["status"]["phase"] == "Running"
        assert machine["metadata"]["labels"]["machine.openshift.io/zone"] == "1"
        assert machine["metadata"]["annotations"]["machine.openshift.io/instance-state"] == "Running"
        assert machine["status"]["providerStatus"]["vmState"] == "Running"
        assert creation_text(machine) == ("MachineCreated", "True", "machine successfully created")
        node = world.api.get("Node", "gpu-1")
        assert node["spec"]["providerID"] == machine["spec"]["providerID"]
        assert node["spec"]["providerID"].endswith(
            "/resourceGroups/demo-x7k2p-rg/providers/Microsoft.Compute/virtualMachines/gpu-1"
        )
        assert node["metadata"]["labels"]["topology.kubernetes.io/zone"] == "eastus-1"
        before = len(world.api.writes)
        world.settle(5)
        assert len(world.api.writes) == before

    @pytest.mark.parametrize(
        ("value", "trouble", "code", "text"),
        [
            (
                azure(),
                {"type": "quota_exceeded", "limit": 2},
                "OperationNotAllowed",
                "exceeding approved Total Regional Cores quota",
            ),
            (
                azure(),
                {"type": "quota_exceeded", "family": "standardNCASv3_T4Family"},
                "OperationNotAllowed",
                "standardNCASv3_T4Family Cores quota",
            ),
            (
                azure("Standard_X1", acceleratedNetworking=False),
                {"type": "none"},
                "InvalidParameter",
                "The value Standard_X1 provided",
            ),
        ],
    )
    def test_what_is_refused_at_once_says_why(self, value: Data, trouble: Data, code: str, text: str) -> None:
        machine = outcome(make("azure", trouble), value)
        status = machine["status"]
        assert (status["phase"], status["errorReason"]) == ("Failed", "InvalidConfiguration")
        assert status["errorMessage"].startswith(
            'failed to reconcile machine "gpu-1": failed to create vm gpu-1: failed to create VM: '
            "cannot create vm: PUT https"
        )
        assert f"\nERROR CODE: {code}\n" in status["errorMessage"]
        assert text in status["errorMessage"]
        assert creation_text(machine)[:2] == ("MachineCreated", "False")
        assert creation_text(machine)[2] == status["errorMessage"].removeprefix(
            'failed to reconcile machine "gpu-1": '
        )
        assert machine["metadata"]["annotations"]["machine.openshift.io/instance-state"] == "Unknown"

    def test_an_unknown_size_is_told_by_its_network_card(self) -> None:
        status = outcome(make("azure"), azure("Standard_X1"))["status"]
        assert (
            "failed to create nic gpu-1-nic for machine gpu-1: failed to obtain instance type "
            "information for VMSize 'Standard_X1'"
        ) in status["errorMessage"]

    def test_no_capacity_shows_late_and_without_a_reason(self) -> None:
        world = make("azure", {"type": "no_capacity", "zone": "1"})
        machine = outcome(world, azure(), seconds=1)
        assert (machine["status"]["phase"], machine["status"]["providerStatus"]["vmState"]) == (
            "Provisioned",
            "Creating",
        )
        world.settle(5)
        machine = world.api.get("Machine", "gpu-1", NAMESPACE)
        assert machine["status"]["phase"] == "Failed"
        assert (machine["status"]["errorReason"], machine["status"]["errorMessage"]) == (
            "CreateError",
            "vm has unexpected 'Failed' provisioning state",
        )
        assert machine["status"]["providerStatus"]["vmState"] == "Unknown"
        assert creation_text(machine)[1] == "True"
        assert world.api.all("Node") == []
        assert outcome(world, azure(zone="2"), "gpu-2")["status"]["phase"] == "Running"

    def test_spot_is_labelled_on_machine_and_node(self) -> None:
        world = make("azure")
        machine = outcome(world, azure(spotVMOptions={}))
        assert machine["metadata"]["labels"]["machine.openshift.io/interruptible-instance"] == ""
        assert (
            world.api.get("Node", "gpu-1")["metadata"]["labels"][
                "machine.openshift.io/interruptible-instance"
            ]
            == ""
        )
