# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Row 7: one node turns Ready, and every contender that waits for it says when it knows.

The contenders: a raw watch, ours, kubectl wait, and k8s_info, which polls.

All wait for the same change at the same time. Those that poll take part in the first rounds only, because
each round costs them seconds.
"""

from __future__ import annotations

import random
import statistics
import time
import typing as t

import measure
from bench_cluster import BenchCluster
from measure import Report, Row
from waiters import PATIENCE, Exit, Raw, Told

from openshift_sandbox import audit
from playbooks import Surroundings

RAW: t.Final = "raw watch"
API: t.Final = "ours, known in the task"
TOLD: t.Final = "ours, told by Ansible"
KUBECTL_WAIT: t.Final = "kubectl wait, until its exit"
PEER: t.Final = "k8s_info wait, told by Ansible"
POLL: t.Final = 5.0
# How the requests of a waiter begin their user agent.
AGENTS: t.Final = {API: "accelerators.openshift/", KUBECTL_WAIT: "kubectl/", PEER: "OpenAPI-Generator/"}
READY: t.Final = {"type": "Ready", "status": "True", "reason": "KubeletReady", "message": ""}
WAIT_BY_POLLS: t.Final[dict[str, t.Any]] = {
    "api_version": "v1",
    "kind": "Node",
    "wait": True,
    "wait_timeout": 300,
    "wait_condition": {"type": "Ready", "status": "True"},
}

Moments = dict[str, list[float]]
Counts = dict[str, list[int]]


def rows(where: Surroundings, report: Report, rounds: int) -> None:
    turns, polled = max(3, rounds * 11), max(2, rounds)
    moments, asked = measured(where, turns, polled)
    report.rows += [*_latencies(moments, polled), _requests(asked)]


def _latencies(moments: Moments, polled: int) -> list[Row]:
    behind = {
        name: measure.values(
            [one - zero for one, zero in zip(moments[name], moments[RAW], strict=False)], digits=5
        )
        for name in (API, TOLD, KUBECTL_WAIT, PEER)
    }
    ours, told, kubectl = behind[API], behind[TOLD], behind[KUBECTL_WAIT]
    base: dict[str, t.Any] = {"metric": "7", "unit": "s behind the raw watch", "runs": len(moments[RAW])}
    absolute = statistics.median(moments[PEER]) / statistics.median(moments[API])
    return [
        Row(
            name="change on the server to result known",
            ours=ours,
            peers={name: behind[name] for name in (TOLD, KUBECTL_WAIT, PEER)},
            target="p50 <= 5 ms, p99 <= 25 ms",
            met=ours["median"] <= 0.005 and ours["p99"] <= 0.025,
            note=_about_the_raw_watch(moments, polled),
            **base,
        ),
        Row(
            name="change on the server to result known, against k8s_info wait",
            ours=ours,
            peers={PEER: behind[PEER]},
            target=">= 100x ahead of k8s_info",
            met=absolute >= 100,
            ratio=round(1 / absolute, 5),
            note="ratio of whole latencies, the raw watch's share included",
            **base,
        ),
        Row(
            name="change on the server to result told by Ansible, against kubectl wait",
            ours=told,
            peers={KUBECTL_WAIT: kubectl},
            target="ahead of kubectl (< 1)",
            met=told["median"] < kubectl["median"],
            ratio=round(told["median"] / kubectl["median"], 3),
            **base,
        ),
    ]


def _about_the_raw_watch(moments: Moments, polled: int) -> str:
    median = measure.values(moments[RAW], 5)["median"]
    return (
        f"the raw watch itself: median {median * 1000:.1f} ms after the change was sent; "
        f"k8s_info: {polled} rounds"
    )


def _requests(asked: Counts) -> Row:
    numbers = {name: measure.values(map(float, counts)) for name, counts in asked.items()}
    return Row(
        metric="7",
        name="requests of one wait",
        unit="requests",
        runs=len(asked[API]),
        ours=numbers[API],
        peers={name: numbers[name] for name in (KUBECTL_WAIT, PEER)},
        target="<= 2, and 1 more every 5 min",
        met=max(asked[API]) <= 2,
    )


def measured(where: Surroundings, turns: int, polled: int) -> tuple[Moments, Counts]:
    """Seconds from the change being sent, of every waiter; and how many requests each sent for it."""
    cluster = where.cluster
    assert cluster
    names = [f"wait-{turn}" for turn in range(turns)]
    for name in names:
        cluster.client.create({"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}})
    mark = audit.position(cluster.sandbox.audit_log)
    race = Race(where, cluster, names, polled)
    try:
        for turn, name in enumerate(names):
            mark = race.turn(name, mark, polls=turn < polled)
    finally:
        race.close()
    return race.moments, race.asked


class Race:
    """All waiters for one node after the other; moments: when each knew. asked: the requests of each."""

    def __init__(
        self, where: Surroundings, cluster: BenchCluster, names: t.Sequence[str], polled: int
    ) -> None:
        self._where, self._cluster = where, cluster
        ours = [{"name": name, "wait_for_node": {"name": name, "wait_timeout": 300}} for name in names]
        theirs = [
            {"name": name, "kubernetes.core.k8s_info": {**WAIT_BY_POLLS, "name": name}}
            for name in names[:polled]
        ]
        self._ours, self._theirs = Told(where, "ours", ours), Told(where, "theirs", theirs)
        self.moments: Moments = {name: [] for name in (RAW, API, TOLD, KUBECTL_WAIT, PEER)}
        self.asked: Counts = {API: [], KUBECTL_WAIT: [], PEER: []}

    def turn(self, name: str, mark: int, polls: bool) -> int:
        """Make one node Ready while all wait for it.

        mark: where the audit log ended before they waited for this node. Return the mark of the next node.
        """
        kubectl, raw = Exit(self._where, name), Raw(self._cluster, name)
        waiters = AGENTS if polls else {waiter: AGENTS[waiter] for waiter in (API, KUBECTL_WAIT)}
        _until_waiting(self._cluster, mark, name, waiters)
        # Nobody's poll may be in step with us.
        time.sleep(random.uniform(0.0, POLL) if polls else 0.05)  # noqa: S311 (no secret)
        # The playbooks turn to the next node as soon as they know about this one.
        following = audit.position(self._cluster.sandbox.audit_log)
        sent = time.monotonic()
        self._cluster.client.patch("v1", "nodes", name, None, {"status": {"conditions": [READY]}}, "status")
        known = {RAW: raw.seen()}
        line = self._ours.of(name)
        known |= {API: line["known_at"], TOLD: line["told_at"], KUBECTL_WAIT: kubectl.seen()}
        if polls:
            known[PEER] = self._theirs.of(name)["told_at"]
        for waiter, moment in known.items():
            self.moments[waiter].append(moment - sent)
        requests = [one for one in self._cluster.requests(mark) if _is_about(one, name)]
        for waiter, agent in waiters.items():
            self.asked[waiter].append(sum(one.user_agent.startswith(agent) for one in requests))
        return following

    def close(self) -> None:
        self._ours.close()
        self._theirs.close()


def _until_waiting(cluster: BenchCluster, mark: int, name: str, agents: t.Mapping[str, str]) -> None:
    """Every waiter has asked for this node, those that watch have their watch open."""
    deadline = time.monotonic() + PATIENCE
    missing = set(agents)
    while missing:
        seen = [one for one in audit.read(cluster.sandbox.audit_log, mark) if _is_about(one, name)]
        missing = {
            waiter
            for waiter, agent in agents.items()
            if not any(
                one.user_agent.startswith(agent) and (waiter == PEER or one.verb == "watch") for one in seen
            )
        }
        if time.monotonic() > deadline:
            raise TimeoutError(f"{name}: still not waiting after {PATIENCE:.0f} s: {', '.join(missing)}")
        time.sleep(0.02)


def _is_about(request: audit.Request, name: str) -> bool:
    return name == request.name or request.query.get("fieldSelector") == [f"metadata.name={name}"]
