# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How IBM Cloud refuses a Machine."""

from __future__ import annotations

from unit.sandbox.clouds.builders import NAMESPACE, creation, make, outcome, rests, value


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
        assert creation(machine)["message"] == (
            "Creating a new instance will put the user over quota. Allocated: 200, Requested: 16, Quota: 200"
        )
        world.scenario.now.troubles.clear()
        world.settle(8)
        assert world.api.get("Machine", "gpu-1", NAMESPACE)["status"]["phase"] == "Running"
