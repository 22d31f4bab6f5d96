# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Rows 8 and 9: which of 5,000 nodes of 26 KB have GPUs, how long the answer takes and how much memory.

A table shows how both grow with the number of nodes.
"""

from __future__ import annotations

import json
import statistics
import typing as t

import fleet
import measure
import objects
import row_growth
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
# The last but one is where everybody takes part, the last is the stretch.
LEVELS: t.Final = (10, 100, 1000, 5000, 7500)
SMALL: t.Final = (10, 200, 300)
SELECTOR: t.Final = f"{objects.GPU_LABEL}=true"
# They take most of a minute, or of ten seconds, and have fewer turns.
SLOW: t.Final = {PEER_SELECTED: 3, PEER_SCAN: 3, KUBECTL_SCAN: 3}
GROWING: t.Final = (LOADED, SELECTED_LATER, SCAN_LATER)
FEW: t.Final = 3
FULL_ROUNDS: t.Final = 7
STRETCH_ROUNDS: t.Final = 5
RESULT_KIB: t.Final = 64
# Linear, and a tenth for the noise.
ALLOWANCE: t.Final = 1.1

Lookup = dict[str, t.Any]


def rows(where: Surroundings, report: Report, rounds: int) -> None:
    cluster = where.cluster
    assert cluster
    levels = SMALL if where.small else LEVELS
    full, stretch = levels[-2:]
    points, measured, filled = [], {}, 0
    for level in levels:
        fleet.fill(cluster, range(filled, level))
        filled = level
        contenders = acts(where)
        slow = {name: contenders.pop(name) for name in SLOW}
        if level != full:
            contenders = {name: act for name, act in contenders.items() if name in GROWING}
        turns = min(rounds, {full: FULL_ROUNDS, stretch: STRETCH_ROUNDS}.get(level, FEW))
        samples = measure.interleave(contenders, turns)
        if level == full:
            for name, act in slow.items():
                samples |= measure.interleave({name: act}, min(rounds, SLOW[name]), warm_up=0)
            report.rows += [*judged(samples, level, fleet.size(cluster)), *results(where, level)]
        measured[level] = samples
        points.append(point(level, samples, fleet.size(cluster)))
    report.rows += linear(measured, full, stretch)
    note = (
        "The lookup as second task, above a playbook of the first task alone, "
        "so that loading our code is in both. "
        "MB: the whole list as JSON. Nodes were made Ready by KWOK, which stands still meanwhile."
    )
    report.growth.append({"name": "GPU nodes among all nodes", "note": note, "points": points})


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
    assert where.cluster
    client = where.cluster.client
    other = {"accelerators.openshift.gpu_plan": {"pools": [row_growth.pool(0)], "platform": "aws"}}
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
    base = samples[BASE]

    def net(name: str, zero: str = BASE) -> list[float]:
        some = samples[name]
        return measure.over(some, samples[zero][: len(some)])

    def time_row(name: str, one: str, zero: str, other: str, also: dict[str, str]) -> Row:
        ours, peer = net(one, zero), net(other)
        ratio = statistics.median(ours) / statistics.median(peer)
        return Row(
            metric="8",
            name=f"{nodes:,} nodes of {kilobytes:.0f} KB: {name}",
            unit="s",
            runs=len(ours),
            ours=measure.values(ours),
            peers={
                other: measure.values(peer),
                **{f"{key} (whole)": measure.values(measure.seconds(samples[key])) for key in also.values()},
            },
            target="<= 1/30 of k8s_info",
            met=ratio <= 1 / 30,
            ratio=round(ratio, 5),
            note=f"above {zero}; of it the API server and the wire, by bare HTTP: "
            f"{statistics.median(measure.seconds(samples[also['http']])):.2f} s; "
            f"{samples[one][-1].requests} requests; {other} had {len(peer)} turns",
        )

    def memory_row(name: str, one: str, other: str, kubectl: str, later: str, limit: int) -> Row:
        floor = statistics.median(sample.rss for sample in base)
        loaded = statistics.median(sample.rss for sample in samples[LOADED])
        extra = {key: [sample.rss - floor for sample in samples[key]] for key in (one, other)}
        return Row(
            metric="9",
            name=f"{nodes:,} nodes: {name}, memory above an empty playbook",
            unit="MiB",
            runs=len(extra[one]),
            ours=measure.values(extra[one], 1),
            peers={
                other: measure.values(extra[other], 1),
                f"{kubectl} (whole)": measure.values([sample.rss for sample in samples[kubectl]], 1),
            },
            target=f"<= {limit} MiB",
            met=statistics.median(extra[one]) <= limit,
            note=f"{loaded - floor:.0f} MiB of it is what a first task of ours loads; "
            "above a playbook of another task it is "
            f"{statistics.median(sample.rss for sample in samples[later]) - loaded:.0f} MiB",
        )

    by_label, by_scan = (
        {"kubectl": KUBECTL_SELECTED, "http": HTTP_SELECTED},
        {"kubectl": KUBECTL_SCAN, "http": HTTP_SCAN},
    )
    return [
        time_row("GPU nodes by label, the only task", SELECTED, BASE, PEER_SELECTED, by_label),
        time_row("GPU nodes by label, as one more task", SELECTED_LATER, LOADED, PEER_SELECTED, by_label),
        time_row("GPU nodes found by looking at all, the only task", SCAN, BASE, PEER_SCAN, by_scan),
        time_row(
            "GPU nodes found by looking at all, as one more task", SCAN_LATER, LOADED, PEER_SCAN, by_scan
        ),
        memory_row("GPU nodes by label", SELECTED, PEER_SELECTED, KUBECTL_SELECTED, SELECTED_LATER, 15),
        memory_row("GPU nodes found by looking at all", SCAN, PEER_SCAN, KUBECTL_SCAN, SCAN_LATER, 50),
    ]


def results(where: Surroundings, nodes: int) -> list[Row]:
    """What a task hands to Ansible, as JSON; each counted once, since it is the same every time."""
    log = where.directory / "results.jsonl"

    def kib(name: str, task: Lookup) -> float:
        log.unlink(missing_ok=True)
        where.play(where.write(name, [task]), ANSIBLE_CALLBACKS_ENABLED="moments", BENCH_MOMENTS=str(log))
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


def linear(measured: dict[int, Samples], full: int, stretch: int) -> list[Row]:
    made, limit = [], stretch / full * ALLOWANCE
    for name, what in ((SELECTED_LATER, "by label"), (SCAN_LATER, "found by looking at all")):
        more, less = (
            measure.over(measured[level][name], measured[level][LOADED]) for level in (stretch, full)
        )
        ratio = statistics.median(more) / statistics.median(less)
        made.append(
            Row(
                metric="8",
                name=f"{stretch:,} nodes against {full:,}: GPU nodes {what}, as one more task",
                unit="s",
                runs=len(more),
                ours=measure.values(more),
                peers={f"ours, {full:,} nodes": measure.values(less)},
                target=f"linear: <= {limit:.2f} x ({stretch / full:g} x, and a tenth)",
                met=ratio <= limit,
                ratio=round(ratio, 4),
            )
        )
    return made


def point(nodes: int, samples: Samples, kilobytes: float) -> dict[str, t.Any]:
    found: dict[str, t.Any] = {"nodes": nodes, "MB": round(nodes * kilobytes / 1000, 1)}
    base = samples[LOADED]
    for name, short in ((SELECTED_LATER, "by label"), (SCAN_LATER, "all")):
        some = samples[name]
        found[f"{short}: s"] = round(statistics.median(measure.over(some, base)), 2)
        found[f"{short}: processor s"] = round(
            statistics.median(one.cpu - zero.cpu for one, zero in zip(some, base, strict=True)), 2
        )
        found[f"{short}: MiB"] = round(
            statistics.median(one.rss for one in some) - statistics.median(one.rss for one in base)
        )
        found[f"{short}: requests"] = some[-1].requests - base[-1].requests
    return found
