# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A pool of two nodes whose GPUs MIG partitions, and its own form of some situations."""

from __future__ import annotations

import typing as t

from cluster import must_get
from integration.killed import kill_playbook
from integration.matrix import situations
from integration.matrix.situations import Situation
from integration.matrix.world import Data, World
from integration.playbook import Run
from integration.sharing.mig_pool import HALVES, POOL, SEVENTHS, offers, pool

CONFIG: t.Final = ("v1", "configmaps", "gpu-mig", "nvidia-gpu-operator")
HALF, SEVENTH = "nvidia.com/mig-3g.20gb", "nvidia.com/mig-1g.5gb"


def partitioned(sharing: Data) -> list[Data]:
    """Return the pool with this geometry."""
    return [pool("train", "training", 8, sharing)]


WORLD: t.Final[Data] = {"pools": partitioned(HALVES), "where": {POOL: "training"}}


def is_halved(world: World) -> bool:
    return HALF in offers(world.cluster, world.nodes[0])


def other_geometry(world: World) -> list[Data]:
    """Return the pool with the geometry that the nodes do not have."""
    return partitioned(SEVENTHS if is_halved(world) else HALVES)


def repartition(world: World) -> Run:
    asked = {"gpu_pools": other_geometry(world), "gpu_mig_node_timeout": 300}
    return world.demo.playbook("repartition", **asked | world.more)


def ask_for_partitions(world: World) -> None:
    """Let the pods of a situation ask for a partition that the nodes have."""
    world.devices = {HALF if is_halved(world) else SEVENTH: "1"}


def gpu_pods(world: World) -> None:
    """Run a Deployment of two pods with a partition each."""
    ask_for_partitions(world)
    situations.gpu_pods(world)


def budget(world: World) -> None:
    """Let a disruption budget keep pods whose eviction the user allows."""
    ask_for_partitions(world)
    situations.gpu_pods_with_budget(world)
    world.more = {"gpu_on_busy": "drain", "gpu_wait_timeout": 8, "gpu_mig_node_timeout": 8}


def killed_before(world: World) -> None:
    """Kill a run that changes the geometry, while a disruption budget holds up the drain of a node."""
    client, asked = world.cluster.client, other_geometry(world)
    ask_for_partitions(world)
    situations.gpu_pods_with_budget(world)

    def drains() -> bool:
        nodes = [client.get("v1", "nodes", one) or {} for one in world.nodes]
        return any(one.get("spec", {}).get("unschedulable") for one in nodes)

    kill_playbook(world.demo, drains, "repartition", gpu_pools=asked, gpu_on_busy="drain")
    client.delete(*situations.BUDGETS, "trainer", situations.SPACE)
    situations.delete_pods(world)
    world.more = {"gpu_pools": asked}


def argo_cd(world: World) -> None:
    """Let Argo CD own the file of the MIG manager, with the content that is there."""
    client = world.cluster.client
    live = must_get(client, *CONFIG)
    metadata = {"name": CONFIG[2], "namespace": CONFIG[3]}
    mine = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": live["data"]}
    client.acting("argocd-controller").checked(
        "PATCH",
        f"/api/v1/namespaces/{CONFIG[3]}/configmaps/{CONFIG[2]}",
        mine,
        "application/apply-patch+yaml",
        {"fieldManager": "argocd-controller", "force": "true"},
    )


HERE: t.Final[dict[str, Situation]] = {
    **situations.SITUATIONS,
    "GPU pods run": gpu_pods,
    "a budget keeps the pods": budget,
    "a run was killed before": killed_before,
    "Argo CD owns a field": argo_cd,
}
UNDO: t.Final[dict[str, Situation]] = {**situations.UNDO, "a run was killed before": situations.idle}
