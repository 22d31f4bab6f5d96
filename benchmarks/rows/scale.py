# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Rows 8 and 9: which of 5,000 nodes of 26 KB have GPUs, how long the answer takes and how much memory."""

from __future__ import annotations

import json
import statistics
import typing as t
from dataclasses import dataclass

import fleet
import measure
import objects
from measure import Report, Row, Samples

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


@dataclass(frozen=True)
class Way:
    """One way to find the GPU nodes, and the contenders that take it.

    alone, later: ours as the only task and as one more task. limit: MiB that ours may take.
    """

    text: str
    alone: str
    later: str
    peer: str
    http: str
    kubectl: str
    limit: int


WAYS: t.Final = (
    Way(
        "GPU nodes by label",
        SELECTED,
        SELECTED_LATER,
        PEER_SELECTED,
        HTTP_SELECTED,
        KUBECTL_SELECTED,
        limit=15,
    ),
    Way(
        "GPU nodes found by looking at all",
        SCAN,
        SCAN_LATER,
        PEER_SCAN,
        HTTP_SCAN,
        KUBECTL_SCAN,
        limit=50,
    ),
)
NODES: t.Final = 5000
FEW_NODES: t.Final = 200
SELECTOR: t.Final = f"{objects.GPU_LABEL}=true"
# They take most of a minute, or of ten seconds, and have fewer turns.
SLOW: t.Final = {PEER_SELECTED: 3, PEER_SCAN: 3, KUBECTL_SCAN: 3}
ROUNDS: t.Final = 7
RESULT_KIB: t.Final = 64

Lookup = dict[str, t.Any]


def rows(where: Surroundings, report: Report, rounds: int) -> None:
    cluster = where.cluster
    nodes = FEW_NODES if where.small else NODES
    fleet.fill(cluster, range(nodes))
    contenders = acts(where)
    slow = {name: contenders.pop(name) for name in SLOW}
    samples = measure.interleave(contenders, min(rounds, ROUNDS))
    for name, act in slow.items():
        samples |= measure.interleave({name: act}, min(rounds, SLOW[name]), warm_up=0)
    report.rows += [*judged(samples, nodes, fleet.size(cluster)), *results(where, nodes)]


def lookup(selector: str, query: str = "[].name") -> Lookup:
    options = [f"label_selector='{selector}'"] * bool(selector) + [f"query='{query}'"] * bool(query)
    return {
        "ansible.builtin.debug": {
            "msg": f"{{{{ query({', '.join([repr('accelerators.openshift.gpu_nodes'), *options])}) }}}}"
        }
    }


def info(**options: t.Any) -> Lookup:
    return {"kubernetes.core.k8s_info": {"api_version": "v1", "kind": "Node", **options}}


def acts(where: Surroundings) -> dict[str, measure.Contender]:
    client = where.cluster.client
    pool = {
        "name": "bench",
        "replicas": 1,
        "candidates": [{"instance_type": "g4dn.xlarge", "zones": ["us-east-2a", "us-east-2b"]}],
    }
    other = {"accelerators.openshift.gpu_plan": {"pools": [pool], "platform": "aws"}}
    plays = {
        BASE: where.write("scale-base", []),
        SELECTED: where.write("scale-selected", [lookup(SELECTOR)]),
        SCAN: where.write("scale-scan", [lookup("")]),
        LOADED: where.write("scale-loaded", [other]),
        SELECTED_LATER: where.write("scale-selected-later", [other, lookup(SELECTOR)]),
        SCAN_LATER: where.write("scale-scan-later", [other, lookup("")]),
        PEER_SELECTED: where.write("scale-peer", [info(label_selectors=[SELECTOR])]),
        PEER_SCAN: where.write("scale-peer-scan", [info()]),
    }
    commands = {KUBECTL_SELECTED: ["-l", SELECTOR], KUBECTL_SCAN: []}
    return {
        HTTP_SELECTED: lambda _turn: fleet.bare(client, SELECTOR),
        HTTP_SCAN: lambda _turn: fleet.bare(client, None),
        **{name: measure.same_each_turn(where.play, path) for name, path in plays.items()},
        **{
            name: measure.same_each_turn(where.kubectl, "get", "nodes", "-o", "name", *words)
            for name, words in commands.items()
        },
    }


