# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Thousands of nodes on an API server, made Ready and kept alive by KWOK."""

from __future__ import annotations

import json
import re
import time
import typing as t
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import urlencode

import objects
from bench_cluster import BenchCluster
from measure import RunError, Sample

from openshift_sandbox.client import Client

PAGE: t.Final = 500
PATIENCE: t.Final = 600.0


def fill(cluster: BenchCluster, numbers: range) -> None:
    """More nodes; returns when every node of the cluster is Ready."""
    with ThreadPoolExecutor(8) as threads:
        for _done in threads.map(lambda number: cluster.client.create(objects.node(number)), numbers):
            pass
    deadline = time.monotonic() + PATIENCE
    # A look ends at the first node that is not Ready, so that it takes little from KWOK.
    while waiting := next((node for page in pages(cluster.client) for node in json.loads(page)["items"] if not is_ready(node)), None):
        cluster.sandbox.processes.check()
        if time.monotonic() > deadline:
            raise RunError(f"node {waiting['metadata']['name']} is not Ready after {PATIENCE:.0f} s; see {cluster.sandbox.logs / 'kwok.log'}")
        time.sleep(1.0)


def is_ready(node: dict[str, t.Any]) -> bool:
    return any(one["type"] == "Ready" and one["status"] == "True" for one in node["status"].get("conditions", ()))


def pages(client: Client, selector: str | None = None) -> t.Iterator[bytes]:
    """The list as it comes over one kept-alive connection, not looked into."""
    query = {"limit": str(PAGE)} | ({"labelSelector": selector} if selector else {})
    while True:
        answer = client._pool.request("GET", f"{client.server}/api/v1/nodes?{urlencode(query)}", headers=client._headers)
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
