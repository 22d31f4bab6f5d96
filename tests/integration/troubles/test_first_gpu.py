# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The first run on an empty cluster: it asks for everything first, and a slow pool holds no other."""

from __future__ import annotations

import datetime
import itertools
import threading
import typing as t

import pytest
from cluster import Cluster
from integration.patience import SECONDS, until
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


class Slow:
    """A machine that is no node before the other pool is validated. since: when it was let go."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster, self._sandbox = cluster, cluster.needs_sandbox()
        self._trouble = {"instance_type": "g4dn.2xlarge"}
        self._thread = threading.Thread(target=self._let_go)
        self.since: datetime.datetime | None = None

    def __enter__(self) -> Slow:
        faults.add(self._sandbox, "node_never_joins", self._trouble)
        self._thread.start()
        return self

    def __exit__(self, *_how: object) -> None:
        self._thread.join()

    def _let_go(self) -> None:
        try:
            until(self._is_validated, "validated nodes of the fast pool", 5 * SECONDS, pause=0.5)
            self.since = datetime.datetime.now(datetime.UTC)
        finally:
            faults.clear(self._sandbox, "node_never_joins", self._trouble)

    def _is_validated(self) -> bool:
        client = self._cluster.client
        nodes = {one["metadata"]["name"] for one in client.list("v1", "nodes", labels=POOL)}
        maps = client.list("v1", "configmaps", "gpu-validation")
        remembered = {name for one in maps for name in one.get("data") or {}}
        return len(nodes) == 2 and nodes <= remembered


@pytest.fixture(scope="module")
def slow(cluster: Cluster) -> Slow:
    return Slow(cluster)


@pytest.fixture(scope="module")
def run(demo: Demo, slow: Slow) -> t.Iterator[Run]:
    """Run with the slow pool first in the list. It has no node before the other pool is validated."""
    with slow:
        found = demo.enable(gpu_pools=[SLOW, *POOLS], gpu_node_pool_wait_timeout=400)
    assert slow.since, "the run held the fast pool until the slow one had its node"
    assert found.rc == 0, found.output
    yield found
    assert demo.remove(gpu_pools=[SLOW, *POOLS]).rc == 0


@pytest.fixture(scope="module")
def writes(run: Run, audit: Audit) -> list[Write]:
    return [one for one in requests.writes(audit.of(*run.tasks)) if not one.resource.startswith("leases")]


def first(writes: list[Write], resource: str) -> datetime.datetime:
    return min(received(one) for one in writes if one.resource == resource)


def test_everything_is_asked_for_in_the_order_of_its_time(writes: list[Write]) -> None:
    assert sorted(ORDER, key=lambda resource: first(writes, resource)) == ORDER


def test_everything_was_asked_for_before_the_slow_machine_was_a_node(slow: Slow, writes: list[Write]) -> None:
    assert slow.since
    assert {one.resource for one in writes if received(one) < slow.since} >= set(ORDER)


def test_each_pool_is_validated_when_it_has_its_gpus(slow: Slow, writes: list[Write]) -> None:
    verbs = [one.verb for one in writes if one.resource == "pods"]
    assert [verb for verb, _same in itertools.groupby(verbs)] == ["create", "delete"] * 3
    made = [received(one) for one in writes if (one.resource, one.verb) == ("pods", "create")]
    assert slow.since
    assert [moment < slow.since for moment in made] == [True, True, True, True, False]


def test_one_line_says_what_both_pools_wait_for(run: Run) -> None:
    lines = [line for line in run.output.splitlines() if "pools on their way: " in line]
    both = [line for line in lines if "slow: 1 machine" in line and "demo: " in line]
    assert both, lines
    assert all(line.count(" since ") == 2 for line in both)


def test_the_last_table_says_where_the_time_went(run: Run) -> None:
    (table,) = [task["msg"] for task in run.tasks if task.name == "Show the pools" and not task.skipped]
    assert table[-3].startswith("seconds - machines ")
    assert " for the cluster, own work " in table[-2]
    assert table[-1].startswith("result - ")
    assert " offer and validated " in table[-1]


def test_the_second_run_writes_nothing(demo: Demo, audit: Audit, run: Run) -> None:
    again = demo.enable(gpu_pools=[SLOW, *POOLS])
    assert (again.rc, again.changed) == (0, 0), again.output
    assert audit.writes(*again.tasks) == []
    assert [task.name for task in again.tasks if "Ask for" in task.name and not task.skipped] == []


def test_a_repeated_validation_makes_the_pods_of_both_pools_before_it_deletes_the_first(
    demo: Demo, audit: Audit, run: Run
) -> None:
    again = demo.enable("gpu_validation", gpu_pools=[SLOW, *POOLS], gpu_validation_repeat=True)
    assert again.rc == 0, again.output
    verbs = [one.verb for one in requests.writes(audit.of(*again.tasks)) if one.resource == "pods"]
    # Program vectoradd runs in both pools, matmul in one.
    groups = [(verb, len(list(same))) for verb, same in itertools.groupby(verbs)]
    assert groups == [("create", 3), ("delete", 3), ("create", 2), ("delete", 2)]
