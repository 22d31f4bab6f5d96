# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The first run on an empty cluster: it asks for everything first, and a slow pool holds no other."""

from __future__ import annotations

import datetime
import itertools
import typing as t

import pytest
from cluster import Cluster
from integration.playbook import Run
from integration.troubles.demo import POOL, POOLS, Data, Demo
from integration.wire import Audit, received

from openshift_sandbox import audit as requests, faults

SLOW: t.Final[Data] = {
    "name": "slow",
    "candidates": [{"instance_type": "g4dn.2xlarge", "zones": ["us-east-2c"]}],
    "replicas": 1,
    "taints": [{"key": "nvidia.com/gpu", "value": "slow", "effect": "NoSchedule"}],
}
# The order in which a run first writes each kind.
ORDER: t.Final = [
    "machinesets.machine.openshift.io",
    "subscriptions.operators.coreos.com",
    "installplans.operators.coreos.com",
    "nodefeaturediscoveries.nfd.openshift.io",
    "clusterpolicies.nvidia.com",
    "resourcequotas",
    "priorityclasses.scheduling.k8s.io",
    "pods",
]
Write = requests.Request


@pytest.fixture(scope="module")
def run(cluster: Cluster, demo: Demo) -> t.Iterator[Run]:
    """Run with the slow pool first in the list: its machine takes half a minute longer."""
    sandbox = cluster.needs_sandbox()
    slow = {"instance_type": "g4dn.2xlarge", "seconds": 15}
    faults.add(sandbox, "slow_machines", slow)
    try:
        found = demo.enable(gpu_pools=[SLOW, *POOLS], gpu_node_pool_wait_timeout=300)
    finally:
        faults.clear(sandbox, "slow_machines", slow)
    assert found.rc == 0, found.output
    yield found
    assert demo.remove(gpu_pools=[SLOW, *POOLS]).rc == 0


@pytest.fixture(scope="module")
def writes(run: Run, audit: Audit) -> list[Write]:
    return [one for one in requests.writes(audit.of(*run.tasks)) if not one.resource.startswith("leases")]


def first(writes: list[Write], resource: str) -> datetime.datetime:
    return min(received(one) for one in writes if one.resource == resource)


def joined(cluster: Cluster, labels: str) -> datetime.datetime:
    """Return when the first node with these labels joined."""
    nodes = cluster.client.list("v1", "nodes", labels=labels)
    return min(datetime.datetime.fromisoformat(one["metadata"]["creationTimestamp"]) for one in nodes)


def test_everything_is_asked_for_in_the_order_of_its_time(writes: list[Write]) -> None:
    assert sorted(ORDER, key=lambda resource: first(writes, resource)) == ORDER


def test_all_but_the_validation_was_asked_for_before_the_slow_machine_was_a_node(
    cluster: Cluster, writes: list[Write]
) -> None:
    late = joined(cluster, "accelerators.openshift/pool=slow")
    before = {one.resource for one in writes if received(one) < late}
    assert before >= set(ORDER) - {"pods"}
    assert first(writes, "pods") > late


def test_the_driver_of_the_fast_pool_does_not_wait_for_the_slow_one(cluster: Cluster, run: Run) -> None:
    fast = {one["metadata"]["name"] for one in cluster.client.list("v1", "nodes", labels=POOL)}
    pods = cluster.client.list("v1", "pods", "nvidia-gpu-operator")
    ready = [
        datetime.datetime.fromisoformat(condition["lastTransitionTime"])
        for pod in pods
        if pod["spec"].get("nodeName") in fast and "driver" in pod["metadata"]["name"]
        for condition in pod["status"]["conditions"]
        if condition["type"] == "Ready" and condition["status"] == "True"
    ]
    assert len(ready) >= len(fast)
    assert max(ready) < joined(cluster, "accelerators.openshift/pool=slow")


def test_the_pods_of_both_pools_are_made_before_the_first_is_deleted(writes: list[Write]) -> None:
    verbs = [one.verb for one in writes if one.resource == "pods"]
    assert [verb for verb, _same in itertools.groupby(verbs)] == ["create", "delete"]
    assert verbs.count("create") == 3


def test_the_last_table_says_where_the_time_went(run: Run) -> None:
    (table,) = [task["msg"] for task in run.tasks if task.name == "Show the pools" and not task.skipped]
    assert table[-2].startswith("seconds - machines ")
    assert " for the cluster, own work " in table[-1]


def test_the_second_run_writes_nothing(demo: Demo, audit: Audit, run: Run) -> None:
    again = demo.enable(gpu_pools=[SLOW, *POOLS])
    assert (again.rc, again.changed) == (0, 0), again.output
    assert audit.writes(*again.tasks) == []
    assert [task.name for task in again.tasks if "request | Ask" in task.name and not task.skipped] == []
