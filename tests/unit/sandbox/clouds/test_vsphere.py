# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How vSphere refuses a Machine."""

from __future__ import annotations

from unit.sandbox.clouds.builders import NAMESPACE, VGPU, creation, make, outcome, value


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
