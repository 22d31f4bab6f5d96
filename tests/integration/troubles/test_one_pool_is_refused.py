# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""enable_gpus.yml with two pools, and the cloud has machines for one of them only."""

from __future__ import annotations

import typing as t

from cluster import Cluster
from integration.troubles.demo import GPU, MACHINE_SETS, POLICIES, POOLS, Data, Demo

from openshift_sandbox import faults

BIG: t.Final[Data] = {
    "name": "big",
    "candidates": [{"instance_type": "p4d.24xlarge", "zones": ["us-east-2a"]}],
    "replicas": 1,
    "taints": [{"key": "big", "effect": "NoSchedule"}],
}


def test_the_other_pool_is_enabled_and_the_run_fails_at_its_end(cluster: Cluster, demo: Demo) -> None:
    faults.add(cluster.needs_sandbox(), "no_capacity", {"instance_type": "p4d.24xlarge"})
    try:
        run = demo.enable(gpu_pools=[BIG, *POOLS])
    finally:
        faults.clear(cluster.needs_sandbox(), "no_capacity", {"instance_type": "p4d.24xlarge"})
    assert run.rc != 0
    assert run.failure.name == "Fail for pools that are not ready"
    for words in ("1 of 2 pools", "big: MACH-CAPACITY", "remove_pool.yml -e gpu_pool=NAME"):
        assert words in run.failure["msg"]
    done = {task.name.rpartition(" | ")[2]: task for task in run.tasks if not task.skipped}
    stack = done["Bring the GPU stack to every node of the pools (ready)"]["special_resource"]
    assert [node["pool"] for node in stack["nodes"]] == ["demo", "demo"]
    (quota,) = cluster.client.list("v1", "resourcequotas", POOLS[0]["quota"][0]["namespace"])
    assert quota["metadata"]["name"] == "gpu-quota"
    validated = done["Run a CUDA program on every node of the pools, and prove what the pools say"][
        "workload"
    ]
    assert [node["validated"] for node in validated["nodes"]] == [1, 1]
    # Operands still tolerate the taint of the pool that has no machines yet.
    (policy,) = cluster.client.list(*POLICIES)
    assert "big" in {one.get("key") for one in policy["spec"]["daemonsets"]["tolerations"]}
    assert cluster.client.list("apps/v1", "daemonsets", GPU)
    sets = cluster.client.list(*MACHINE_SETS[:3])
    assert [one for one in sets if "-big-" in one["metadata"]["name"]] == []


def test_when_every_pool_is_refused_the_run_stops_at_once(cluster: Cluster, demo: Demo) -> None:
    small = BIG | {"name": "big2", "replicas": 1}
    faults.add(cluster.needs_sandbox(), "no_capacity", {"instance_type": "p4d.24xlarge"})
    try:
        run = demo.enable(gpu_pools=[BIG, small])
    finally:
        faults.clear(cluster.needs_sandbox(), "no_capacity", {"instance_type": "p4d.24xlarge"})
    assert run.rc != 0
    assert run.failure.name.endswith("Stop unless other pools can go on")
    assert run.failure["msg"].count("MACH-CAPACITY") == 2
