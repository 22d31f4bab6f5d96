# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The API server is unreachable for 20 seconds during a wait and a write: no write is lost or repeated."""

from __future__ import annotations

import threading
import time
import typing as t

import own_cluster
from cluster import Cluster
from integration.patience import until

from ansible_collections.accelerators.openshift.plugins.module_utils._core.readiness import (
    Readiness,
    pending,
    ready,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._frame.module import connect
from ansible_collections.accelerators.openshift.plugins.module_utils._kube import kinds
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.client import Api, Query
from openshift_sandbox import faults

SCENARIO: t.Final = "aws"
cluster = own_cluster.cluster
AWAY: t.Final = 20.0
CONFIG_MAP: t.Final = kinds.known("ConfigMap")


def manifest(name: str) -> dict[str, t.Any]:
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": name, "namespace": "default"},
        "data": {"x": "1"},
    }


def api(cluster: Cluster, lines: list[str]) -> Api:
    """Return an Api that appends what it shows to a list."""
    return connect({"kubeconfig": str(cluster.kubeconfig), "wait_timeout": 120}, "outage", show=lines.append)


def awaited(waiter: Api, name: str) -> list[dict[str, t.Any]]:
    """Wait until a ConfigMap is there; return what the wait saw of it."""

    def judge(snapshot: dict[str, list[dict[str, t.Any]]]) -> Readiness:
        return ready() if snapshot["map"] else pending("Missing", f"{name} is not there")

    seen = waiter.wait({"map": Query(CONFIG_MAP, "default", name=name)}, judge, "outage")
    return seen["map"]


def test_twenty_seconds_without_api(cluster: Cluster) -> None:
    sandbox = cluster.needs_sandbox()
    lines: list[str] = []

    server = sandbox.processes.find("kube-apiserver")
    assert server is not None
    name = "outage"
    waiter, writer = api(cluster, lines), api(cluster, lines)
    seen: list[dict[str, t.Any]] = []
    waiting = threading.Thread(target=lambda: seen.extend(awaited(waiter, name)))
    waiting.start()
    writer.get(CONFIG_MAP, name, "default")
    outage = threading.Thread(target=faults.api_down, args=(sandbox, AWAY, True))
    outage.start()
    until(lambda: server.stopped or not server.alive, "no API")
    started = time.monotonic()
    writer.apply(manifest(name))
    written = time.monotonic()
    waiting.join(timeout=120)
    outage.join(timeout=120)
    assert not waiting.is_alive()
    assert written - started > AWAY / 2, "the API was not away"
    assert [item["data"] for item in seen] == [{"x": "1"}]
    assert len(writer.changes) == 1
    again = api(cluster, lines)
    again.apply(manifest(name))
    assert again.changes == []
    assert any("waiting for https://" in line for line in lines)
    again.delete(CONFIG_MAP, name, "default")
