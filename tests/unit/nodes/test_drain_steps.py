# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Drain of a node while a disruption budget refuses for minutes; the clock moves only during waits."""

from __future__ import annotations

import queue
import typing as t

import pytest
from unit.engine import FakeClock

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import WaitTimeoutError
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.client import Api
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.deadline import Deadline
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.wait import Waiting
from ansible_collections.accelerators.openshift.plugins.module_utils._nodes import drain_steps
from ansible_collections.accelerators.openshift.plugins.module_utils._nodes.drain import Rules

Data = dict[str, t.Any]
Pods = list[Data]
BUDGET: t.Final = "The disruption budget app needs 2 healthy pods and has 2 currently"
GRACE: t.Final = 10.0


class Node:
    """The part of an Api that a drain uses: one node with one pod, whose budget yields after some seconds.

    Waits run in the real loop, without news.
    """

    check_mode, wait_wanted = False, True

    def __init__(self, yields_after: float, wait_timeout: float) -> None:
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
            return BUDGET
        self.ends_at = self.seconds + GRACE
        return ""

    def wait(self, _queries: t.Any, judge: t.Any, stage: str) -> dict[str, Pods]:
        snapshot = {"n1": self._pods()}
        node = self

        class Silence:
            def get(self, timeout: float) -> t.NoReturn:
                node.now.sleep(timeout)
                snapshot["n1"] = node._pods()
                raise queue.Empty

        return Waiting(self.deadline, self.lines.append, judge, stage, 0.0, "WAIT-TIMEOUT").until_ready(
            snapshot, t.cast("queue.SimpleQueue[t.Any]", Silence())
        )


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
    assert node.seconds == seconds
    assert [one["spec"] for one in node.patches] == [{"unschedulable": True}]
