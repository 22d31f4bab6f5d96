# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Row 7: one node turns Ready, and every contender that waits for it says when it knows.

The contenders: a raw watch, ours, kubectl wait, and k8s_info, which polls.

All wait for the same change at the same time. Those that poll take part in the first rounds only, because
each round costs them seconds.
"""

from __future__ import annotations

import json
import random
import statistics
import subprocess
import threading
import time
import typing as t
from pathlib import Path

import measure
from bench_cluster import BenchCluster
from measure import Report, Row

from openshift_sandbox import audit
from playbooks import BIN, KUBECTL, Surroundings

RAW: t.Final = "raw watch"
API: t.Final = "ours, known in the task"
TOLD: t.Final = "ours, told by Ansible"
KUBECTL_WAIT: t.Final = "kubectl wait, until its exit"
PEER: t.Final = "k8s_info wait, told by Ansible"
POLL: t.Final = 5.0
PATIENCE: t.Final = 60.0

Moments = dict[str, list[float]]


def rows(where: Surroundings, report: Report, rounds: int) -> None:
    turns, polled = max(3, rounds * 11), max(2, rounds)
    moments, asked = measured(where, turns, polled)
    behind = {
        name: [one - zero for one, zero in zip(moments[name], moments[RAW], strict=False)]
        for name in (API, TOLD, KUBECTL_WAIT, PEER)
    }
    peers = {name: measure.values(times, 5) for name, times in behind.items()}
    ours = peers.pop(API)
    told = peers[TOLD]
    base: dict[str, t.Any] = {"metric": "7", "unit": "s behind the raw watch", "runs": turns, "ours": ours}
    absolute = statistics.median(moments[PEER]) / statistics.median(moments[API])
    raw = measure.values(moments[RAW], 5)
    note = (
        f"the raw watch itself: median {raw['median'] * 1000:.1f} ms after the change was sent; "
        f"k8s_info: {polled} rounds"
    )
    limit = "p50 <= 5 ms, p99 <= 25 ms"
    report.rows += [
        Row(
            name="change on the server to result known",
            peers=peers,
            target=limit,
            met=ours["median"] <= 0.005 and ours["p99"] <= 0.025,
            note=note,
            **base,
        ),
        Row(
            name="change on the server to result known, against k8s_info wait",
            peers={PEER: peers[PEER]},
            target=">= 100x ahead of k8s_info",
            met=absolute >= 100,
            ratio=round(1 / absolute, 5),
            note="ratio of whole latencies, the raw watch's share included",
            **base,
        ),
        Row(
            name="change on the server to result told by Ansible, against kubectl wait",
            peers={KUBECTL_WAIT: peers[KUBECTL_WAIT]},
            target="ahead of kubectl (< 1)",
            met=told["median"] < peers[KUBECTL_WAIT]["median"],
            ratio=round(told["median"] / peers[KUBECTL_WAIT]["median"], 3),
            **(base | {"ours": told}),
        ),
        Row(
            metric="7",
            name="requests of one wait",
            unit="requests",
            runs=turns,
            ours=measure.values([float(count) for count in asked[API]]),
            peers={
                name: measure.values([float(count) for count in asked[name]]) for name in (KUBECTL_WAIT, PEER)
            },
            target="<= 2, and 1 more every 5 min",
            met=max(asked[API]) <= 2,
        ),
    ]


def measured(where: Surroundings, turns: int, polled: int) -> tuple[Moments, dict[str, list[int]]]:
    """Seconds from the change being sent, of every waiter; and how many requests each sent for it."""
    cluster = where.cluster
    assert cluster
    names = [f"wait-{turn}" for turn in range(turns)]
    for name in names:
        cluster.client.create({"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}})
    ready = {"type": "Ready", "status": "True", "reason": "KubeletReady", "message": ""}
    info = {
        "api_version": "v1",
        "kind": "Node",
        "wait": True,
        "wait_timeout": 300,
        "wait_condition": {"type": "Ready", "status": "True"},
    }
    mark = audit.position(cluster.sandbox.audit_log)
    ours = Told(
        where,
        "ours",
        [{"name": name, "wait_for_node": {"name": name, "wait_timeout": 300}} for name in names],
    )
    theirs = Told(
        where,
        "theirs",
        [{"name": name, "kubernetes.core.k8s_info": {**info, "name": name}} for name in names[:polled]],
    )
    moments: Moments = {name: [] for name in (RAW, API, TOLD, KUBECTL_WAIT, PEER)}
    asked: dict[str, list[int]] = {API: [], KUBECTL_WAIT: [], PEER: []}
    try:
        for turn, name in enumerate(names):
            kubectl = Exit(where, name)
            raw = Raw(cluster, name)
            waiters = {API: "accelerators.openshift/", KUBECTL_WAIT: "kubectl/"} | (
                {PEER: "OpenAPI-Generator/"} if turn < polled else {}
            )
            _until_waiting(cluster, mark, name, waiters)
            # Nobody's poll may be in step with us.
            time.sleep(random.uniform(0.0, POLL) if turn < polled else 0.05)  # noqa: S311 (no secret)
            # The playbooks turn to the next node as soon as they know about this one.
            following = audit.position(cluster.sandbox.audit_log)
            sent = time.monotonic()
            cluster.client.patch("v1", "nodes", name, None, {"status": {"conditions": [ready]}}, "status")
            moments[RAW].append(raw.seen() - sent)
            line = ours.of(name)
            moments[API].append(line["known_at"] - sent)
            moments[TOLD].append(line["told_at"] - sent)
            moments[KUBECTL_WAIT].append(kubectl.seen() - sent)
            if turn < polled:
                moments[PEER].append(theirs.of(name)["told_at"] - sent)
            requests = [one for one in cluster.requests(mark) if _is_about(one, name)]
            for waiter, agent in waiters.items():
                asked[waiter].append(sum(one.user_agent.startswith(agent) for one in requests))
            mark = following
    finally:
        ours.close()
        theirs.close()
    return moments, asked


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


class Told:
    """A playbook that waits for one node after the other, and the moments that its callback wrote down."""

    def __init__(self, where: Surroundings, name: str, tasks: list[dict[str, t.Any]]) -> None:
        self._log = where.directory / f"{name}.jsonl"
        self._log.unlink(missing_ok=True)
        environment = where.environment | {
            "ANSIBLE_CALLBACKS_ENABLED": "moments",
            "BENCH_MOMENTS": str(self._log),
        }
        self._output = (where.directory / f"{name}.log").open("wb")
        argv: list[str | Path] = [
            BIN / "ansible-playbook",
            "-i",
            where.directory / "inventory.yml",
            where.write(f"wait-{name}", tasks),
        ]
        self._child = subprocess.Popen(
            argv, env=environment, stdin=subprocess.DEVNULL, stdout=self._output, stderr=subprocess.STDOUT
        )

    def of(self, task: str) -> dict[str, t.Any]:
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline and (self._child.poll() is None or self._log.exists()):
            lines = (
                [
                    json.loads(line)
                    for line in self._log.read_text().splitlines(keepends=True)
                    if line.endswith("\n")
                ]
                if self._log.exists()
                else []
            )
            for line in lines:
                if line["task"] == task:
                    return dict(line)
            time.sleep(0.02)
        raise measure.RunError(Path(self._output.name).read_text()[-3000:])

    def close(self) -> None:
        if self._child.poll() is None:
            self._child.terminate()
        self._child.wait()
        self._output.close()


class Exit:
    """kubectl wait: the moment of its exit is when a script goes on."""

    def __init__(self, where: Surroundings, name: str) -> None:
        argv: list[str | Path] = [KUBECTL, "wait", "--for=condition=Ready", f"node/{name}", "--timeout=300s"]
        self._child = subprocess.Popen(
            argv, env=where.environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL
        )
        self._moment = 0.0
        self._thread = threading.Thread(target=self._wait)
        self._thread.start()

    def _wait(self) -> None:
        self._child.wait()
        self._moment = time.monotonic()

    def seen(self) -> float:
        self._thread.join()
        return self._moment


class Raw:
    """The floor: one watch read byte by byte as it comes, nothing interpreted before the word is in it."""

    def __init__(self, cluster: BenchCluster, name: str) -> None:
        client = cluster.client
        url = f"{client.server}/api/v1/nodes?watch=true&resourceVersion=0&fieldSelector=metadata.name={name}"
        self._moment = 0.0
        self._answer = client._pool.request("GET", url, headers=client._headers, preload_content=False)
        self._thread = threading.Thread(target=self._read)
        self._thread.start()

    def _read(self) -> None:
        received = b""
        while b"KubeletReady" not in received:
            received += self._answer.read1(1 << 16)
        self._moment = time.monotonic()

    def seen(self) -> float:
        self._thread.join(PATIENCE)
        self._answer.close()
        return self._moment
