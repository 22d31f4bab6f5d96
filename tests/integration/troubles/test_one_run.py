# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One run at a time changes a cluster, and a worker stops when its ansible-playbook is killed."""

from __future__ import annotations

import time
import typing as t
from pathlib import Path

import pytest
from cluster import Cluster, must_get
from integration.killed import kill
from integration.patience import SECONDS, until
from integration.playbook import Playbook
from integration.troubles.other_run import LEASE, THEIRS, hold
from integration.wire import LEASES, Audit

from openshift_sandbox.client import Client

Data = dict[str, t.Any]

SPACE: t.Final = "it-one-run"


@pytest.fixture
def node(cluster: Cluster, playbook: Playbook) -> t.Iterator[str]:
    """Yield a worker with a pod that its disruption budget keeps; take away what the test made."""
    cluster.needs_sandbox()
    client = cluster.client
    workers = client.list("v1", "nodes", labels="node-role.kubernetes.io/worker")
    name = workers[0]["metadata"]["name"]
    meta: Data = {"name": "kept", "namespace": SPACE, "labels": {"app": "kept"}}
    client.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": SPACE}})
    spec = {"nodeName": name, "containers": [{"name": "main", "image": "example.com/kept:1"}]}
    client.apply({"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": spec})
    budget = {"minAvailable": 1, "selector": {"matchLabels": {"app": "kept"}}}
    client.apply({"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": meta, "spec": budget})
    until(lambda: budget_counts(client), "a budget that counts its pod")
    yield name
    client.delete("policy/v1", "poddisruptionbudgets", "kept", SPACE)
    client.delete("v1", "pods", "kept", SPACE)
    client.delete("v1", "namespaces", SPACE)
    until(lambda: client.get("v1", "namespaces", SPACE) is None, "the namespace's end")
    client.delete(*LEASE)
    assert not playbook.module("gpu_node", name=name, state="schedulable").failed
    client.delete(*LEASE)


def budget_counts(client: Client) -> bool:
    budget = must_get(client, "policy/v1", "poddisruptionbudgets", "kept", SPACE)
    return bool(budget.get("status", {}).get("currentHealthy") == 1)


def holder(client: Client) -> str:
    return str(must_get(client, *LEASE)["spec"].get("holderIdentity") or "")


def test_a_second_run_is_refused_and_writes_nothing(
    node: str, cluster: Cluster, playbook: Playbook, audit: Audit
) -> None:
    hold(cluster.client, ago=3)
    refused = playbook.module("gpu_node", name=node, state="drained", evict_unmanaged=True, wait_timeout=30)
    assert (refused["code"], refused["layer"]) == ("RUN-LOCKED", "run"), refused.result
    assert "eva@laptop (pid 4711, AWX job 12) holds the lease of this cluster" in refused["msg"]
    assert "gpu_lock_timeout" in refused["remedy"]
    assert audit.writes(refused) == []
    assert not cluster.client.get("v1", "nodes", node)["spec"].get("unschedulable")  # type: ignore[index]
    assert holder(cluster.client) == THEIRS


def test_a_question_and_a_dry_run_need_no_lease(
    node: str, cluster: Cluster, playbook: Playbook, audit: Audit
) -> None:
    hold(cluster.client, ago=3)
    foreseen = playbook.module("gpu_node", name=node, state="drained", evict_unmanaged=True, check=True)
    assert (foreseen.failed, foreseen.changed) == (False, True), foreseen.result
    same = playbook.module("gpu_node", name=node, state="schedulable")
    assert (same.failed, same.changed) == (False, False), same.result
    assert [one for one in audit.of(foreseen, same) if one.resource == LEASES] == []


def test_a_lease_that_nobody_renews_is_taken_over(
    node: str, cluster: Cluster, playbook: Playbook, in_process: bool
) -> None:
    hold(cluster.client, ago=90)
    options = {"name": node, "state": "drained", "evict_unmanaged": True, "wait": False, "wait_timeout": 60}
    run = playbook.tasks({"accelerators.openshift.gpu_node": options}, in_process=in_process)
    assert run.rc == 0, run.output
    assert "|" in holder(cluster.client)
    assert holder(cluster.client) != THEIRS


def test_nothing_is_written_after_the_playbook_was_killed(
    node: str, cluster: Cluster, playbook: Playbook, audit: Audit, tmp_path: Path
) -> None:
    cluster.needs_sandbox()
    start = audit.position()
    kill(
        playbook,
        tmp_path,
        lambda: "create pods/eviction" in audit.written(start),
        "gpu_node",
        name=node,
        state="drained",
        evict_unmanaged=True,
        wait_timeout=120,
    )
    time.sleep(1.5)  # the worker looks once a second
    after = audit.position()
    time.sleep(12)  # a living drain would ask for the eviction twice
    audit.flush()
    assert audit.written(after) == []
    # The next run on this machine sees that the holder is gone, and need not wait until the lease expires.
    cluster.client.delete("policy/v1", "poddisruptionbudgets", "kept", SPACE)
    began = time.monotonic()
    drained = playbook.module(
        "gpu_node", name=node, state="drained", evict_unmanaged=True, wait_timeout=SECONDS
    )
    assert not drained.failed, drained.result
    assert time.monotonic() - began < 30
    until(lambda: cluster.client.get("v1", "pods", "kept", SPACE) is None, "the pod's end")
