# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A node in two pools of the queues is refused before the first write, until its label is right."""

from __future__ import annotations

import typing as t

import pytest
from cluster import Cluster, must_get
from integration.patience import until
from integration.playbook import Playbook, TaskResult
from integration.wire import Audit

from openshift_sandbox import faults, scenario

SCENARIO: t.Final = "two-flavors"
pytestmark = [
    pytest.mark.story("a wrong label is found, taken back, and set again"),
    pytest.mark.long("few clusters have Kueue; the unit tests of _queue refuse such a node in every run"),
]
VERSION: t.Final = "kueue.x-k8s.io/v1beta2"
POOL: t.Final = "accelerators.openshift/pool"
GPU: t.Final = "nvidia.com/gpu"
POOLS: t.Final = [
    {"name": "training", "existing": {"node_selector": {POOL: "training"}, "expected": {GPU: 8}}},
    {
        "name": "inference",
        "existing": {
            "node_selector": {"node.kubernetes.io/instance-type": "g4dn.xlarge"},
            "expected": {GPU: 1},
        },
    },
]
QUEUES: t.Final = [
    {"name": f"{name}-queue", "pools": [{"name": name, "gpus": gpus}], "namespaces": ["it-team"]}
    for name, gpus in (("training", 8), ("inference", 2))
]


def queue(playbook: Playbook) -> TaskResult:
    planned = playbook.module("gpu_plan", pools=POOLS)
    assert not planned.failed, planned.result
    return playbook.module("gpu_queue", pools=planned["plan"]["pools"], queues=QUEUES, create_namespace=True)


def label(cluster: Cluster) -> str:
    return str(must_get(cluster.client, "v1", "nodes", "t4-0")["metadata"]["labels"][POOL])


def names(cluster: Cluster) -> list[str]:
    return sorted(one["metadata"]["name"] for one in cluster.client.list(VERSION, "resourceflavors"))


def check_refused(task: TaskResult, audit: Audit) -> None:
    assert task["code"] == "QUEUE-TWO-FLAVORS", task.result
    assert "node t4-0 belongs to the pools training and inference" in task["msg"]
    assert "node_selector of pool inference" in task["remedy"]
    assert audit.writes(task) == []


def test_the_node_is_named_and_nothing_is_written(cluster: Cluster, playbook: Playbook, audit: Audit) -> None:
    until(lambda: label(cluster) == "training", "somebody labels the node")
    check_refused(queue(playbook), audit)
    assert names(cluster) == []


def test_the_queues_come_when_the_label_is_taken_back(
    cluster: Cluster, playbook: Playbook, audit: Audit
) -> None:
    (trouble,) = scenario.load(SCENARIO).troubles
    given = {key: value for key, value in trouble.items() if key != "type"}
    faults.clear(cluster.needs_sandbox(), trouble["type"], given)
    until(lambda: label(cluster) == "inference", "the label is taken back")
    task = queue(playbook)
    assert not task.failed, task.result
    assert [one["active"] for one in task["queues"]] == [True, True]
    assert names(cluster) == ["inference", "training"]
    assert audit.writes(queue(playbook)) == []


def test_a_label_that_is_wrong_later_ends_nothing(cluster: Cluster, playbook: Playbook, audit: Audit) -> None:
    (trouble,) = scenario.load(SCENARIO).troubles
    given = {key: value for key, value in trouble.items() if key != "type"}
    faults.add(cluster.needs_sandbox(), trouble["type"], given)
    until(lambda: label(cluster) == "training", "somebody labels the node again")
    check_refused(queue(playbook), audit)
    assert names(cluster) == ["inference", "training"]
