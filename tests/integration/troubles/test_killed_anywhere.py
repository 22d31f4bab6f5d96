# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""kill -9 of ansible-playbook in the middle of its work: no write follows, and the next run goes on."""

from __future__ import annotations

import contextlib
import re
import time
import typing as t

import pytest
from cluster import Cluster
from integration.killed import kill_playbook
from integration.matrix.situations import SPACE, delete_pods, gpu_pods
from integration.matrix.world import World, uid_of
from integration.patience import until
from integration.troubles.demo import MACHINES, POOL, POOLS, QUICK, Demo, gpu_nodes
from integration.wire import Audit

from openshift_sandbox import faults

pytestmark = [
    pytest.mark.story("a cluster gets GPUs, is resized, gets new machines, and loses its GPUs"),
    pytest.mark.long("six minutes; troubles/test_one_run.py kills one drain in every run"),
]

Data = dict[str, t.Any]

ENABLE: t.Final[Data] = {"gpu_pools": POOLS, **QUICK}
SMALLER: t.Final[Data] = {"gpu_pools": POOLS, "gpu_pool": "demo", "gpu_replicas": 1, "gpu_on_busy": "wait"}
REMOVE: t.Final[Data] = {**ENABLE, "gpu_on_busy": "drain", "gpu_node_pool_on_busy": "drain"}
MACHINES_ARE_SLOW, DRIVER_IS_SLOW = "slow_machines", "slow_driver"


class Point(t.NamedTuple):
    """A moment of a playbook in which it is killed. Each point needs the points before it.

    write: the request after which it is killed. later: seconds after that. slow: the trouble that keeps the
    playbook waiting until then. gone: what is deleted first, since the run that was killed before may have
    gone further than its own point.
    """

    write: str
    later: float = 0.0
    slow: str = ""
    gone: tuple[str, str, str | None] | None = None

    def __str__(self) -> str:
        what = self.write.replace("(create|patch)", "write")
        return f"{what} and {self.later:g} s" if self.later else what


APPROVED: t.Final = "patch installplans.operators.coreos.com"
DELETED: t.Final = "delete machines.machine.openshift.io"
ENABLED: t.Final = (
    # A run asks for everything before it waits: the writes follow one another within a second or two.
    Point("(create|patch) machinesets.machine.openshift.io", slow=MACHINES_ARE_SLOW),
    Point(APPROVED),
    Point("(create|patch) nodefeaturediscoveries.nfd.openshift.io"),
    Point("(create|patch) clusterpolicies.nvidia.com", gone=("nvidia.com/v1", "clusterpolicies", None)),
    Point("(create|patch) resourcequotas", 1, DRIVER_IS_SLOW, ("v1", "resourcequotas", "team-a")),
    Point("create pods", gone=("v1", "configmaps", "gpu-validation")),
)
RESIZED: t.Final = tuple(Point("patch nodes", later) for later in (0, 3))
REPLACED: t.Final = (
    Point("patch nodes", 2, MACHINES_ARE_SLOW),
    Point(DELETED, 3, MACHINES_ARE_SLOW),
)
REMOVED: t.Final = (
    Point("delete machinesets.machine.openshift.io"),
    Point("delete clusterpolicies.nvidia.com"),
    Point("delete subscriptions.operators.coreos.com"),
)


