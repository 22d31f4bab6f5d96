# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How Nutanix refuses a Machine."""

from __future__ import annotations

from unit.sandbox.clouds.builders import NAMESPACE, creation, make, outcome, value


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
            "failed to create VM: gpu-1 failed to create the vm: error_detail: No host has enough "
            "available memory"
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
