# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Rows 8 and 9: who has GPUs among 5,000 nodes of 26 KB, how long that takes and how much memory; and how both grow with the number of nodes."""

from __future__ import annotations

import json
import re
import statistics
import time
import typing as t
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import urlencode

import measure
import objects
import row_growth
from bench_cluster import BenchCluster
from measure import Report, Row, Samples

from openshift_sandbox.client import Client
from playbooks import Surroundings

BASE: t.Final = "empty playbook"
SELECTED: t.Final = "ours, by label"
SCAN: t.Final = "ours, every node looked at"
LOADED: t.Final = "a playbook of one other task of ours"
SELECTED_LATER: t.Final = "ours, by label, as second task"
SCAN_LATER: t.Final = "ours, every node looked at, as second task"
PEER_SELECTED: t.Final = "k8s_info, by label"
PEER_SCAN: t.Final = "k8s_info, every node"
HTTP_SELECTED: t.Final = "bare HTTP, by label"
HTTP_SCAN: t.Final = "bare HTTP, every node"
KUBECTL_SELECTED: t.Final = "kubectl get -o name, by label"
KUBECTL_SCAN: t.Final = "kubectl get -o name, every node"
LEVELS: t.Final = (10, 100, 1000, 5000)
SLOW: t.Final = (PEER_SCAN, KUBECTL_SCAN)


def rows(where: Surroundings, report: Report, rounds: int, levels: t.Sequence[int] = LEVELS) -> None:
    cluster = where.cluster
    assert cluster
    points, filled = [], 0
    for level in levels:
        fill(cluster, range(filled, level))
        filled = level
        last = level == levels[-1]
        contenders = acts(where) if last else {name: act for name, act in acts(where).items() if name in (BASE, SELECTED, SCAN)}
        # A peer that takes most of a minute has fewer turns.
        slow = {name: contenders.pop(name) for name in SLOW if name in contenders}
        samples = measure.interleave(contenders, rounds if last else min(rounds, 3))
        points.append(point(level, samples))
        if last:
            base = samples[BASE]
            samples |= measure.interleave(slow, min(rounds, 3), warm_up=0)
            report.rows += judged(samples, base, level, size(cluster))
    note = "Wall time, processor time and memory above an empty playbook, and bytes of the whole list on the wire are 26 KB a node."
    report.growth.append({"name": "GPU nodes among all nodes", "note": note, "points": points})


def acts(where: Surroundings) -> dict[str, measure.Contender]:
    def lookup(selector: str) -> dict[str, t.Any]:
        options = f"label_selector='{selector}', " if selector else ""
        return {"ansible.builtin.debug": {"msg": f"{{{{ query('accelerators.openshift.gpu_nodes', {options}query='[].name') }}}}"}}

    def info(**options: t.Any) -> dict[str, t.Any]:
        return {"kubernetes.core.k8s_info": {"api_version": "v1", "kind": "Node", **options}}

    other = {"accelerators.openshift.gpu_plan": {"pools": [row_growth.pool(0)], "platform": "aws"}}
    selector = f"{objects.GPU_LABEL}=true"
    plays = {
        BASE: where.write("scale-base", []),
        SELECTED: where.write("scale-selected", [lookup(selector)]),
        SCAN: where.write("scale-scan", [lookup("")]),
        LOADED: where.write("scale-loaded", [other]),
        SELECTED_LATER: where.write("scale-selected-later", [other, lookup(selector)]),
        SCAN_LATER: where.write("scale-scan-later", [other, lookup("")]),
        PEER_SELECTED: where.write("scale-peer", [info(label_selectors=[selector])]),
        PEER_SCAN: where.write("scale-peer-scan", [info()]),
    }
    commands = {KUBECTL_SELECTED: ["-l", selector], KUBECTL_SCAN: []}
    client = where.cluster.client if where.cluster else None
    assert client
    return {
        HTTP_SELECTED: lambda _turn: bare(client, selector),
        HTTP_SCAN: lambda _turn: bare(client, None),
        **{name: lambda _turn, path=path: where.play(path) for name, path in plays.items()},
        **{name: lambda _turn, words=words: where.kubectl("get", "nodes", "-o", "name", *words) for name, words in commands.items()},
    }


