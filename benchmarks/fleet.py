# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Thousands of nodes on an API server: KWOK makes them Ready, and stops while somebody measures."""

from __future__ import annotations

import json
import os
import re
import signal
import time
import typing as t
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import urlencode

import objects
from bench_cluster import BenchCluster
from measure import RunError, Sample

from openshift_sandbox.client import Client

PAGE: t.Final = 500
PATIENCE: t.Final = 600.0
CONNECTIONS: t.Final = 16
# The servers are quiet when, for so long, they wrote no more than the API server's own leases and all of them
# together used no more than this share of a processor.
QUIET_SECONDS: t.Final = 3.0
OWN_WRITES: t.Final = 3
IDLE: t.Final = 0.25
TICKS: t.Final = os.sysconf("SC_CLK_TCK")


def fill(cluster: BenchCluster, numbers: range) -> None:
    """Create nodes; return when every node is Ready, KWOK is stopped and the servers are quiet."""
    processes, deadline = cluster.sandbox.processes, time.monotonic() + PATIENCE
    processes.signal("kwok", signal.SIGCONT)
    create(cluster, numbers)
    settle(cluster, deadline)
    # Quiet may also be a KWOK that has lost its way; a look ends at the first node that is not Ready.
    while waiting := next(
        (node for page in pages(cluster.client) for node in json.loads(page)["items"] if not is_ready(node)),
        None,
    ):
        if time.monotonic() > deadline:
            raise RunError(
                f"node {waiting['metadata']['name']} is not Ready after {PATIENCE:.0f} s; "
                f"see {cluster.sandbox.logs / 'kwok.log'}"
            )
        settle(cluster, deadline)
    processes.signal("kwok", signal.SIGSTOP)
    settle(cluster, deadline)


def create(cluster: BenchCluster, numbers: range) -> None:
    """Create nodes, and return once the API server has them all."""
    with ThreadPoolExecutor(CONNECTIONS) as threads:
        for _done in threads.map(lambda number: cluster.client.create(objects.node(number)), numbers):
            pass


def settle(cluster: BenchCluster, deadline: float) -> None:
    """Returns when nobody writes and the servers have nothing to do."""
    before = revision(cluster), busy(cluster)
    while True:
        cluster.sandbox.processes.check()
        time.sleep(QUIET_SECONDS)
        now = revision(cluster), busy(cluster)
        writes, used = now[0] - before[0], now[1] - before[1]
        if writes <= OWN_WRITES and used <= IDLE * QUIET_SECONDS:
            return
        if time.monotonic() > deadline:
            raise RunError(
                f"not quiet after {PATIENCE:.0f} s: {writes} writes and {used:.1f} s of processor "
                f"in the last {QUIET_SECONDS:.0f} s"
            )
        before = now


def revision(cluster: BenchCluster) -> int:
    """Of the whole store: one more with each write, whatever was written."""
    return int(
        cluster.client.checked("GET", "/api/v1/nodes", query={"limit": "1"})["metadata"]["resourceVersion"]
    )


def busy(cluster: BenchCluster) -> float:
    """Seconds of processor that etcd, the API server and KWOK have taken so far."""
    stats = (
        Path(f"/proc/{child.pid}/stat").read_text().rpartition(")")[2].split()
        for child in cluster.sandbox.processes.all()
    )
    return sum(int(fields[11]) + int(fields[12]) for fields in stats) / TICKS


def is_ready(node: dict[str, t.Any]) -> bool:
    return any(
        one["type"] == "Ready" and one["status"] == "True" for one in node["status"].get("conditions", ())
    )


def pages(client: Client, selector: str | None = None) -> t.Iterator[bytes]:
    """The list as it comes over one kept-alive connection, not looked into."""
    query = {"limit": str(PAGE)} | ({"labelSelector": selector} if selector else {})
    while True:
        answer = client._pool.request(
            "GET", f"{client.server}/api/v1/nodes?{urlencode(query)}", headers=client._headers
        )
        if answer.status != 200:
            raise RunError(f"the list of nodes: {answer.status} {answer.data[:500]!r}")
        yield answer.data
        further = re.search(rb'"continue":"([^"]+)"', answer.data[:2000])
        if not further:
            return
        query["continue"] = further.group(1).decode()


def bare(client: Client, selector: str | None) -> Sample:
    """What the server and the wire take."""
    started = time.monotonic()
    requests = sum(1 for _page in pages(client, selector))
    return Sample(time.monotonic() - started, requests=requests)


def size(cluster: BenchCluster) -> float:
    """KB of one node, with everything that the server and KWOK add."""
    return len(json.dumps(cluster.client.get("v1", "nodes", objects.node(0)["metadata"]["name"]))) / 1000
