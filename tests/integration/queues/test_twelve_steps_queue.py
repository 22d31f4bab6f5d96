# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Twelve steps of gpu_queue: create, again, modify, again, delete, again; each in check mode and for real."""

from __future__ import annotations

import typing as t

import pytest
from cluster import Cluster, must_get
from integration.playbook import Playbook, TaskResult
from integration.twelve_steps import Case, Walks, task
from integration.wire import Audit

SCENARIO: t.Final = "gpu-queues"
pytestmark = pytest.mark.long("few clusters have Kueue; the unit tests of _queue hold each step in every run")
VERSION: t.Final = "kueue.x-k8s.io/v1beta2"
POOL: t.Final = {
    "name": "it-{way}-training",
    "existing": {
        "node_selector": {"accelerators.openshift/pool": "training"},
        "expected": {"nvidia.com/gpu": 8},
    },
}
QUEUE: t.Final = {"name": "it-{way}-research", "namespaces": ["it-{way}-team"]}
PLANNED: t.Final = {"pools": "{{ planned.plan.pools }}", "create_namespace": True}


KUEUE: t.Final = "kueue.x-k8s.io"
# The lists that a run sends when nothing is left to do, beside the discovery of Kueue's versions. The
# stand-in serves no Cohort.
AGAIN: t.Final = {
    f"list clusterqueues.{KUEUE}": 1,
    f"list localqueues.{KUEUE}": 1,
    f"list resourceflavors.{KUEUE}": 1,
    "list namespaces": 1,
    "list resourcequotas": 1,
}
# The second list of queues shows which flavors are still in use.
GONE_AGAIN: t.Final = {
    f"list clusterqueues.{KUEUE}": 2,
    f"list resourceflavors.{KUEUE}": 1,
    f"list topologies.{KUEUE}": 1,
}


def of(gpus: int) -> dict[str, t.Any]:
    return {**PLANNED, "queues": [QUEUE | {"pools": [{"name": "it-{way}-training", "gpus": gpus}]}]}


CASE: t.Final = Case(
    "gpu_queue",
    before=[task("gpu_plan", pools=[POOL]) | {"register": "planned"}],
    create=of(8),
    modify=of(6),
    delete={"pools": "{{ planned.plan.pools }}", "state": "absent"},
)


@pytest.mark.parametrize("in_process", [True, False])
def test_twelve_steps(walks: Walks, in_process: bool) -> None:
    walks.check(CASE, in_process)


def test_both_ways_return_the_same(walks: Walks) -> None:
    walks.compare(CASE)


def objects(audit: Audit, run: TaskResult) -> dict[str, int]:
    """Return how often each verb was sent for each resource, without discovery."""
    return {key: count for key, count in audit.counted(run).items() if key.strip() != "get"}


def test_a_run_with_nothing_to_do_sends_lists_alone(
    cluster: Cluster, playbook: Playbook, audit: Audit
) -> None:
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "it-team"}}
    cluster.client.apply(namespace)
    planned = playbook.module("gpu_plan", pools=[POOL | {"name": "counted"}])
    options = {"pools": planned["plan"]["pools"]}
    queues = [{"name": "counted", "namespaces": ["it-team"], "pools": [{"name": "counted", "gpus": 8}]}]
    assert playbook.module("gpu_queue", **options, queues=queues).changed
    assert must_get(cluster.client, VERSION, "clusterqueues", "counted")
    again = playbook.module("gpu_queue", **options, queues=queues)
    assert objects(audit, again) == AGAIN
    assert playbook.module("gpu_queue", **options, state="absent").changed
    gone = playbook.module("gpu_queue", **options, state="absent")
    assert objects(audit, gone) == GONE_AGAIN
