# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""kill -9 of tune_nodes.yml at ten points of a rollout: each next run converges and leaves nothing behind.

A point is a state of the cluster. Something keeps the run in it until it is killed: the delays of the
scenario, a PodDisruptionBudget, or a TuneD that reports nothing.
"""

from __future__ import annotations

import contextlib
import time
import typing as t

import pytest
from cluster import Cluster, must_get
from integration.killed import kill_playbook
from integration.playbook import Playbook
from integration.tuning.kept_pod import budget
from integration.wire import Audit

from ansible_collections.accelerators.openshift.plugins.module_utils._core.run import parse
from ansible_collections.accelerators.openshift.plugins.module_utils._frame.process import is_gone
from openshift_sandbox import faults

pytestmark = [
    pytest.mark.story("a pool is tuned, changed and given back, and each run is killed once"),
    pytest.mark.long("ten minutes; tuning/test_rollout.py ends a rollout at two of its writes in every run"),
]

Data = dict[str, t.Any]
SCENARIO: t.Final = "slow-reboots"
GROUP: t.Final = "machineconfiguration.openshift.io"
POOL: t.Final = "gpu-training"
LABEL: t.Final = "accelerators.openshift/pool=training"
TUNED: t.Final = ("tuned.openshift.io/v1", "tuneds", POOL, "openshift-cluster-node-tuning-operator")


class Rollout:
    """What the rollout of one run has reached. number: of the settings that the run asks for."""

    def __init__(self, cluster: Cluster, number: int) -> None:
        self.cluster, self.number = cluster, number
        self.before = self._target(self._pool())
        self.worker = self._target(must_get(cluster.client, f"{GROUP}/v1", "machineconfigpools", "worker"))

    def is_paused(self) -> bool:
        return bool(self._pool().get("spec", {}).get("paused"))

    def is_written(self) -> bool:
        live = self.cluster.client.get(f"{GROUP}/v1", "machineconfigs", "99-gpu-training-kernel")
        return live is not None and f"hugepages={self.number}" in live["spec"]["kernelArguments"]

    def is_unpaused(self) -> bool:
        return self._target(self._pool()) != self.before and not self.is_paused()

    def drains(self) -> bool:
        return any(one["spec"].get("unschedulable") for one in self._nodes())

    def reboots(self) -> bool:
        return self._done() == 0 and self._is_down()

    def is_half_done(self) -> bool:
        return self._done() == 1

    def second_reboots(self) -> bool:
        return self._done() == 1 and self._is_down()

    def is_tuned(self) -> bool:
        live = self.cluster.client.get(*TUNED)
        return live is not None and f"vm.swappiness={self.number}\n" in live["spec"]["profile"][0]["data"]

    def is_going_back(self) -> bool:
        return any(note(one, "desiredConfig") == self.worker for one in self._nodes())

    def is_half_back(self) -> bool:
        return sum(note(one, "currentConfig") == self.worker for one in self._nodes()) == 1

    def _done(self) -> int:
        """Return how many nodes run a configuration that the run made."""
        target = self._target(self._pool())
        done = [one for one in self._nodes() if note(one, "currentConfig") == target]
        return -1 if target == self.before else len(done)

    def _is_down(self) -> bool:
        return any(note(one, "state") == "Rebooting" for one in self._nodes())

    def _pool(self) -> Data:
        return self.cluster.client.get(f"{GROUP}/v1", "machineconfigpools", POOL) or {}

    def _nodes(self) -> list[Data]:
        return self.cluster.client.list("v1", "nodes", labels=LABEL)

    def _target(self, pool: Data) -> str:
        return str((pool.get("spec", {}).get("configuration") or {}).get("name") or "")


def note(node: Data, key: str) -> str:
    return str(node["metadata"]["annotations"].get(f"{GROUP}/{key}") or "")


class Point(t.NamedTuple):
    """A state in which a run is killed. holds: what keeps it there. is_back: it gives the nodes back."""

    name: str
    is_there: t.Callable[[Rollout], bool]
    holds: str = "delays"
    is_back: bool = False


POINTS: t.Final = (
    Point("the pool is paused", Rollout.is_paused),
    Point("the settings are written", Rollout.is_written),
    Point("the pool is unpaused", Rollout.is_unpaused),
    Point("a node is drained", Rollout.drains, "budget"),
    Point("the first node reboots", Rollout.reboots),
    Point("the first node is done", Rollout.is_half_done),
    Point("the second node reboots", Rollout.second_reboots),
    Point("the profile is written", Rollout.is_tuned, "silence"),
    Point("the nodes go back", Rollout.is_going_back, is_back=True),
    Point("the first node is back", Rollout.is_half_back, is_back=True),
)


def pools(number: int, is_back: bool = False) -> list[Data]:
    """Return the pool with settings that no other point has."""
    selector = {"accelerators.openshift/pool": "training"}
    tuning: Data = {"sysctl": {"vm.swappiness": number}, "profile": "accelerator", "reboot": "planned"}
    if not is_back:
        pages = {"size": "1G", "count": number}
        tuning |= {"kernel_arguments": ["iommu=pt"], "huge_pages": [pages]}
    existing = {"node_selector": selector, "expected": {"nvidia.com/gpu": 8}}
    return [{"name": "training", "existing": existing, "tuning": tuning}]


@contextlib.contextmanager
def silence(cluster: Cluster) -> t.Iterator[None]:
    """Let the TuneD of a node report nothing."""
    sandbox = cluster.needs_sandbox()
    faults.add(sandbox, "profile_stuck", {"node": "gpu-0"})
    try:
        yield
    finally:
        faults.clear(sandbox, "profile_stuck", {})


HOLDS: t.Final[dict[str, t.Callable[[Cluster], t.ContextManager[None]]]] = {
    "delays": lambda _cluster: contextlib.nullcontext(),
    "budget": budget,
    "silence": silence,
}


def assert_silent(audit: Audit, what: str) -> None:
    time.sleep(1.5)  # a worker looks once a second
    start = audit.position()
    time.sleep(2)
    audit.flush()
    assert audit.written(start) == [], f"tune_nodes was killed when {what}, and wrote on"


def assert_whole(cluster: Cluster, number: int, is_back: bool) -> None:
    """Assert that the nodes have the settings: no pool is paused, no node cordoned, no lease held."""
    client = cluster.client
    found = {one["metadata"]["name"]: one for one in client.list(f"{GROUP}/v1", "machineconfigpools")}
    assert set(found) == {"master", "worker"} | (set() if is_back else {POOL})
    assert [name for name, one in found.items() if one["spec"].get("paused")] == []
    nodes = client.list("v1", "nodes", labels=LABEL)
    assert len(nodes) == 2
    assert [one["metadata"]["name"] for one in nodes if one["spec"].get("unschedulable")] == []
    pages = {one["status"]["allocatable"].get("hugepages-1Gi") for one in nodes}
    assert pages == ({None} if is_back else {f"{number}Gi"})
    tuned = must_get(client, *TUNED)
    assert f"vm.swappiness={number}\n" in tuned["spec"]["profile"][0]["data"]
    lease = must_get(client, "coordination.k8s.io/v1", "leases", "accelerators-openshift", "default")
    holder = str(lease["spec"].get("holderIdentity") or "")
    run = parse(holder)
    assert not holder or (run is not None and is_gone(run)), holder


@pytest.mark.parametrize("point", POINTS, ids=[one.name for one in POINTS])
def test_the_next_run_converges(cluster: Cluster, playbook: Playbook, audit: Audit, point: Point) -> None:
    number = POINTS.index(point) + 1
    if number == len(POINTS):  # the run before has given the nodes back
        assert playbook.playbook("tune_nodes", gpu_pools=pools(number)).rc == 0
    asked = pools(number, point.is_back)
    rollout = Rollout(cluster, number)
    with HOLDS[point.holds](cluster):
        kill_playbook(playbook, lambda: point.is_there(rollout), "tune_nodes", gpu_pools=asked)
        assert_silent(audit, point.name)
    done = playbook.playbook("tune_nodes", gpu_pools=asked)
    assert done.rc == 0, done.output[-3000:]
    assert_whole(cluster, number, point.is_back)


def test_a_run_after_all_that_writes_nothing(playbook: Playbook, audit: Audit) -> None:
    since = audit.position()
    again = playbook.playbook("tune_nodes", gpu_pools=pools(len(POINTS), is_back=True))
    assert (again.rc, again.changed) == (0, 0), again.output
    audit.flush()
    assert audit.written(since) == []
