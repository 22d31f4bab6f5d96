# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a diagnosis reads, by name, and the pools that it judges."""

from __future__ import annotations

import typing as t

from .._catalogue.well_known import GPU_PRESENT, NVIDIA_PCI, WORKLOAD
from .._core.objects import KubeObject, at
from .._core.ownership import POOL, pool_of, selector
from .._kube.kinds import known
from .._kube.session import Query
from .._nodes.labels import common_selector, labels
from .._stack.clusterpolicy.node import CONTAINER
from .._stack.operands import DEPLOY
from .._stack.params import StackPool
from .model import Seen

MACHINES: t.Final = "openshift-machine-api"
MARKET: t.Final = "openshift-marketplace"
GPU: t.Final = "nvidia-gpu-operator"
NFD: t.Final = "openshift-nfd"
NIC: t.Final = "nvidia-network-operator"
# The pool of GPU nodes that belong to none.
OTHERS: t.Final = "others"
# Nodes that are of interest have one of these labels, or are those of a pool.
_LABELS: t.Final = (POOL, f"{GPU_PRESENT}=true")
# Nodes with a GPU that no operator has looked at have this one alone.
_UNSEEN: t.Final = f"{NVIDIA_PCI}=true"


def queries(gpu: str) -> dict[str, Query]:
    """Return the queries of every walk. gpu: the namespace of the GPU operator."""
    return {
        "policies": Query(known("ClusterPolicy")),
        "clusters": Query(known("GPUCluster")),
        "drivers": Query(known("NVIDIADriver")),
        "nics": Query(known("NicClusterPolicy")),
        "machines": Query(known("Machine"), MACHINES),
        "config_pools": Query(known("MachineConfigPool")),
        "nfd": Query(known("NodeFeatureDiscovery")),
        "nfd_daemonsets": Query(known("DaemonSet"), NFD),
        "subscriptions": Query(known("Subscription")),
        "catalogs": Query(known("CatalogSource"), MARKET),
        "quotas": Query(known("ResourceQuota")),
        "pending": Query(known("Pod"), fields="status.phase=Pending"),
        "daemonsets": Query(known("DaemonSet"), gpu),
        "pods": Query(known("Pod"), gpu),
        "revisions": Query(known("ControllerRevision"), gpu),
        "streams": Query(known("ImageStream"), "openshift", "driver-toolkit"),
        "monitors": Query(known("ServiceMonitor"), gpu),
        "namespaces": Query(known("Namespace"), None, gpu),
    }


def node_selectors(pools: t.Sequence[StackPool], has_stack: bool = False) -> list[str]:
    """Return label selectors that find the nodes of interest. pools: of the option, or empty.

    has_stack: whether an operator marks the nodes with GPUs.
    """
    given = [pool["node_selector"] for pool in pools]
    common = common_selector(given)
    return list(
        dict.fromkeys(
            [*([common] if common else map(selector, given)), *_LABELS, *(() if has_stack else (_UNSEEN,))]
        )
    )


def left_out(seen: Seen) -> list[KubeObject]:
    """Return the nodes of no pool that a label keeps from the stack on purpose, or gives to machines."""
    if all(pool["name"] != OTHERS for pool in seen.pools):
        return []
    kinds = {CONTAINER, None}
    if not any(at(one, "spec.sandboxWorkloads.enabled") for one in seen.of("policies")):
        kinds |= {labels(one).get(WORKLOAD) for one in seen.of("nodes")}
    every = [(one, labels(one)) for one in seen.of("nodes") if not pool_of(one)]
    return [
        one for one, has in every if has.get(f"{DEPLOY}operands") == "false" or has.get(WORKLOAD) not in kinds
    ]


def pools_of(nodes: t.Iterable[KubeObject]) -> list[StackPool]:
    """Return the pools that the labels of the nodes name; C(others) is for GPU nodes without a pool."""
    found: dict[str, StackPool] = {}
    for node in nodes:
        pool = pool_of(node)
        if pool:
            found.setdefault(pool, {"name": pool, "node_selector": {POOL: pool}})
        elif labels(node).get(GPU_PRESENT) == "true":
            # None stands for an absent label.
            others: t.Any = {GPU_PRESENT: "true", POOL: None}
            found.setdefault("", {"name": OTHERS, "node_selector": others})
    return [found[one] for one in sorted(found)]
