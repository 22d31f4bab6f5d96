# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Drain of a node while a disruption budget refuses for minutes; the clock moves only during waits."""

from __future__ import annotations

import queue
import typing as t

import pytest
from unit.engine import FakeClock

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import (
    NotReadyError,
    WaitTimeoutError,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._core.readiness import failed
from ansible_collections.accelerators.openshift.plugins.module_utils._core.run import Run
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.client import Api
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.deadline import Deadline
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.wait import Waiting
from ansible_collections.accelerators.openshift.plugins.module_utils._nodes import drain_steps
from ansible_collections.accelerators.openshift.plugins.module_utils._nodes.drain_judge import Rules

Data = dict[str, t.Any]
Pods = list[Data]
BUDGET: t.Final = "The disruption budget app needs 2 healthy pods and has 2 currently"
GRACE: t.Final = 10.0
EVACUATION: t.Final = (
    'admission webhook "virt-launcher-eviction-interceptor.kubevirt.io" denied the request: Eviction '
    'triggered evacuation of VMI "team/vm"'
)


@pytest.fixture(autouse=True)
def _evictions(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the node of the test answer evictions."""
    monkeypatch.setattr(drain_steps, "evict", lambda api, pod: api.evict(pod))


class Node:
    """The part of an Api that a drain uses: one node with one pod, whose budget yields after some seconds.

    Waits run in the real loop, without news.
    """

    check_mode, wait_wanted = False, True

    run = Run("root", "bastion", "boot", 4711, "1")

    def __init__(self, yields_after: float, wait_timeout: float, text: str = BUDGET) -> None:
        self.text = text
        # Nodes, machine sets and further pods that the wait sees after a number of seconds.
        self.later: list[tuple[float, str, list[Data]]] = []
        self.now = FakeClock()
        self.started, self.yields_after = self.now.seconds, yields_after
        self.deadline = Deadline(wait_timeout, self.now, self.now.sleep)
        self.asked: list[float] = []
        self.patches: list[Data] = []
        self.lines: list[str] = []
        self.ends_at = float("inf")

    @property
    def seconds(self) -> float:
        return self.now.seconds - self.started

    def clock(self) -> float:
        return self.now.seconds

    def _pods(self) -> list[Data]:
        owner = {"kind": "ReplicaSet", "name": "app", "controller": True}
        going = {"deletionTimestamp": "2026-11-21T00:00:00Z"} if self.ends_at < float("inf") else {}
        pod = {
            "metadata": {
                "name": "app-1",
                "namespace": "team",
                "uid": "1",
                "ownerReferences": [owner],
                **going,
            },
            "spec": {"nodeName": "n1"},
        }
        return [] if self.seconds >= self.ends_at else [pod]

    def list(self, *_kind: t.Any, **_query: t.Any) -> list[Data]:
        return self._pods()

    def list_if_served(self, *_kind: t.Any) -> Pods:
        return []

    def get(self, *_kind: t.Any) -> Data:
        return {
            "metadata": {"name": "n1"},
            "spec": {},
            "status": {"conditions": [{"type": "Ready", "status": "True"}]},
        }

    def merge_patch(self, _kind: t.Any, _name: str, _namespace: None, body: Data) -> None:
        self.patches.append(body)

    def evict(self, _pod: Data) -> str:
        self.asked.append(self.seconds)
        if self.seconds < self.yields_after:
            return self.text
        self.ends_at = self.seconds + GRACE
        return ""

    def _seen(self) -> dict[str, Pods]:
        return {"n1": self._pods()} | {key: seen for at, key, seen in self.later if self.seconds >= at}

    def wait(self, _queries: t.Any, judge: t.Any, stage: str, since: float) -> dict[str, Pods]:
        snapshot = self._seen()
        node = self

        class Silence:
            def get(self, timeout: float) -> t.NoReturn:
                node.now.sleep(timeout)
                snapshot.update(node._seen())
                raise queue.Empty

        news = t.cast("queue.SimpleQueue[t.Any]", Silence())
        loop = Waiting(self.deadline, self.lines.append, judge, stage, 0.0, "WAIT-TIMEOUT", self.guard, since)
        return loop.until_ready(snapshot, news)

    def guard(self) -> None:
        return


def test_a_budget_that_yields_after_three_minutes() -> None:
    node = Node(yields_after=180.0, wait_timeout=600.0)
    drain_steps.drain(t.cast(Api, node), {"n1"}, Rules(), "Node n1 is to be drained")
    assert node.asked == [5.0 * turn for turn in range(37)]
    assert node.seconds == 190.0
    assert [one["spec"] for one in node.patches] == [{"unschedulable": True}]
    assert f"drain of n1: n1: pod team/app-1 is kept ({BUDGET})" in " ".join(node.lines)


@pytest.mark.parametrize("seconds", [170.0, 185.0])
def test_one_that_takes_too_long_is_named(seconds: float) -> None:
    """At the end of the task's time the node stays cordoned; a terminating pod does not count any more."""
    node = Node(yields_after=180.0, wait_timeout=seconds)
    with pytest.raises(WaitTimeoutError) as caught:
        drain_steps.drain(t.cast(Api, node), {"n1"}, Rules(), "Node n1 is to be drained")
    code, words = ("NODE-PDB", BUDGET) if seconds < 180 else ("NODE-DRAIN", "team/app-1 on n1")
    assert caught.value.code == code
    assert words in caught.value.message
    assert f"not ready after {seconds:.0f} s" in caught.value.message
    assert node.seconds == seconds
    assert [one["spec"] for one in node.patches] == [{"unschedulable": True}]


def test_a_webhook_that_refuses_evictions_is_asked_every_five_seconds_and_quoted() -> None:
    node = Node(yields_after=60.0, wait_timeout=600.0, text=EVACUATION)
    drain_steps.drain(t.cast(Api, node), {"n1"}, Rules(), "Node n1 is to be drained")
    assert node.asked == [5.0 * turn for turn in range(13)]
    assert EVACUATION in " ".join(node.lines)


def test_a_webhook_that_never_yields_is_no_disruption_budget() -> None:
    node = Node(yields_after=600.0, wait_timeout=60.0, text=EVACUATION)
    with pytest.raises(WaitTimeoutError) as caught:
        drain_steps.drain(t.cast(Api, node), {"n1"}, Rules(), "Node n1 is to be drained")
    assert caught.value.code == "NODE-EVICTION"
    assert EVACUATION in caught.value.message
    assert "budget" not in caught.value.message
    assert "oc describe pod app-1 -n team" in caught.value.remedy


def test_a_cordon_names_its_run_and_goes_with_it() -> None:
    node = Node(yields_after=0.0, wait_timeout=60.0)
    drain_steps.drain(t.cast(Api, node), {"n1"}, Rules(), "Node n1 is to be drained")
    drain_steps.uncordon(t.cast(Api, node), "n1")
    key = "accelerators.openshift/cordoned-by-run"
    assert [one["metadata"]["annotations"][key] for one in node.patches] == [node.run.id, None]


def test_a_drain_whose_node_becomes_schedulable_stops() -> None:
    node = Node(yields_after=600.0, wait_timeout=600.0)
    node.later = [(20.0, "node/n1", [{"metadata": {"name": "n1"}, "spec": {}}])]
    with pytest.raises(NotReadyError) as caught:
        drain_steps.drain(t.cast(Api, node), {"n1"}, Rules("drain"), "Node n1 is to be drained")
    assert caught.value.code == "NODE-UNCORDONED"
    assert node.seconds == 20.0
    assert len(node.patches) == 1  # the cordon that somebody has removed; nothing after it


def test_a_drain_stops_at_what_its_caller_watches() -> None:
    node = Node(yields_after=600.0, wait_timeout=600.0)
    node.later = [(20.0, "machine_sets", [{"metadata": {"name": "m"}, "spec": {"replicas": 3}}])]
    watched = drain_steps.Watched(
        {}, lambda seen: failed("Scaled", "m has 3", code="MACH-SCALED") if "machine_sets" in seen else None
    )
    with pytest.raises(NotReadyError) as caught:
        drain_steps.drain(t.cast(Api, node), {"n1"}, Rules("drain"), "x", watched=watched)
    assert caught.value.code == "MACH-SCALED"
    assert node.seconds == 20.0


def test_on_busy_fail_never_evicts_work_that_came_later_and_gives_the_node_back() -> None:
    node = Node(yields_after=30.0, wait_timeout=600.0)
    limits = {"limits": {"nvidia.com/gpu": "1"}}
    job: Data = {
        "metadata": {"name": "job", "namespace": "team", "uid": "2"},
        "spec": {"nodeName": "n1", "containers": [{"name": "c", "resources": limits}]},
    }
    node.later = [(10.0, "late", [job])]
    with pytest.raises(NotReadyError) as caught:
        drain_steps.drain(t.cast(Api, node), {"n1"}, Rules("fail"), "Node n1 is to be drained")
    assert caught.value.code == "NODE-NEW-WORK"
    assert "team/job on n1" in caught.value.message
    assert [one["spec"]["unschedulable"] for one in node.patches] == [True, None]
    allowed = Node(yields_after=30.0, wait_timeout=600.0)
    allowed.later = [(10.0, "late", [job]), (20.0, "late", [])]
    drain_steps.drain(t.cast(Api, allowed), {"n1"}, Rules("drain"), "Node n1 is to be drained")
    assert [one["spec"]["unschedulable"] for one in allowed.patches] == [True]
