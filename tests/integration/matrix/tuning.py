# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A pool whose tuning reboots nodes, and its own form of some situations."""

from __future__ import annotations

import typing as t

from integration.killed import kill_playbook
from integration.matrix import situations
from integration.matrix.situations import Situation, owned_by_argo
from integration.matrix.world import Data, World
from integration.playbook import Run
from integration.troubles.demo import POOLS

CONFIG: t.Final = ("machineconfiguration.openshift.io/v1", "machineconfigs", "99-gpu-demo-kernel")
FIRST, NEXT = "iommu=pt", "pci=realloc=off"


def tuned(argument: str) -> list[Data]:
    """Return the pool of the demo with this kernel argument."""
    return [POOLS[0] | {"tuning": {"kernel_arguments": [argument], "reboot": "planned"}}]


WORLD: t.Final[Data] = {"pools": tuned(FIRST), "given": {"node_tuning_wait_timeout": 400}}


def other_argument(world: World) -> str:
    """Return the kernel argument that the nodes do not have."""
    live = world.cluster.client.get(*CONFIG)
    assert live is not None
    return NEXT if live["spec"]["kernelArguments"] == [FIRST] else FIRST


def tune(world: World) -> Run:
    asked = {"gpu_pools": tuned(other_argument(world)), "node_tuning_wait_timeout": 400}
    return world.demo.playbook("tune_nodes", **asked | world.more)


def budget(world: World) -> None:
    """Let a disruption budget keep pods whose eviction the user allows."""
    situations.budget(world)
    world.more["node_tuning_wait_timeout"] = 40


def killed_before(world: World) -> None:
    """Kill a run that changes the arguments, while a disruption budget holds up the drain of a node."""
    client, asked = world.cluster.client, tuned(other_argument(world))
    situations.gpu_pods_with_budget(world)

    def drains() -> bool:
        nodes = [client.get("v1", "nodes", one) or {} for one in world.nodes]
        return any(one.get("spec", {}).get("unschedulable") for one in nodes)

    kill_playbook(world.demo, drains, "tune_nodes", gpu_pools=asked, gpu_on_busy="drain")
    client.delete(*situations.BUDGETS, "trainer", situations.SPACE)
    situations.delete_pods(world)
    world.more = {"gpu_pools": asked}


def argo_cd(world: World) -> None:
    """Let Argo CD own the kernel arguments."""
    live = world.cluster.client.get(*CONFIG)
    assert live is not None
    owned_by_argo(world.cluster.client, CONFIG[1], live, {"kernelArguments": live["spec"]["kernelArguments"]})


HERE: t.Final[dict[str, Situation]] = {
    **situations.SITUATIONS,
    "a budget keeps the pods": budget,
    "a run was killed before": killed_before,
    "Argo CD owns a field": argo_cd,
}
UNDO: t.Final[dict[str, Situation]] = {**situations.UNDO, "a run was killed before": situations.idle}
