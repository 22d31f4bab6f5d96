# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""The cluster as a removal sees it: pools that go, nodes that lose something, and the shared parts."""

from __future__ import annotations

import difflib
import re
import typing as t
from dataclasses import dataclass, field

from .._catalogue import kueue
from .._catalogue.well_known import GPU_PRESENT, NIC_DRIVER_WAITS, NVIDIA
from .._core.objects import KubeObject, name
from .._core.ownership import owned, pool_label, pool_of
from .._machines.machine import node_name, set_name
from .._nodes.labels import has_nvidia_pci, labels
from .._nodes.taints import matches

GPU: t.Final = "gpu_operator"
NETWORK: t.Final = "nvidia_network_operator"
NFD: t.Final = "node_feature_discovery"
# The role that installs the operator of Kueue.
KUEUE: t.Final = "gpu_policy"
# What HyperConverged permits: no operator of this collection brings it.
MACHINES: t.Final = "virtual_machines"
TITLES: t.Final = {
    GPU: "the GPU operator with its stack",
    NETWORK: "the NVIDIA network operator with its stack",
    NFD: "Node Feature Discovery",
    KUEUE: "the Red Hat build of Kueue",
    MACHINES: "what HyperConverged permits to virtual machines",
}
# Kinds whose operands each operator brings.
STACKS: t.Final = {
    GPU: ("ClusterPolicy", "NVIDIADriver", "GPUCluster"),
    NETWORK: ("NicClusterPolicy",),
    NFD: ("NodeFeatureDiscovery",),
}
PACKAGES: t.Final = {
    GPU: "gpu-operator-certified",
    NETWORK: "nvidia-network-operator",
    NFD: "nfd",
    KUEUE: kueue.PACKAGE,
}
_OPERANDS: t.Final = "nvidia.com/gpu.deploy.operands"
_RDMA: t.Final = "rdma/"


class GoingPool(t.NamedTuple):
    """A pool to remove. node_selector: labels of its nodes."""

    name: str
    node_selector: t.Mapping[str, str]


@dataclass(frozen=True)
class Cluster:
    """What the cluster holds.

    machines: those that belong to a pool. customs: part -> its custom resources, ours and foreign ones.
    subscriptions: part -> Subscriptions in its namespace, and those of its package elsewhere. modules: of
    KMM. csvs: no copies. daemonsets: those that select nodes by labels of Node Feature Discovery. queues,
    workloads: ClusterQueues, and Workloads of Kueue that have not ended.
    """

    sets: list[KubeObject] = field(default_factory=list)
    machines: list[KubeObject] = field(default_factory=list)
    nodes: list[KubeObject] = field(default_factory=list)
    customs: t.Mapping[str, list[KubeObject]] = field(default_factory=dict)
    subscriptions: t.Mapping[str, list[KubeObject]] = field(default_factory=dict)
    modules: list[KubeObject] = field(default_factory=list)
    csvs: list[KubeObject] = field(default_factory=list)
    daemonsets: list[KubeObject] = field(default_factory=list)
    queues: list[KubeObject] = field(default_factory=list)
    workloads: list[KubeObject] = field(default_factory=list)

    def has(self, part: str) -> bool:
        """Return True if this collection made something of the part."""
        return any(map(owned, (*self.customs.get(part, ()), *self.subscriptions.get(part, ()))))


def going_pools(pools: t.Iterable[t.Mapping[str, t.Any]]) -> list[GoingPool]:
    """Return the pools to remove. pools: each with name, and with node_selector if it is a planned one."""
    return [
        GoingPool(str(pool["name"]), dict(pool.get("node_selector") or pool_label(str(pool["name"]))))
        for pool in pools
    ]


def misspelt(cluster: Cluster, pools: t.Iterable[t.Mapping[str, t.Any]]) -> tuple[str, str, str] | None:
    """Return a name without nodes and machine sets, the pool that it may mean, and all pools; else None.

    pools: of the option. One with a node_selector comes from a plan, so its name is meant. Names that differ
    only in digits or in a last letter after a dash, such as team-a and team-b, are of different pools.
    """
    there = {pool_of(obj) for obj in (*cluster.sets, *cluster.nodes)} - {""}
    for wanted in (str(pool["name"]) for pool in pools if not pool.get("node_selector")):
        others = {_stem(other): other for other in sorted(there) if _stem(other) != _stem(wanted)}
        near = difflib.get_close_matches(_stem(wanted), others, n=1, cutoff=0.8)
        if wanted not in there and near:
            return wanted, others[near[0]], ", ".join(sorted(there))
    return None


def _stem(pool: str) -> str:
    return re.sub(r"\d|-[a-z]$", "", pool)


def going_sets(cluster: Cluster, pools: t.Iterable[GoingPool]) -> list[KubeObject]:
    """Return the machine sets of the pools that this collection made."""
    names = {pool.name for pool in pools}
    return [obj for obj in cluster.sets if pool_of(obj) in names and owned(obj)]


def machines_of(cluster: Cluster, sets: t.Iterable[KubeObject]) -> list[KubeObject]:
    """Return the Machines of the sets."""
    names = {name(obj) for obj in sets}
    return [machine for machine in cluster.machines if set_name(machine) in names]


def nodes_of_machines(machines: t.Iterable[KubeObject]) -> dict[str, str]:
    """Return node -> pool of these Machines, as far as they have nodes."""
    return {node_name(machine): pool_of(machine) for machine in machines if node_name(machine)}


def nodes_of_pools(cluster: Cluster, pools: t.Iterable[GoingPool]) -> dict[str, str]:
    """Return node -> pool of all nodes that the pools select."""
    return {
        name(node): pool.name
        for pool in pools
        for node in cluster.nodes
        if matches(pool.node_selector, labels(node))
    }


def other_pools(cluster: Cluster, pools: t.Iterable[GoingPool]) -> list[str]:
    """Return pools with machine sets that this removal leaves, each as a phrase."""
    names = {pool.name for pool in pools}
    found: dict[str, list[str]] = {}
    for obj in cluster.sets:
        if pool_of(obj) and not (pool_of(obj) in names and owned(obj)):
            found.setdefault(pool_of(obj), []).append(name(obj))
    return [f"pool {pool} (MachineSet {', '.join(sets)})" for pool, sets in sorted(found.items())]


def other_nodes(cluster: Cluster, part: str, going: t.Container[str]) -> list[str]:
    """Return the nodes that the part serves and that this removal leaves. going: nodes that lose it."""
    serves = _has_gpus if part == GPU else _has_rdma
    return sorted(name(node) for node in cluster.nodes if name(node) not in going and serves(node))


def _has_gpus(node: KubeObject) -> bool:
    marks = labels(node)
    if marks.get(_OPERANDS) == "false":
        return False
    return has_nvidia_pci(marks) or marks.get(GPU_PRESENT) == "true" or _offers(node, NVIDIA)


def _has_rdma(node: KubeObject) -> bool:
    # A node whose driver is being loaded offers nothing for a while.
    return _offers(node, _RDMA) or labels(node).get(NIC_DRIVER_WAITS) == "true"


def _offers(node: KubeObject, prefix: str) -> bool:
    allocatable = (node.get("status") or {}).get("allocatable") or {}
    return any(key.startswith(prefix) and str(value) != "0" for key, value in allocatable.items())