def judged(samples: Samples, nodes: int, kilobytes: float) -> list[Row]:
    text = f"{nodes:,} nodes of {kilobytes:.0f} KB"
    rows = []
    for way in WAYS:
        rows += [
            _time_row(samples, f"{text}: {way.text}, the only task", way, way.alone, BASE),
            _time_row(samples, f"{text}: {way.text}, as one more task", way, way.later, LOADED),
        ]
    return rows + [_memory_row(samples, f"{nodes:,} nodes: {way.text}", way) for way in WAYS]


def _time_row(samples: Samples, name: str, way: Way, one: str, zero: str) -> Row:
    ours, peer = (
        measure.over(samples[some], samples[base][: len(samples[some])])
        for some, base in ((one, zero), (way.peer, BASE))
    )
    ratio = statistics.median(ours) / statistics.median(peer)
    whole = {key: measure.seconds(samples[key]) for key in (way.kubectl, way.http)}
    return Row(
        metric="8",
        name=name,
        unit="s",
        runs=len(ours),
        ours=measure.values(ours),
        peers={
            way.peer: measure.values(peer),
            **{f"{key} (whole)": measure.values(times) for key, times in whole.items()},
        },
        target="<= 1/30 of k8s_info",
        met=ratio <= 1 / 30,
        ratio=round(ratio, 5),
        note=f"above {zero}; of it the API server and the wire, by bare HTTP: "
        f"{statistics.median(whole[way.http]):.2f} s; "
        f"{samples[one][-1].requests} requests; {way.peer} had {len(peer)} turns",
    )


def _memory_row(samples: Samples, name: str, way: Way) -> Row:
    floor, loaded, later = (
        statistics.median(sample.rss for sample in samples[key]) for key in (BASE, LOADED, way.later)
    )
    ours, peer = ([sample.rss - floor for sample in samples[key]] for key in (way.alone, way.peer))
    return Row(
        metric="9",
        name=f"{name}, memory above an empty playbook",
        unit="MiB",
        runs=len(ours),
        ours=measure.values(ours, 1),
        peers={
            way.peer: measure.values(peer, 1),
            f"{way.kubectl} (whole)": measure.values([sample.rss for sample in samples[way.kubectl]], 1),
        },
        target=f"<= {way.limit} MiB",
        met=statistics.median(ours) <= way.limit,
        note=f"{loaded - floor:.0f} MiB of it is what a first task of ours loads; "
        f"above a playbook of another task it is {later - loaded:.0f} MiB",
    )


def results(where: Surroundings, nodes: int) -> list[Row]:
    """What a task hands to Ansible, as JSON; each counted once, since it is the same every time."""
    log = where.directory / "results.jsonl"

    def kib(name: str, task: Lookup) -> float:
        log.unlink(missing_ok=True)
        where.play(where.write(name, [task]), ANSIBLE_CALLBACKS_ENABLED="sizes", BENCH_SIZES=str(log))
        return float(json.loads(log.read_text().splitlines()[-1])["bytes"]) / 1024

    peer = {PEER_SELECTED: measure.values([kib("result-peer", info(label_selectors=[SELECTOR]))], 1)}
    made = []
    for name, size in (
        ("names of the GPU nodes", kib("result-names", lookup(SELECTOR))),
        ("the GPU nodes as the lookup gives them without a query", kib("result-whole", lookup(SELECTOR, ""))),
    ):
        text = f"{nodes:,} nodes: size of the task's result, {name}"
        made.append(
            Row(
                "9",
                text,
                "KiB",
                1,
                measure.values([size], 1),
                peer,
                f"<= {RESULT_KIB} KiB",
                size <= RESULT_KIB,
            )
        )
    return made
