# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How OpenStack refuses a Machine."""

from __future__ import annotations

from unit.sandbox.clouds.builders import NAMESPACE, make, outcome, value


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
