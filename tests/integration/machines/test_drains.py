# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Draining, uncordoning and replacing a pool's nodes: the collection evicts no pod unless the user asks."""

from __future__ import annotations

import functools

import pytest
from integration.machines.living_pool import SPACE, Data, Pool, deploy, undeploy, working
from integration.patience import until
from integration.wire import Audit

pytestmark = pytest.mark.story("one pool's life")


def test_a_node_is_drained_and_given_back(pool: Pool, audit: Audit) -> None:
    name = min(pool.names)
    node = functools.partial(pool.playbook.module, "gpu_node", name=name)
    assert node(state="drained", check=True).changed
    assert node(state="drained").changed
    assert not node(state="drained").changed
    assert [one["metadata"]["name"] for one in pool.nodes if one["spec"].get("unschedulable")] == [name]
    again = pool.apply()
    assert (again.changed, audit.writes(again)) == (False, [])
    assert node(state="schedulable").changed
    back = node(state="schedulable")
    assert (back.changed, audit.writes(back)) == (False, [])
    assert pool.is_tidy(2)
    assert node(name="nobody", state="drained")["code"] == "NODE-ABSENT"
    worker = next(one for one in pool.client.list("v1", "nodes") if one["metadata"]["name"] not in pool.names)
    foreign = node(name=worker["metadata"]["name"], state="replaced")
    assert (foreign["code"], audit.writes(foreign)) == ("NODE-FOREIGN", [])


def test_what_tolerates_the_cordon_comes_back_and_is_told_of(pool: Pool, audit: Audit) -> None:
    """Let the real scheduler start the Deployment's pod again: it fits on this node only."""
    name = min(pool.names)

    def agents() -> list[Data]:
        return [
            one
            for one in pool.client.list("v1", "pods", SPACE, "app=agent")
            if "deletionTimestamp" not in one["metadata"]
        ]

    deploy(pool, "agent", 1, {"kubernetes.io/hostname": name}, {"operator": "Exists"})
    until(lambda: [one for one in agents() if one.get("status", {}).get("phase") == "Running"], "the agent")
    (first,) = agents()
    try:
        drained = pool.playbook.module("gpu_node", name=name, state="drained", wait_timeout=60)
        assert drained.changed, drained.result
        until(lambda: [one for one in agents() if one["spec"].get("nodeName")], "the agent's return")
        (second,) = agents()
        assert first["metadata"]["uid"] != second["metadata"]["uid"]
        # The node counts as drained: another eviction would only bring the next pod.
        again = pool.playbook.module("gpu_node", name=name, state="drained", wait_timeout=60)
        assert (again.changed, audit.writes(again)) == (False, [])
        (warning,) = again["warnings"]
        assert f"{SPACE}/{second['metadata']['name']} of ReplicaSet agent-" in warning
        assert f"came to {name} although that is cordoned: it tolerates {{operator: Exists}}" in warning
    finally:
        undeploy(pool, "agent")
        assert not pool.playbook.module("gpu_node", name=name, state="schedulable").failed
    assert pool.is_tidy(2)


def test_replace_node(pool: Pool, audit: Audit) -> None:
    name = min(pool.names)
    (machine,) = [one for one in pool.machines if one["status"]["nodeRef"]["name"] == name]
    uid = machine["metadata"]["uid"]
    young = pool.playbook.playbook("replace_node", gpu_node=name)
    assert young.failure["code"] == "NODE-YOUNG"
    assert uid in young.failure["remedy"]
    assert audit.writes(*young.tasks) == []
    with working(pool, "job", name):
        refused = pool.playbook.playbook("replace_node", gpu_node=name, gpu_machine_uid=uid)
        assert refused.failure["code"] == "NODE-BUSY"
        assert audit.writes(*refused.tasks) == []
        foreseen = pool.playbook.playbook(
            "replace_node",
            "--check",
            gpu_node=name,
            gpu_machine_uid=uid,
            gpu_on_busy="drain",
            gpu_evict_unmanaged=True,
        )
        assert (foreseen.rc, foreseen.changed, audit.writes(*foreseen.tasks)) == (0, 1, []), foreseen.output
        done = pool.playbook.playbook(
            "replace_node",
            gpu_node=name,
            gpu_machine_uid=uid,
            gpu_on_busy="drain",
            gpu_evict_unmanaged=True,
        )
        assert (done.rc, done.changed) == (0, 1), done.output
    assert name not in pool.names
    assert pool.is_tidy(2)
    again = pool.playbook.playbook("replace_node", gpu_node=name)
    assert again.failure["code"] == "NODE-ABSENT"
    assert (again.rc != 0, again.changed, audit.writes(*again.tasks)) == (True, 0, []), again.output
