# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which machine sets, Machines and nodes a removal takes, and which pools and nodes it leaves."""

from __future__ import annotations

import typing as t

from unit.removal.builders import LABEL, POOL, machine, machine_set, node

from ansible_collections.accelerators.openshift.plugins.module_utils._removal import cluster as seen
from ansible_collections.accelerators.openshift.plugins.module_utils._removal.cluster import (
    GPU,
    NETWORK,
    Cluster,
)

TRAINING: t.Final = seen.going_pools([{"name": "training"}])


def test_only_our_sets_of_the_pool_go() -> None:
    foreign = machine_set("training", **{LABEL: "Helm"})
    cluster = Cluster(
        sets=[machine_set("training"), machine_set("web"), foreign],
        machines=[machine("training", "n-1"), machine("web", "n-2")],
    )
    sets = seen.going_sets(cluster, TRAINING)
    assert sets == [machine_set("training")]
    assert seen.nodes_of_machines(seen.machines_of(cluster, sets)) == {"n-1": "training"}


def test_a_pool_of_existing_nodes_has_the_nodes_that_it_selects() -> None:
    pools = seen.going_pools([{"name": "rack", "node_selector": {"rack": "b2"}}])
    cluster = Cluster(nodes=[node("n-1", {"rack": "b2"}), node("n-2", {"rack": "b3"})])
    assert seen.nodes_of_pools(cluster, pools) == {"n-1": "rack"}


def test_pools_that_the_removal_leaves_are_named() -> None:
    copy = machine_set("training")
    record = {"manager": "kubectl-create", "fieldsV1": {"f:metadata": {"f:labels": {f"f:{LABEL}": {}}}}}
    copy["metadata"] |= {"name": "demo-copy", "managedFields": [record]}
    cluster = Cluster(sets=[machine_set("training"), machine_set("web"), copy])
    assert seen.other_pools(cluster, TRAINING) == [
        "pool training (MachineSet demo-copy)",
        "pool web (MachineSet demo-web-a)",
    ]


def test_nodes_that_still_use_a_stack() -> None:
    no_operands = {"nvidia.com/gpu.deploy.operands": "false"}
    cluster = Cluster(
        nodes=[
            node("pool", {POOL: "training"}),
            node("gpus"),
            node("new", {"feature.node.kubernetes.io/pci-10de.present": "true"}, gpus=0),
            node("off", no_operands),
            node("cpu", gpus=0),
            {**node("nic", gpus=0), "status": {"allocatable": {"rdma/shared": "8"}}},
            node("nic-loads", {"network.nvidia.com/operator.mofed.wait": "true"}, gpus=0),
            node("nic-unused", {"network.nvidia.com/operator.mofed.wait": "false"}, gpus=0),
        ]
    )
    assert seen.other_nodes(cluster, GPU, {"pool"}) == ["gpus", "new"]
    assert seen.other_nodes(cluster, NETWORK, {"pool"}) == ["nic", "nic-loads"]