def bare(client: Client, selector: str | None) -> measure.Sample:
    """All pages of 500, read and not looked into: what the server and the wire take."""
    query = {"limit": "500"} | ({"labelSelector": selector} if selector else {})
    started, requests = time.monotonic(), 0
    while True:
        answer = client._pool.request("GET", f"{client.server}/api/v1/nodes?{urlencode(query)}", headers=client._headers)
        requests += 1
        further = re.search(rb'"continue":"([^"]+)"', answer.data[:2000])
        if not further:
            return measure.Sample(time.monotonic() - started, requests=requests)
        query["continue"] = further.group(1).decode()


def fill(cluster: BenchCluster, numbers: range) -> None:
    with ThreadPoolExecutor(8) as threads:
        for _done in threads.map(lambda number: cluster.client.create(objects.node(number)), numbers):
            pass


def size(cluster: BenchCluster) -> float:
    """KB of one node, with everything that the server adds."""
    return len(json.dumps(cluster.client.get("v1", "nodes", objects.node(0)["metadata"]["name"]))) / 1000


def judged(samples: Samples, base: list[measure.Sample], nodes: int, kilobytes: float) -> list[Row]:
    def net(name: str, zero: list[measure.Sample] = base) -> list[float]:
        return measure.over(samples[name], zero[: len(samples[name])])

    def time_row(name: str, one: str, zero: str, other: str, also: dict[str, str]) -> Row:
        ours, peer = net(one, samples[zero]), net(other)
        ratio = statistics.median(ours) / statistics.median(peer)
        return Row(
            metric="8",
            name=f"{nodes} nodes of {kilobytes:.0f} KB: {name}",
            unit="s",
            runs=len(ours),
            ours=measure.values(ours),
            peers={other: measure.values(peer), **{f"{key} (whole)": measure.values(measure.seconds(samples[key])) for key in also.values()}},
            target="<= 1/30 of k8s_info",
            met=ratio <= 1 / 30,
            ratio=round(ratio, 5),
            note=f"above {zero}; of it the API server and the wire, by bare HTTP: {statistics.median(measure.seconds(samples[also['http']])):.2f} s",
        )

    def memory_row(name: str, one: str, other: str, kubectl: str, later: str, limit: int) -> Row:
        floor = statistics.median(sample.rss for sample in base)
        loaded = statistics.median(sample.rss for sample in samples[LOADED])
        extra = {key: [sample.rss - floor for sample in samples[key]] for key in (one, other)}
        return Row(
            metric="9",
            name=f"{nodes} nodes: {name}, memory above an empty playbook",
            unit="MiB",
            runs=len(extra[one]),
            ours=measure.values(extra[one], 1),
            peers={other: measure.values(extra[other], 1), f"{kubectl} (whole)": measure.values([sample.rss for sample in samples[kubectl]], 1)},
            target=f"<= {limit} MiB",
            met=statistics.median(extra[one]) <= limit,
            note=f"{loaded - floor:.0f} MiB of it is the client package; above a playbook of another task of ours it is "
            f"{statistics.median(sample.rss for sample in samples[later]) - loaded:.0f} MiB",
        )

    by_label, by_scan = {"kubectl": KUBECTL_SELECTED, "http": HTTP_SELECTED}, {"kubectl": KUBECTL_SCAN, "http": HTTP_SCAN}
    return [
        time_row("GPU nodes by label, the only task, the client is loaded for it", SELECTED, BASE, PEER_SELECTED, by_label),
        time_row("GPU nodes by label, as one more task", SELECTED_LATER, LOADED, PEER_SELECTED, by_label),
        time_row("GPU nodes found by looking at all, the only task", SCAN, BASE, PEER_SCAN, by_scan),
        time_row("GPU nodes found by looking at all, as one more task", SCAN_LATER, LOADED, PEER_SCAN, by_scan),
        memory_row("GPU nodes by label", SELECTED, PEER_SELECTED, KUBECTL_SELECTED, SELECTED_LATER, 15),
        memory_row("GPU nodes found by looking at all", SCAN, PEER_SCAN, KUBECTL_SCAN, SCAN_LATER, 50),
    ]


def point(nodes: int, samples: Samples) -> dict[str, t.Any]:
    found: dict[str, t.Any] = {"nodes": nodes}
    base = samples[BASE]
    for name, short in ((SELECTED, "by label"), (SCAN, "all")):
        some = samples[name]
        found[f"{short}: s"] = round(statistics.median(measure.over(some, base)), 2)
        found[f"{short}: processor s"] = round(statistics.median(one.cpu - zero.cpu for one, zero in zip(some, base, strict=True)), 2)
        found[f"{short}: MiB"] = round(statistics.median(one.rss for one in some) - statistics.median(one.rss for one in base))
        found[f"{short}: requests"] = some[-1].requests
    return found
