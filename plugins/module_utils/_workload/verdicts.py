# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Verdicts on figures: against what a good card measures, the node's own baseline, and its peers."""

from __future__ import annotations

import bisect
import typing as t

from .expectations import Expectation
from .programs.program import Figure

# Why a figure is too low, the gravest first.
LOW, FALLEN, SLOWER = "WORK-LOW", "WORK-BASELINE", "WORK-PEER"


class Reading(t.NamedTuple):
    """A figure of a node, with what it is compared with. baseline: None without one."""

    node: str
    figure: Figure
    expected: Expectation | None = None
    baseline: float | None = None


class Verdict(t.NamedTuple):
    """A reading and what it means. peers: median of the others, None without others. code: empty if good."""

    reading: Reading
    peers: float | None
    code: str

    def as_result(self) -> dict[str, t.Any]:
        """Return it as the module returns it."""
        wanted = self.reading.expected
        source = wanted.source if wanted else ("peers" if self.peers is not None else "")
        return {
            **self.reading.figure._asdict(),
            "expected": wanted.value if wanted else None,
            "source": source,
            "peers": self.peers,
            "baseline": self.reading.baseline,
            "code": self.code,
        }


def judge(readings: t.Sequence[Reading], tolerance: float) -> list[Verdict]:
    """Judge the readings of one program on one kind of node.

    tolerance: share by which a figure may fall below its baseline, or below the median of the other devices
    that measured the same. Of two devices only the slower one can be too slow.
    """
    alike: dict[tuple[str, bool], list[Reading]] = {}
    for one in readings:
        alike.setdefault((one.figure.name, bool(one.figure.device)), []).append(one)
    found = {
        id(one): _judge(one, _median_of_others(one, sorted_values), tolerance)
        for group in alike.values()
        for sorted_values in [sorted(other.figure.value for other in group)]
        for one in group
    }
    return [found[id(one)] for one in readings]


def _median_of_others(one: Reading, values: t.Sequence[float]) -> float | None:
    """Return the median of the other values, None if there are none. values: all of them, sorted."""
    own, number = bisect.bisect_left(values, one.figure.value), len(values) - 1
    if not number:
        return None

    def other(index: int) -> float:
        return values[index if index < own else index + 1]

    middle = number // 2
    return other(middle) if number % 2 else (other(middle - 1) + other(middle)) / 2


def _judge(one: Reading, peers: float | None, tolerance: float) -> Verdict:
    share = 1 - tolerance
    if one.expected and _is_worse(one.figure, one.expected.value, 1):
        code = LOW
    elif one.baseline is not None and _is_worse(one.figure, one.baseline, share):
        code = FALLEN
    elif peers is not None and _is_worse(one.figure, peers, share):
        code = SLOWER
    else:
        code = ""
    return Verdict(one, peers, code)


def _is_worse(figure: Figure, than: float, share: float) -> bool:
    """Return whether the figure is worse than this share of the other value."""
    return figure.value < than * share if figure.better == "higher" else figure.value * share > than