class Killer:
    """Kills playbooks on one cluster, and looks at what is written afterwards."""

    def __init__(self, world: World) -> None:
        self.world, self.demo = world, world.demo

    def kill(self, name: str, point: Point, **extra_vars: t.Any) -> None:
        audit = self.world.audit
        start = audit.position()

        def is_there() -> bool:
            is_seen = any(re.fullmatch(point.write, one) for one in audit.written(start))
            time.sleep(point.later if is_seen else 0)
            return is_seen

        with self._slow(point.slow):
            kill_playbook(self.demo, is_there, name, **extra_vars)
        time.sleep(1.5)  # a worker looks once a second
        self.assert_silent(f"{name} was killed {point.later:g} s after {point.write}, and wrote on")

    def assert_silent(self, what: str) -> None:
        audit = self.world.audit
        start = audit.position()
        time.sleep(4)
        audit.flush()
        assert audit.written(start) == [], what

    @contextlib.contextmanager
    def _slow(self, trouble: str) -> t.Iterator[None]:
        sandbox = self.world.cluster.needs_sandbox()
        if trouble:
            faults.add(sandbox, trouble, {"seconds": 60})
        try:
            yield
        finally:
            if trouble:
                faults.clear(sandbox, trouble, {})

    def take_away(self, version: str, plural: str, namespace: str | None) -> None:
        """Delete the objects of a kind, but for what Kubernetes itself keeps in each namespace."""
        client = self.world.cluster.client

        def live() -> list[str]:
            names = [one["metadata"]["name"] for one in client.list(version, plural, namespace)]
            return [name for name in names if not name.startswith(("kube-root-ca", "openshift-service-ca"))]

        for name in live():
            client.delete(version, plural, name, namespace)
        until(lambda: not live(), f"no {plural} any more")

    def node_to_replace(self) -> str:
        """Return a node of the whole pool; one that a killed run has cordoned comes first."""
        client = self.world.cluster.client

        def is_whole() -> bool:
            machines = client.list(*MACHINES)
            nodes = gpu_nodes(self.world.cluster)
            has_nodes = all((one.get("status") or {}).get("phase") == "Running" for one in machines)
            return has_nodes and len(machines) == len(nodes) == 2

        until(is_whole, "two nodes with their machines")
        nodes = client.list("v1", "nodes", labels=POOL)
        cordoned = [one for one in nodes if one["spec"].get("unschedulable")]
        return str([*cordoned, *nodes][0]["metadata"]["name"])


@pytest.fixture(scope="module")
def killer(cluster: Cluster, demo: Demo) -> t.Iterator[Killer]:
    sandbox = cluster.needs_sandbox()
    yield Killer(World(cluster, demo, Audit(sandbox.audit_log, cluster.client)))
    cluster.client.delete("v1", "namespaces", SPACE)


@pytest.mark.parametrize("point", ENABLED, ids=str)
def test_enable_gpus(killer: Killer, point: Point) -> None:
    if point.gone:
        killer.take_away(*point.gone)
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


@pytest.mark.parametrize("point", RESIZED, ids=str)
def test_another_number_wins_after_resize_pool_was_killed_while_it_waited_for_pods(
    killer: Killer, cluster: Cluster, point: Point
) -> None:
    gpu_pods(killer.world)
    try:
        killer.kill("resize_pool", point, **SMALLER)
    finally:
        delete_pods(killer.world)
    # The pods have ended. A worker that had survived would take their node away now.
    killer.assert_silent("resize_pool was killed while it waited for pods, and wrote when they had ended")
    done = killer.demo.playbook("resize_pool", **{**SMALLER, "gpu_replicas": 2})
    assert done.rc == 0, done.output[-3000:]
    killer.assert_silent("resize_pool has ended, and something was written")
    nodes = cluster.client.list("v1", "nodes", labels=POOL)
    assert [bool(one["spec"].get("unschedulable")) for one in nodes] == [False, False]


@pytest.mark.parametrize("point", REPLACED, ids=str)
def test_replace_node(killer: Killer, point: Point) -> None:
    node = killer.node_to_replace()
    uid = uid_of(killer.world, node)
    killer.kill("replace_node", point, gpu_node=node, gpu_machine_uid=uid, gpu_on_busy="drain")


def test_the_pool_is_whole_again(killer: Killer, cluster: Cluster) -> None:
    done = killer.demo.enable()
    assert done.rc == 0, done.output[-3000:]
    nodes = cluster.client.list("v1", "nodes", labels=POOL)
    assert [bool(one["spec"].get("unschedulable")) for one in nodes] == [False, False]
    again = killer.demo.enable()
    assert (again.rc, again.changed) == (0, 0), again.output[-3000:]


@pytest.mark.parametrize("point", REMOVED, ids=str)
def test_remove_gpus(killer: Killer, point: Point) -> None:
    killer.kill("remove_gpus", point, **REMOVE)


def test_remove_gpus_ends_what_it_began(killer: Killer, cluster: Cluster) -> None:
    done = killer.demo.remove()
    assert done.rc == 0, done.output[-3000:]
    assert gpu_nodes(cluster) == []
    again = killer.demo.remove()
    assert (again.rc, again.changed) == (0, 0), again.output[-3000:]
