"""What a MachineConfigPool counts."""

from __future__ import annotations

import typing as t

import pytest
from unit.sandbox.fake_api import World
from unit.sandbox.machine_config.builders import CONFIGURATION, HEALTHY, Data, node, numbers, pool, states

from openshift_sandbox.stand_ins.machine_config.pools import MachineConfigPools


def counted(*objects: Data, name: str = "worker") -> Data:
    world = World(MachineConfigPools())
    for obj in objects:
        world.api.create(obj)
    world.settle(2)
    return t.cast(Data, world.api.get("MachineConfigPool", name)["status"])


class TestPools:
    def test_a_pool_whose_nodes_are_all_right(self) -> None:
        status = counted(pool(), node("a"), node("b"), node("m", "master"))
        assert numbers(status) == (2, 2, 2, 0, 0)
        assert states(status) == {"Updated": "True", "Updating": "False"} | HEALTHY
        assert (status["observedGeneration"], status["configuration"]) == (1, {"name": CONFIGURATION})

    @pytest.mark.parametrize(
        ("bad", "expected"),
        [
            (node("b", ready=False), (2, 2, 1, 1, 0)),
            (node("b", cordoned=True), (2, 2, 1, 1, 0)),
            (node("b", state="Working"), (2, 1, 1, 1, 0)),
            (node("b", state="Degraded"), (2, 1, 1, 0, 1)),
            (node("b", state="Unreconcilable"), (2, 1, 1, 0, 1)),
        ],
    )
    def test_one_that_is_not(self, bad: Data, expected: tuple[int, ...]) -> None:
        status = counted(pool(), node("a"), bad)
        assert numbers(status) == expected
        degraded = {"NodeDegraded": "True", "Degraded": "True"} if expected[4] else {}
        assert states(status) == {"Updated": "False", "Updating": "True"} | HEALTHY | degraded

    def test_a_custom_pool_takes_its_nodes_from_the_workers(self) -> None:
        objects = (pool(), pool("gpu"), node("a"), node("b", "worker", "gpu"))
        assert numbers(counted(*objects)) == (1, 1, 1, 0, 0)
        assert numbers(counted(*objects, name="gpu")) == (1, 1, 1, 0, 0)

    def test_a_windows_node_is_in_no_pool(self) -> None:
        windows = node("w")
        windows["metadata"]["labels"]["kubernetes.io/os"] = "windows"
        assert numbers(counted(pool(), node("a"), windows)) == (1, 1, 1, 0, 0)
