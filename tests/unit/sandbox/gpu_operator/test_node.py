# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""When a node advertises GPUs, and how many."""

from __future__ import annotations

import pytest
from unit.sandbox.fake_api import World
from unit.sandbox.gpu_operator.builders import Object, add_operand, make, set_ready

from openshift_sandbox.stand_ins.gpu_operator.node import GpuNode


class TestGpuNode:
    @pytest.mark.parametrize(
        ("troubles", "amounts"),
        [
            ([], ("4", "4")),
            ([{"type": "gpu_lost"}], ("4", "3")),
            ([{"type": "gpu_lost", "count": 9}], ("4", "0")),
            ([{"type": "device_plugin_short", "count": 2}], ("2", "2")),
        ],
    )
    def test_what_it_advertises(self, troubles: list[Object], amounts: tuple[str, str]) -> None:
        world = make(GpuNode(), troubles=troubles)
        add_operand(world, "nvidia-device-plugin-daemonset", ready=True)
        world.settle(1)
        assert self.amounts(world) == amounts

    def test_a_plugin_that_goes_leaves_zero(self) -> None:
        world = make(GpuNode())
        add_operand(world, "nvidia-device-plugin-daemonset")
        world.settle(1)
        assert self.amounts(world) == (None, None)
        set_ready(world, "nvidia-device-plugin-daemonset")
        world.settle(1)
        set_ready(world, "nvidia-device-plugin-daemonset", ready=False)
        world.settle(1)
        assert self.amounts(world) == ("4", "0")

    def amounts(self, world: World) -> tuple[str | None, str | None]:
        status = world.api.get("Node", "gpu-0")["status"]
        return status.get("capacity", {}).get("nvidia.com/gpu"), status.get("allocatable", {}).get(
            "nvidia.com/gpu"
        )
