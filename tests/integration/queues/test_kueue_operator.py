# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The role gpu_policy installs Red Hat's operator of Kueue, makes a queue, and takes both away again."""

from __future__ import annotations

import typing as t

import pytest
from cluster import Cluster, must_get
from integration.patience import until
from integration.playbook import Playbook, Run
from integration.wire import Audit

SCENARIO: t.Final = "queue-operator"
pytestmark = [
    pytest.mark.story("Kueue comes with its operator, serves a queue, and goes"),
    pytest.mark.long("few clusters get Kueue from here; the unit tests of _queue hold each step"),
]
VERSION: t.Final = "kueue.x-k8s.io/v1beta2"
OPERATOR: t.Final = "openshift-kueue-operator"
INSTANCE: t.Final = ("kueue.openshift.io/v1", "kueues", "cluster")
OLM: t.Final = "operators.coreos.com/v1alpha1"
CRD: t.Final = ("apiextensions.k8s.io/v1", "customresourcedefinitions", "issuers.cert-manager.io")
POOL: t.Final = {
    "name": "training",
    "existing": {
        "node_selector": {"accelerators.openshift/pool": "training"},
        "expected": {"nvidia.com/gpu": 8},
    },
}
QUEUE: t.Final = {"name": "research", "pools": [{"name": "training", "gpus": 8}], "namespaces": ["it-team"]}
FOREIGN: t.Final = {
    "apiVersion": VERSION,
    "kind": "ClusterQueue",
    "metadata": {"name": "theirs"},
    "spec": {"stopPolicy": "Hold"},
}


def policy(playbook: Playbook, state: str, cmdline: str = "", **more: t.Any) -> Run:
    variables = {
        "gpu_policy_state": state,
        "gpu_policy_pools": "{{ planned.plan.pools }}",
        "gpu_policy_queues": [QUEUE],
        "gpu_policy_queue_operator": True,
        **more,
    }
    return playbook.tasks(
        {"name": "plan", "accelerators.openshift.gpu_plan": {"pools": [POOL]}, "register": "planned"},
        {
            "name": "policy",
            "ansible.builtin.include_role": {"name": "accelerators.openshift.gpu_policy"},
            "vars": variables,
        },
        cmdline=cmdline,
    )


@pytest.fixture(scope="module", autouse=True)
def team(cluster: Cluster) -> None:
    cluster.client.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "it-team"}})


def names(cluster: Cluster, kind: str, api_version: str = VERSION) -> list[str]:
    return sorted(one["metadata"]["name"] for one in cluster.client.list(api_version, kind))


def test_a_queue_that_cannot_work_is_refused_before_the_operator(playbook: Playbook, audit: Audit) -> None:
    since = audit.position()
    run = policy(playbook, "present", gpu_policy_queues=[QUEUE | {"pools": [{"name": "training"}]}])
    assert run.failure["code"] == "QUEUE-QUOTA"
    audit.flush()
    assert audit.written(since) == []


def test_check_mode_foresees_kueue_and_its_queue(playbook: Playbook, audit: Audit) -> None:
    since = audit.position()
    run = policy(playbook, "present", "--check")
    assert run.rc == 0, run.output[-4000:]
    entries = [one for task in run.tasks for one in task.result.get("foreseen") or []]
    created = {one["object"] for one in entries if one["action"] == "create"}
    assert {f"Subscription {OPERATOR}/kueue-operator", "Kueue cluster", "ClusterQueue research"} <= created
    audit.flush()
    assert audit.written(since) == []


def test_kueue_comes_and_the_queue_is_active(cluster: Cluster, playbook: Playbook) -> None:
    run = policy(playbook, "present")
    assert run.rc == 0, run.output[-4000:]
    queues = next(task for task in reversed(run.tasks) if "queues" in task.result)
    assert queues["instance"] == {"name": "cluster", "available": True}
    assert [one["active"] for one in queues["queues"]] == [True]
    assert names(cluster, "clusterqueues") == ["research"]
    labels = must_get(cluster.client, "v1", "namespaces", "it-team")["metadata"]["labels"]
    assert labels["kueue.openshift.io/managed"] == "true"
    live = must_get(cluster.client, *INSTANCE)
    assert live["spec"]["config"]["integrations"]["frameworks"] == ["BatchJob"]
    assert live["metadata"]["finalizers"] == ["kueue.openshift.io/finalizer"]


def test_a_second_run_writes_nothing(playbook: Playbook, audit: Audit) -> None:
    since = audit.position()
    again = policy(playbook, "present")
    assert (again.rc, again.changed) == (0, 0), again.output[-4000:]
    audit.flush()
    assert audit.written(since) == []


def test_kueue_stays_for_a_queue_of_others(cluster: Cluster, playbook: Playbook) -> None:
    cluster.client.create(FOREIGN)
    run = policy(playbook, "absent")
    assert run.rc == 0, run.output[-4000:]
    told = next(task for task in run.tasks if "needed_by" in task.result)
    assert told["needed_by"][0].startswith("ClusterQueue theirs (made by ")
    assert names(cluster, "clusterqueues") == ["theirs"]
    assert cluster.client.get(*INSTANCE) is not None
    assert names(cluster, "subscriptions", OLM) == ["kueue-operator"]


def test_a_removal_leaves_nothing(cluster: Cluster, playbook: Playbook, audit: Audit) -> None:
    assert cluster.client.delete(VERSION, "clusterqueues", "theirs")
    run = policy(playbook, "absent")
    assert run.rc == 0, run.output[-4000:]
    assert cluster.client.get(*INSTANCE) is None
    for kind in ("clusterqueues", "resourceflavors", "localqueues"):
        assert names(cluster, kind) == []
    assert names(cluster, "subscriptions", OLM) == []
    assert cluster.client.get("v1", "namespaces", OPERATOR) is None
    since = audit.position()
    again = policy(playbook, "absent")
    assert (again.rc, again.changed) == (0, 0), again.output[-4000:]
    audit.flush()
    assert audit.written(since) == []


def test_without_cert_manager_nothing_is_written(cluster: Cluster, playbook: Playbook, audit: Audit) -> None:
    assert cluster.client.delete(*CRD)
    until(lambda: cluster.client.get(*CRD) is None, "cert-manager is gone")
    since = audit.position()
    refused = policy(playbook, "present")
    assert refused.failure["code"] == "QUEUE-NO-CERT-MANAGER"
    audit.flush()
    assert audit.written(since) == []
