# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Rows 1 and 2: a flat playbook of twelve objects, first run and re-run, against peers that do the same."""

from __future__ import annotations

import json
import statistics
import time
import typing as t

import measure
import objects
from measure import FASTER, Report, Row, Sample, Samples, Target

from openshift_sandbox.client import Client, Object, resource_path
from playbooks import EMPTY, Surroundings, ours, peer, peer_list

OURS: t.Final = "ours, 12 tasks"
OURS_LIST: t.Final = "ours, 1 task"
PEER: t.Final = "kubernetes.core, 12 tasks"
PEER_LIST: t.Final = "kubernetes.core, 1 task with a list"
KUBECTL: t.Final = "kubectl apply --server-side"
HTTP: t.Final = "bare HTTP, keep-alive"
BASE: t.Final = EMPTY
SLUGS: t.Final = {
    BASE: "base",
    OURS: "ours",
    OURS_LIST: "ourslist",
    PEER: "peer",
    PEER_LIST: "peerlist",
    KUBECTL: "kubectl",
    HTTP: "http",
}


def measured(
    where: Surroundings, rounds: int, names: t.Collection[str] = tuple(SLUGS)
) -> tuple[Samples, Samples]:
    """First runs and re-runs; every contender and round has objects of its own."""
    client, again = where.cluster.client, False

    def contender(name: str) -> measure.Contender:
        def act(turn: int) -> Sample:
            wanted = objects.twelve(f"{SLUGS[name]}-{turn}")
            if name == HTTP:
                return _bare(client, wanted, again)
            if name == KUBECTL:
                path = where.directory / "objects.json"
                path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": wanted}))
                return where.kubectl("apply", "--server-side", "-f", path)
            tasks = {
                BASE: [],
                OURS: [ours(one) for one in wanted],
                OURS_LIST: [ours(*wanted)],
                PEER: [peer(one) for one in wanted],
            }
            return where.play(where.write(SLUGS[name], tasks.get(name, [peer_list(wanted)])))

        return act

    contenders = {name: contender(name) for name in names}
    first: Samples = {name: [] for name in names}
    second: Samples = {name: [] for name in names}
    for turn in range(rounds + 1):
        for samples in (first, second):
            again = samples is second
            for name, act in contenders.items():
                samples[name].append(act(turn))
    # The first round filled caches: byte code, kubernetes.core's and kubectl's discovery.
    return _without_the_first(first), _without_the_first(second)


def _without_the_first(samples: Samples) -> Samples:
    return {name: some[1:] for name, some in samples.items()}


def _bare(client: Client, wanted: list[Object], again: bool) -> Sample:
    """Discovery of the small client is paid in the warm-up round."""
    started = time.monotonic()
    for one in wanted:
        if again:
            metadata = one["metadata"]
            client.checked(
                "GET",
                resource_path(
                    one["apiVersion"],
                    client.plural(one["apiVersion"], one["kind"]),
                    metadata["name"],
                    metadata.get("namespace"),
                ),
            )
        else:
            client.apply(one)
    return Sample(time.monotonic() - started, requests=len(wanted), writes=0 if again else len(wanted))


def rows(where: Surroundings, report: Report, rounds: int) -> None:
    for metric, samples in zip(("1", "2"), measured(where, rounds), strict=True):
        report.rows += judged(metric, samples, "first run" if metric == "1" else "re-run")


def judged(metric: str, samples: Samples, which: str) -> list[Row]:
    base = samples[BASE]
    net = {
        name: measure.over(some, base)
        for name, some in samples.items()
        if name in (OURS, OURS_LIST, PEER, PEER_LIST)
    }
    text = f"12 objects, {which}"
    made = [
        measure.compared(
            metric,
            f"{text}: net of an empty playbook",
            net,
            OURS,
            PEER,
            Target("<= 1/12 of kubernetes.core task by task", 1 / 12),
        ),
        *whole(
            metric,
            text,
            samples,
            Target("<= 1.8 x empty playbook", 1.8),
            f"bare HTTP and kubectl start no Ansible; {_load(samples)}",
        ),
    ]
    if metric == "2":
        made.append(_counts(samples))
    return made


def whole(metric: str, text: str, samples: Samples, target: Target, note: str) -> list[Row]:
    """Return the rows of whole runs: against an empty playbook, whose target is given, and against lists."""
    numbers = {name: measure.seconds(some) for name, some in samples.items()}
    lists = f"{text}: whole, against one task with a list"
    one_task = f"{text}: whole, one task of ours against one of theirs"
    return [
        measure.compared(metric, f"{text}: whole", numbers, OURS, BASE, target, note),
        measure.compared(metric, lists, numbers, OURS, PEER_LIST, FASTER),
        measure.compared(metric, one_task, numbers, OURS_LIST, PEER_LIST, FASTER),
    ]


def _counts(samples: Samples) -> Row:
    writes = {name: [float(one.writes) for one in some] for name, some in samples.items() if name != BASE}
    reads = max(one.requests - one.writes for one in samples[OURS])
    note = ", ".join(
        f"{name}: {some[-1].requests} requests" for name, some in samples.items() if name != BASE
    )
    peers = {name: measure.values(numbers) for name, numbers in writes.items() if name != OURS}
    met = not any(writes[OURS]) and reads <= 12
    target = "0 writes, <= 1 read an object"
    return Row(
        "2",
        "12 objects, re-run: writes",
        "requests",
        len(writes[OURS]),
        measure.values(writes[OURS]),
        peers,
        target,
        met,
        note=note,
    )


def _load(samples: Samples) -> str:
    return "processor time of a run: " + ", ".join(
        f"{name} {statistics.median(one.cpu for one in some):.2f} s"
        for name, some in samples.items()
        if name != HTTP
    )
