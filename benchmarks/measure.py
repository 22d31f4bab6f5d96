# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Times, memory and processor time of contenders that take turns, and what a row of the table is made of."""

from __future__ import annotations

import json
import math
import statistics
import subprocess
import sys
import typing as t
from dataclasses import asdict, dataclass, field
from pathlib import Path

Values = dict[str, float]
LAUNCHER: t.Final = Path(__file__).with_name("launch.py")


class RunError(Exception):
    """A contender failed; a benchmark of something that does not work would be worth nothing."""


@dataclass(frozen=True)
class Sample:
    """What one run took.

    seconds: wall time. cpu: user and system time with all children. rss: MiB of the largest process.
    requests, writes: what the API server logged.
    """

    seconds: float
    cpu: float = 0.0
    rss: float = 0.0
    output: str = ""
    requests: int = 0
    writes: int = 0


Contender = t.Callable[[int], Sample]
Samples = dict[str, list[Sample]]


def same_each_turn(act: t.Callable[..., Sample], *arguments: str | Path) -> Contender:
    """Return a contender that does the same in every turn."""
    return lambda _turn: act(*arguments)


@dataclass
class Row:
    """One measured claim: ours against its peers.

    ratio: what the target is about, where the target is a ratio.
    """

    metric: str
    name: str
    unit: str
    runs: int
    ours: Values
    peers: dict[str, Values]
    target: str
    met: bool | None
    ratio: float | None = None
    note: str = ""

    def data(self) -> dict[str, t.Any]:
        return asdict(self)


@dataclass(frozen=True)
class Target:
    """What the ratio of two medians may be at most, in words and as a number.

    allows_equal: the limit itself is still good enough.
    """

    text: str
    limit: float
    allows_equal: bool = True

    def is_met(self, ratio: float) -> bool:
        return ratio < self.limit or (self.allows_equal and ratio == self.limit)


FASTER: t.Final = Target("faster (< 1)", 1.0, allows_equal=False)


@dataclass
class Report:
    """The rows of one part."""

    rows: list[Row] = field(default_factory=list)


def run(argv: t.Sequence[str | Path], env: t.Mapping[str, str], log: Path) -> Sample:
    """One program from start to exit."""
    words, report = [str(word) for word in argv], log.with_suffix(".json")
    with log.open("wb") as output:
        launcher = [sys.executable, "-I", "-S", str(LAUNCHER), str(report), *words]
        subprocess.run(
            launcher,
            env=dict(env),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            cwd=log.parent,
            check=True,
        )
    text, found = log.read_text(errors="replace"), json.loads(report.read_text())
    if found["rc"]:
        raise RunError(f"{' '.join(words)} ended with {found['rc']}:\n{text[-3000:]}")
    return Sample(found["seconds"], found["cpu"], found["rss"], text)


def interleave(contenders: t.Mapping[str, Contender], rounds: int, warm_up: int = 1) -> Samples:
    """Run A B C A B C …, so that the rest of the machine disturbs all alike.

    Rounds of the warm-up do not count.
    """
    samples: Samples = {name: [] for name in contenders}
    for turn in range(rounds + warm_up):
        for name, contender in contenders.items():
            sample = contender(turn)
            if turn >= warm_up:
                samples[name].append(sample)
    return samples


def over(samples: t.Sequence[Sample], base: t.Sequence[Sample]) -> list[float]:
    """Seconds above the base of the same round."""
    return [one.seconds - zero.seconds for one, zero in zip(samples, base, strict=True)]


def values(numbers: t.Iterable[float], digits: int = 4) -> Values:
    """Median and 99th percentile (with fewer than 100 numbers, the largest)."""
    ordered = sorted(numbers)
    return {
        "median": round(statistics.median(ordered), digits),
        "p99": round(ordered[math.ceil(0.99 * len(ordered)) - 1], digits),
    }


def seconds(samples: t.Iterable[Sample]) -> list[float]:
    return [sample.seconds for sample in samples]


def compared(
    metric: str,
    name: str,
    numbers: t.Mapping[str, t.Sequence[float]],
    one: str,
    other: str,
    target: Target,
    note: str = "",
) -> Row:
    """Return the row of one contender against another, in seconds; all but the one are its peers."""
    ratio = statistics.median(numbers[one]) / statistics.median(numbers[other])
    return Row(
        metric=metric,
        name=name,
        unit="s",
        runs=len(numbers[one]),
        ours=values(numbers[one]),
        peers={key: values(some) for key, some in numbers.items() if key != one},
        target=target.text,
        met=target.is_met(ratio),
        ratio=round(ratio, 4),
        note=note,
    )
