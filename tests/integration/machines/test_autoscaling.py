# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Pools that the autoscaler scales: nodes come without a playbook, and no run resets the replicas."""

from __future__ import annotations

from cluster import Cluster
from integration.machines.scaled_pool import (
    TAINT,
    autoscaler,
    bounds,
    pod,
    pool,
    ready_nodes,
    replicas,
    scale,
    sets,
)
from integration.patience import until
from integration.playbook import Playbook
from integration.wire import Audit


def bring_the_first_node(cluster: Cluster) -> None:
    """Create a pod that no node has room for; its node has the pool's labels and taint."""
    cluster.client.create(pod("it-trainer"))
    (node,) = until(lambda: ready_nodes(cluster, "it-burst"), "a node for the pod")
    labels, taints = node["metadata"]["labels"], node["spec"]["taints"]
    assert {
        "cluster-api/accelerator": "it-burst",
        "node-role.kubernetes.io/gpu": "",
    }.items() <= labels.items()
    assert TAINT in [{key: one.get(key) for key in TAINT} for one in taints]


def test_a_pending_pod_brings_the_first_node_and_no_run_fights_it(
    cluster: Cluster, playbook: Playbook, audit: Audit, unscaled: None
) -> None:
    cluster.needs_sandbox()
    made = playbook.module("gpu_machineset", pool=pool())
    assert not made.failed, made.result
    assert (bounds(cluster), replicas(cluster)) == ([(0, 4), (0, 4)], 0)
    assert made["limits"] == [{"type": "it-burst", "min": 0, "max": 4}]
    bring_the_first_node(cluster)

    # The autoscaler has written replicas and the operator its annotations: neither is drift.
    same = playbook.module("gpu_machineset", pool=pool())
    assert (same.failed, same.changed, audit.writes(same)) == (False, False, []), same.result
    assert replicas(cluster) == 1

    # A run raises replicas to a higher minimum, although the autoscaler owns them.
    raised = playbook.module("gpu_machineset", pool=pool(least=2))
    assert not raised.failed, raised.result
    assert (replicas(cluster), sum(least for least, _most in bounds(cluster))) == (2, 2)

    # Without autoscale the pool sets replicas again, and the run removes all of the autoscaler's objects.
    cluster.client.delete("v1", "pods", "it-trainer", "default")
    fixed = playbook.module("gpu_machineset", pool=pool(autoscale=None, replicas=1))
    assert not fixed.failed, fixed.result
    assert (replicas(cluster), bounds(cluster), autoscaler(cluster)) == (1, [], None)
    again = playbook.module("gpu_machineset", pool=pool(autoscale=None, replicas=1))
    assert audit.writes(again) == []


def test_machines_of_a_scaled_pool_are_not_replaced_behind_the_autoscaler(
    cluster: Cluster, playbook: Playbook, audit: Audit, unscaled: None
) -> None:
    assert not playbook.module("gpu_machineset", pool=pool(least=1)).failed
    refused = playbook.module(
        "gpu_machineset", pool=pool(least=1, disk={"size_gib": 200}), on_change="replace"
    )
    assert (refused["code"], refused["layer"]) == ("POOL-AUTOSCALED", "machine")
    assert len(refused["evidence"]) == 1
    larger = [{"instance_type": "g4dn.2xlarge", "zones": ["us-east-2a", "us-east-2b"]}]
    other = playbook.module("gpu_machineset", pool=pool(least=1, candidates=larger), on_change="replace")
    assert other["code"] == "POOL-DRIFT"
    assert audit.writes(refused, other) == []
    same = playbook.module("gpu_machineset", pool=pool(least=1), on_change="replace")
    assert (same.failed, same.changed) == (False, False)
    fixed = playbook.module(
        "gpu_machineset", pool=pool(autoscale=None, replicas=1, disk={"size_gib": 200}), on_change="replace"
    )
    assert len(fixed["replaced"]) == 1


def test_a_node_added_by_hand_becomes_right_by_itself(
    cluster: Cluster, playbook: Playbook, unscaled: None
) -> None:
    task = playbook.module("gpu_machineset", pool=pool(autoscale=None, replicas=0, labels={"team": "ml"}))
    assert not task.failed, task.result
    scale(cluster, sets(cluster)[0]["metadata"]["name"], 1)
    (node,) = until(lambda: ready_nodes(cluster, "it-burst"), "the node")
    assert {"team": "ml", "cluster-api/accelerator": "it-burst"}.items() <= node["metadata"]["labels"].items()
    assert "nvidia.com/gpu" in [one["key"] for one in node["spec"]["taints"]]
