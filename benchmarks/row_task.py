# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Rows 3 and 4: what one more task costs, in Ansible's worker and as a real module."""

from __future__ import annotations

import operator
import statistics
import typing as t

import measure
import objects
from measure import Report, Row

from playbooks import Surroundings, ours, peer

EMPTY: t.Final = "empty action plugin"
OURS: t.Final = "ours, in process"
OURS_MODULE: t.Final = "ours, as a module"
TRIVIAL: t.Final = "trivial module"
PEER: t.Final = "kubernetes.core.k8s"
ORDINARY: t.Final = {"ACCELERATORS_IN_PROCESS": "0"}


def rows(where: Surroundings, report: Report, rounds: int, light: int = 20, heavy: int = 4) -> None:
    """Measure a task that finds one ConfigMap unchanged.

    The cost is the slope: a playbook of one task against one of several.
    """
    assert where.cluster
    unchanged = objects.config_map("one-task")
    kinds: dict[str, tuple[dict[str, t.Any], int, dict[str, str]]] = {
        EMPTY: ({"empty": {}}, light, {}),
        OURS: (ours(unchanged), light, {}),
        TRIVIAL: ({"trivial": {}}, heavy, {}),
        OURS_MODULE: (ours(unchanged), heavy, ORDINARY),
        PEER: (peer(unchanged), heavy, {}),
    }
    where.play(where.write("prepare", [ours(unchanged)]))

    def contender(name: str, more: int) -> measure.Contender:
        task, _count, environment = kinds[name]
        path = where.write(f"task-{list(kinds).index(name)}-{more}", [task] * (1 + more))
        return lambda _turn: where.play(path, **environment)

    turns = {(name, more): contender(name, more) for name in kinds for more in (0, kinds[name][1])}
    samples = measure.interleave({f"{name}/{more}": act for (name, more), act in turns.items()}, rounds)
    cost, processor = (
        {
            name: [
                (read(many) - read(one)) / count
                for many, one in zip(samples[f"{name}/{count}"], samples[f"{name}/0"], strict=True)
            ]
            for name, (_task, count, _environment) in kinds.items()
        }
        for read in (operator.attrgetter("seconds"), operator.attrgetter("cpu"))
    )
    shares = ", ".join(
        f"{name} {statistics.median(numbers) * 1000:.0f} ms" for name, numbers in processor.items()
    )
    report.rows += [
        _row(
            "3",
            "one more task, in process",
            cost,
            OURS,
            EMPTY,
            "<= 2 x empty action plugin",
            2.0,
            f"processor time of a task: {shares}",
        ),
        _row("3", "one more task, in process", cost, OURS, PEER, "<= 1/20 of kubernetes.core", 1 / 20),
        _row(
            "4",
            "one more task, as a real module",
            cost,
            OURS_MODULE,
            TRIVIAL,
            "<= 1.35 x trivial module",
            1.35,
        ),
        _row(
            "4", "one more task, as a real module", cost, OURS_MODULE, PEER, "<= 0.55 x kubernetes.core", 0.55
        ),
    ]


def _row(
    metric: str,
    name: str,
    cost: dict[str, list[float]],
    one: str,
    other: str,
    target: str,
    limit: float,
    note: str = "",
) -> Row:
    ratio = statistics.median(cost[one]) / statistics.median(cost[other])
    peers = {other: measure.values(cost[other])}
    return Row(
        metric,
        name,
        "s",
        len(cost[one]),
        measure.values(cost[one]),
        peers,
        target,
        ratio <= limit,
        round(ratio, 4),
        note,
    )
