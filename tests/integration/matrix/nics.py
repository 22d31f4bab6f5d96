# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A cluster whose GPU nodes have NVIDIA network adapters, and its own form of some situations."""

from __future__ import annotations

import typing as t

from integration.killed import kill_playbook
from integration.matrix import situations
from integration.matrix.situations import Situation, idle, owned_by_argo
from integration.matrix.world import Data, World
from integration.patience import until
from integration.playbook import Run

POLICY: t.Final = ("mellanox.com/v1alpha1", "nicclusterpolicies", "nic-cluster-policy")
FIRST, NEXT = "doca3.4.0-26.04", "doca3.5.0-26.07"
POOLS: t.Final[list[Data]] = [
    {
        "name": name,
        "existing": {"node_selector": {"rdma": name}, "expected": {"nvidia.com/gpu": gpus}},
    }
    for name, gpus in (("ethernet", 4), ("infiniband", 8))
]


def nics(version: str) -> Data:
    """Return the variable that asks for the NIC driver of this version."""
    drain = {"enable": True, "force": True, "deleteEmptyDir": True, "timeoutSeconds": 10}
    driver = {"version": version, "upgrade_policy": {"autoUpgrade": True, "drain": drain}}
    plugin = {"resources": [{"name": "rdma_a"}]}
    return {
        "nvidia_network_operator_nic_cluster_policy": {
            "ofed_driver": driver,
            "rdma_shared_device_plugin": plugin,
        }
    }


WORLD: t.Final[Data] = {
    "pools": POOLS,
    "given": {
        **nics(FIRST),
        "nvidia_network_operator_grace": 20,
        "nvidia_network_operator_wait_timeout": 400,
    },
    "where": {"rack": "b2"},
    "devices": {"nvidia.com/gpu": "1", "rdma/rdma_a": "1"},
}


def other_version(world: World) -> str:
    """Return the version of the NIC driver that the policy does not have."""
    live = world.cluster.client.get(*POLICY)
    assert live is not None
    return NEXT if live["spec"]["ofedDriver"]["version"] == FIRST else FIRST


def change_nic_images(world: World) -> Run:
    return world.enable(**{**nics(other_version(world)), **world.more})


def one_file(world: World) -> None:
    """Leave one of the pools to another file."""
    world.more = {"gpu_pools": POOLS[:1]}


def foreign_nic_policy(world: World) -> None:
    """Let the NicClusterPolicy be another team's."""
    client = world.cluster.client
    live = client.get(*POLICY)
    assert live is not None
    if "app.kubernetes.io/managed-by" in (live["metadata"].get("labels") or {}):
        client.delete(*POLICY)
        until(lambda: client.get(*POLICY) is None, "our policy gone")
        kept = {key: live[key] for key in ("apiVersion", "kind", "spec")}
        client.acting("kubectl/v1.36").create({**kept, "metadata": {"name": POLICY[2]}})
        until(lambda: state(world) == "ready", "the other team's policy ready")


def state(world: World) -> str:
    policy = world.cluster.client.get(*POLICY) or {}
    return str(policy.get("status", {}).get("state") or "")


def killed_before(world: World) -> None:
    """Kill a run that changes the images as soon as it has written them."""
    start, asked = world.audit.position(), nics(other_version(world))
    kill_playbook(
        world.demo,
        lambda: "patch nicclusterpolicies.mellanox.com" in world.audit.written(start),
        "enable_gpus",
        **world.asked(**asked),
    )
    world.more = asked


def argo_cd(world: World) -> None:
    """Let Argo CD own the version of the NIC driver."""
    live = world.cluster.client.get(*POLICY)
    assert live is not None
    driver = {"version": live["spec"]["ofedDriver"]["version"]}
    owned_by_argo(world.cluster.client, POLICY[1], live, {"ofedDriver": driver})


HERE: t.Final[dict[str, Situation]] = {
    **situations.SITUATIONS,
    "another file has a pool": one_file,
    "a foreign network operator": foreign_nic_policy,
    "a run was killed before": killed_before,
    "Argo CD owns a field": argo_cd,
}
UNDO: t.Final[dict[str, Situation]] = {
    **situations.UNDO,
    "another file has a pool": idle,
    "a run was killed before": idle,
}
