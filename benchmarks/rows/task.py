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
from measure import Report, Row, Sample, Samples, Target

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

    samples = measure.interleave(
        {
            f"{name}/{more}": contender(name, more)
            for name, (_task, count, _environment) in kinds.items()
            for more in (0, count)
        },
        rounds,
    )
    counts = {name: count for name, (_task, count, _environment) in kinds.items()}
    processor = _slopes(samples, counts, operator.attrgetter("cpu"))
    shares = ", ".join(
        f"{name} {statistics.median(numbers) * 1000:.0f} ms" for name, numbers in processor.items()
    )
    cost = _slopes(samples, counts, operator.attrgetter("seconds"))
    report.rows += judged(cost, f"processor time of a task: {shares}")


def _slopes(
    samples: Samples, counts: t.Mapping[str, int], read: t.Callable[[Sample], float]
) -> dict[str, list[float]]:
    """Return what one more task costs, by round; counts: how many more tasks the longer playbook has."""
    return {
        name: [
            (read(many) - read(one)) / count
            for many, one in zip(samples[f"{name}/{count}"], samples[f"{name}/0"], strict=True)
        ]
        for name, count in counts.items()
    }


def judged(cost: t.Mapping[str, t.Sequence[float]], note: str) -> list[Row]:
    def row(metric: str, name: str, one: str, other: str, target: Target, note: str = "") -> Row:
        numbers = {key: cost[key] for key in (one, other)}
        return measure.compared(metric, name, numbers, one, other, target, note)

    in_process, as_module = "one more task, in process", "one more task, as a real module"
    return [
        row("3", in_process, OURS, EMPTY, Target("<= 2 x empty action plugin", 2.0), note),
        row("3", in_process, OURS, PEER, Target("<= 1/20 of kubernetes.core", 1 / 20)),
        row("4", as_module, OURS_MODULE, TRIVIAL, Target("<= 1.35 x trivial module", 1.35)),
        row("4", as_module, OURS_MODULE, PEER, Target("<= 0.55 x kubernetes.core", 0.55)),
    ]
