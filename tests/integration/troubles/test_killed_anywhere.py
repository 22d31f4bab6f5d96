# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""kill -9 of ansible-playbook at twenty points: no write follows, and the next run goes on."""

from __future__ import annotations

import re
import time
import typing as t

import pytest
from cluster import Cluster
from integration.killed import kill_playbook
from integration.matrix.situations import gpu_pods
from integration.matrix.world import World, uid_of
from integration.troubles.demo import POOL, POOLS, QUICK, Demo, gpu_nodes
from integration.wire import Audit

pytestmark = [
    pytest.mark.story("a cluster gets GPUs, is resized, gets a new machine, and loses its GPUs"),
    pytest.mark.long("four minutes; troubles/test_one_run.py kills one drain in every run"),
]

SCENARIO: t.Final = "aws"
Data = dict[str, t.Any]

ENABLE: t.Final[Data] = {"gpu_pools": POOLS, **QUICK}
SMALLER: t.Final[Data] = {"gpu_pools": POOLS, "gpu_pool": "demo", "gpu_replicas": 1, "gpu_on_busy": "wait"}
REMOVE: t.Final[Data] = {**ENABLE, "gpu_on_busy": "drain", "gpu_node_pool_on_busy": "drain"}
# The write after which a playbook is killed, and how many seconds later. A point needs the ones before it.
Point = tuple[str, float]
SUBSCRIBED: t.Final = "(create|patch) subscriptions.operators.coreos.com"
APPROVED: t.Final = "patch installplans.operators.coreos.com"
ENABLED: t.Final[tuple[Point, ...]] = (
    ("(create|patch) machinesets.machine.openshift.io", 0),
    (SUBSCRIBED, 0),
    (APPROVED, 0),
    ("(create|patch) nodefeaturediscoveries.nfd.openshift.io", 0),
    (SUBSCRIBED, 1),
    (APPROVED, 1),
    ("(create|patch) clusterpolicies.nvidia.com", 0),
    ("(create|patch) resourcequotas", 0),
    ("create pods", 0),
)
REPLACED: t.Final[tuple[Point, ...]] = (
    ("patch nodes", 0),
    ("delete machines.machine.openshift.io", 0),
    ("patch nodes", 2),
    ("delete machines.machine.openshift.io", 3),
)
REMOVED: t.Final[tuple[Point, ...]] = (
    ("delete machinesets.machine.openshift.io", 0),
    ("delete clusterpolicies.nvidia.com", 0),
    ("delete subscriptions.operators.coreos.com", 0),
    ("delete nodefeaturediscoveries.nfd.openshift.io", 0),
)


class Killer:
    """Kills playbooks on one cluster, and looks at what is written afterwards."""

    def __init__(self, world: World) -> None:
        self.world, self.demo = world, world.demo

    def kill(self, name: str, point: Point, **extra_vars: t.Any) -> None:
        (pattern, later), audit = point, self.world.audit
        start = audit.position()

        def is_there() -> bool:
            is_seen = any(re.fullmatch(pattern, one) for one in audit.written(start))
            time.sleep(later if is_seen else 0)
            return is_seen

        kill_playbook(self.demo, is_there, name, **extra_vars)
        time.sleep(1.5)  # a worker looks once a second
        after = audit.position()
        time.sleep(4)
        audit.flush()
        assert audit.written(after) == [], f"{name} was killed after {point}, and wrote on"


@pytest.fixture(scope="module")
def killer(cluster: Cluster, demo: Demo) -> Killer:
    sandbox = cluster.needs_sandbox()
    return Killer(World(cluster, demo, Audit(sandbox.audit_log, cluster.client)))


@pytest.mark.parametrize("point", ENABLED)
def test_enable_gpus(killer: Killer, point: Point) -> None:
    killer.kill("enable_gpus", point, **ENABLE)


def test_the_plan_is_right_in_between_and_enable_gpus_ends_what_it_began(
    killer: Killer, cluster: Cluster
) -> None:
    assert killer.demo.playbook("plan", **ENABLE).rc == 0
    done = killer.demo.enable()
    assert done.rc == 0, done.output[-3000:]
    assert len(gpu_nodes(cluster)) == 2
    again = killer.demo.enable()
    assert (again.rc, again.changed) == (0, 0), again.output[-3000:]


@pytest.mark.parametrize("later", [0.0, 1.0, 3.0])
def test_resize_pool_while_it_waits_for_pods(killer: Killer, later: float) -> None:
    with gpu_pods(killer.world):
        killer.kill("resize_pool", ("patch nodes", later), **SMALLER)
        # The pods end now. A worker that had survived would take their node away.


def test_another_number_wins_after_the_kill(killer: Killer, cluster: Cluster) -> None:
    """Let a later resize to two nodes hold: nothing of the killed one takes a node away afterwards."""
    done = killer.demo.playbook("resize_pool", **{**SMALLER, "gpu_replicas": 2})
    assert done.rc == 0, done.output[-3000:]
    time.sleep(5)
    nodes = cluster.client.list("v1", "nodes", labels=POOL)
    assert [bool(one["spec"].get("unschedulable")) for one in nodes] == [False, False]


@pytest.mark.parametrize("point", REPLACED)
def test_replace_node(killer: Killer, cluster: Cluster, point: Point) -> None:
    node = gpu_nodes(cluster)[0]
    uid = uid_of(killer.world, node)
    killer.kill("replace_node", point, gpu_node=node, gpu_machine_uid=uid, gpu_on_busy="drain")


def test_the_pool_is_whole_again(killer: Killer, cluster: Cluster) -> None:
    done = killer.demo.enable()
    assert done.rc == 0, done.output[-3000:]
    assert len(gpu_nodes(cluster)) == 2
    assert killer.demo.enable().changed == 0


@pytest.mark.parametrize("point", REMOVED)
def test_remove_gpus(killer: Killer, point: Point) -> None:
    killer.kill("remove_gpus", point, **REMOVE)


def test_remove_gpus_ends_what_it_began(killer: Killer, cluster: Cluster) -> None:
    done = killer.demo.remove()
    assert done.rc == 0, done.output[-3000:]
    assert gpu_nodes(cluster) == []
    assert killer.demo.remove().changed == 0
