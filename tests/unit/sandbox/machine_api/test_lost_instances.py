"""What a Machine says when its instance disappears."""

from __future__ import annotations

import typing as t

from unit.sandbox.fake_api import World
from unit.sandbox.machine_api.builders import API, NAMESPACE, add, machine, make


class TestLosingInstances:
    def running(self, *names: str, **provider: t.Any) -> World:
        world = make()
        for name in names:
            add(world, name)
            body = {"spec": {"providerSpec": {"value": provider}}}
            world.api.patch(API, "machines", name, NAMESPACE, body)
        world.settle(3)
        return world

    def test_a_lost_instance_fails_its_machine(self) -> None:
        world = self.running("gpu-1", "gpu-2")
        world.scenario.now.troubles.append({"type": "instance_lost", "machine": "gpu-1"})
        world.settle(3)
        lost, kept = machine(world)["status"], machine(world, "gpu-2")["status"]
        assert (lost["phase"], lost["errorMessage"], kept["phase"]) == (
            "Failed",
            "can't find created instance",
            "Running",
        )
        [exists] = [one for one in lost["conditions"] if one["type"] == "InstanceExists"]
        assert (exists["status"], exists["reason"], exists["message"]) == (
            "False",
            "InstanceMissing",
            "Instance not found on provider",
        )
        assert [one["metadata"]["name"] for one in world.api.all("Node")] == [kept["nodeRef"]["name"]]

    def test_so_many_and_no_replacement(self) -> None:
        world = self.running("gpu-1", "gpu-2", "gpu-3")
        world.scenario.now.troubles.append({"type": "instance_lost", "zone": "us-east-2a", "count": 2})
        world.settle(3)
        add(world, "gpu-4")
        world.settle(3)
        assert [one["status"]["phase"] for one in world.api.all("Machine")] == [
            "Failed",
            "Failed",
            "Running",
            "Running",
        ]

    def test_a_spot_instance_gets_notice(self) -> None:
        world = self.running("gpu-1", spotMarketOptions={})
        world.scenario.now.troubles.append({"type": "spot_reclaimed"})
        world.settle(2)
        [node] = world.api.all("Node")
        [notice] = [one for one in node["status"]["conditions"] if one["type"] == "Terminating"]
        assert (notice["status"], notice["reason"]) == ("True", "TerminationRequested")
        assert machine(world)["status"]["phase"] == "Running"
        world.settle(6)
        assert machine(world)["status"]["phase"] == "Failed"

    def test_the_spot_market_takes_nothing_else(self) -> None:
        world = self.running("gpu-1")
        world.scenario.now.troubles.append({"type": "spot_reclaimed"})
        world.settle(10)
        assert machine(world)["status"]["phase"] == "Running"

    def test_the_control_plane_is_lost_only_by_name(self) -> None:
        world = self.running("master-0")
        label = {"machine.openshift.io/cluster-api-machine-role": "master"}
        world.api.patch(API, "machines", "master-0", NAMESPACE, {"metadata": {"labels": label}})
        world.scenario.now.troubles.append({"type": "instance_lost"})
        world.settle(3)
        assert machine(world, "master-0")["status"]["phase"] == "Running"
        world.scenario.now.troubles.append({"type": "instance_lost", "machine": "master-0"})
        world.settle(3)
        assert machine(world, "master-0")["status"]["phase"] == "Failed"
