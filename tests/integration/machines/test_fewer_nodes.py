# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A pool shrinks, changes its instance type and is removed: pods on its nodes stay unless the user asks."""

from __future__ import annotations

import functools

import pytest
from integration.machines.living_pool import MACHINES, NAME, SPACE, Data, Pool, working
from integration.wire import Audit

pytestmark = pytest.mark.story("one pool's life")


def test_fewer_nodes_spare_the_one_that_works(pool: Pool, audit: Audit) -> None:
    for busy in sorted(pool.names)[:1]:
        with working(pool, "job", busy):
            foretold = pool.apply(check=True, replicas=1)
            assert {one["node"] for one in foretold["removed"]} == pool.names - {busy}
            told = pool.playbook.playbook(
                "plan", "--tags", "gpu_node_pool", gpu_pools=[{**pool.described, "replicas": 1}]
            )
            table = next(task for task in told.tasks if task.name == "Show the plan")["msg"]
            assert [line.split()[1] for line in table if line.startswith("drain")] == [
                one["node"] for one in foretold["removed"]
            ]
            done = pool.resize(1)
            assert (done.rc, done.changed) == (0, 1), done.output
            assert pool.names == {busy}
            again = pool.resize(1)
            assert (again.rc, again.changed, audit.writes(*again.tasks)) == (0, 0, []), again.output
            refused = pool.apply(replicas=0)
            assert refused["code"] == "NODE-BUSY"
            assert audit.writes(refused) == []
            gone = pool.playbook.playbook("remove_pool", gpu_pool=NAME)
            assert gone.failure["code"] == "NODE-BUSY"
            assert audit.writes(*gone.tasks) == []
    assert pool.is_tidy(1)


@pytest.mark.parametrize(
    ("spec", "code", "option"),
    [
        ({"volumes": [{"name": "scratch", "emptyDir": {}}]}, "NODE-EMPTYDIR", "delete_emptydir"),
        ({}, "NODE-UNMANAGED", "evict_unmanaged"),
    ],
)
def test_what_would_be_lost_is_named(pool: Pool, audit: Audit, spec: Data, code: str, option: str) -> None:
    with working(pool, "precious", min(pool.names), gpus=0, **spec):
        refused = pool.apply(replicas=0)
        assert refused["code"] == code, refused.result
        assert f"{SPACE}/precious" in refused["message"]
        assert option in refused["remedy"]
        assert audit.writes(refused) == []


def test_the_last_node_goes_when_told(pool: Pool) -> None:
    with working(pool, "job", min(pool.names)):
        done = pool.apply(keep_replicas=0, on_busy="drain", evict_unmanaged=True)
        assert not done.failed, done.result
        assert pool.machines == []


def test_whoever_deletes_a_machine_waits_for_us(pool: Pool, audit: Audit) -> None:
    described = {**pool.described, "replicas": 1, "pre_drain_hook": True}
    ensure = functools.partial(pool.playbook.module, "gpu_machineset", pool=described, wait_timeout=120)
    made = ensure()
    assert not made.failed, made.result
    (machine,) = pool.machines
    assert [hook["owner"] for hook in machine["spec"]["lifecycleHooks"]["preDrain"]] == [
        "accelerators.openshift"
    ]
    assert audit.writes(ensure()) == []
    (before,) = pool.names
    with working(pool, "job", before):
        pool.client.delete(*MACHINES[:2], machine["metadata"]["name"], MACHINES[2])
        held = ensure()
        assert (held["code"], held["layer"]) == ("MACH-HOOK", "machine"), held.result
        assert f"{SPACE}/job" in held["message"]
        assert "since 20" in held["message"]
        assert before in pool.names
    done = ensure()
    assert not done.failed, done.result
    assert before not in pool.names
    pool.options["replicas"] = 1
    assert pool.is_tidy(1)


def test_remove_pool(pool: Pool, audit: Audit) -> None:
    foreseen = pool.playbook.playbook("remove_pool", "--check", gpu_pool=NAME)
    assert (foreseen.rc, foreseen.changed, audit.writes(*foreseen.tasks)) == (0, 1, []), foreseen.output
    done = pool.playbook.playbook("remove_pool", gpu_pool=NAME)
    assert (done.rc, done.changed) == (0, 1), done.output
    assert (pool.machines, pool.nodes) == ([], [])
    again = pool.playbook.playbook("remove_pool", gpu_pool=NAME)
    assert (again.rc, again.changed) == (0, 0), again.output
