"""How `make bench` measures, judges and shows."""

from __future__ import annotations

import os
import sys
import typing as t
from pathlib import Path

import measure
import pytest
import report
import yaml
from measure import Sample
from rows import first_gpu

from openshift_sandbox import scenario

Data = dict[str, t.Any]
RESULTS: t.Final[Data] = {
    "machine": {
        "cpus": 2,
        "cpu": "a processor",
        "memory_gib": 24,
        "python": "3.11.7",
        "versions": {"urllib3": "2"},
    },
    "parts": {"playbook": {"date": "2026-11-21 20:14 UTC", "rounds": 9, "load": [0.1, 0.2]}},
}


def test_a_missed_target_is_shown_as_missed() -> None:
    row = measure.Row(
        "1",
        "claim",
        "s",
        9,
        {"median": 2.0, "p99": 3.0},
        {"peer": {"median": 1.0, "p99": 1.5}},
        "< 1",
        False,
        2.0,
    )
    results = {**RESULTS, "rows": [{"part": "playbook", **row.data()}]}
    assert (
        "| 1 | claim | 2.00 s (p99 3.00 s) | peer 1.00 s (p99 1.50 s) | < 1 | ratio 2: **missed** |"
        in report.shown(report.README.read_text(), results)
    )


@pytest.mark.parametrize(
    ("ratio", "text"), [(2.0, "ratio 2"), (0.05, "1/20"), (0.0, "ratio 0"), (-0.1, "nothing above the base")]
)
def test_ratios_as_people_read_them(ratio: float, text: str) -> None:
    row = measure.Row("1", "claim", "s", 9, {"median": 2.0, "p99": 3.0}, {}, "< 1", True, ratio)
    assert f": {text}, target" in report.line(row)


@pytest.mark.parametrize(("count", "rank"), [(1, 1), (9, 9), (99, 99), (100, 99), (200, 198)])
def test_p99_by_nearest_rank(count: int, rank: int) -> None:
    assert measure.values(map(float, range(1, count + 1)))["p99"] == rank


def test_what_is_above_the_base_is_taken_round_by_round() -> None:
    assert measure.over([Sample(3.0), Sample(5.0)], [Sample(1.0), Sample(2.0)]) == [2.0, 3.0]


@pytest.mark.parametrize(
    ("ours", "target", "is_met"),
    [
        (2.0, measure.Target("<= 2 x", 2.0), True),
        (2.1, measure.Target("<= 2 x", 2.0), False),
        (0.9, measure.FASTER, True),
        (1.0, measure.FASTER, False),
    ],
)
def test_one_contender_is_compared_with_another(ours: float, target: measure.Target, is_met: bool) -> None:
    row = measure.compared(
        "1", "claim", {"ours": [ours], "peer": [1.0], "base": [0.5]}, "ours", "peer", target
    )
    assert (row.met, row.ratio, row.target, row.runs) == (is_met, ours, target.text, 1)
    assert list(row.peers) == ["peer", "base"]


def test_contenders_take_turns_and_the_warm_up_is_not_counted() -> None:
    order: list[str] = []

    def contender(name: str) -> measure.Contender:
        def act(turn: int) -> Sample:
            order.append(f"{name}{turn}")
            return Sample(float(turn))

        return act

    samples = measure.interleave({"a": contender("a"), "b": contender("b")}, 2)
    assert order == ["a0", "b0", "a1", "b1", "a2", "b2"]
    assert [one.seconds for one in samples["a"]] == [1.0, 2.0]


def test_a_program_is_not_charged_with_the_memory_of_the_harness(tmp_path: Path) -> None:
    held = bytearray(os.urandom(1 << 20) * 200)
    sample = measure.run([sys.executable, "-S", "-c", "print('done')"], os.environ, tmp_path / "output.log")
    assert held
    assert sample.output == "done\n"
    assert 1 < sample.rss < 100
    with pytest.raises(measure.RunError, match="ended with 3"):
        measure.run([sys.executable, "-S", "-c", "raise SystemExit(3)"], os.environ, tmp_path / "output.log")


def test_the_critical_path_is_that_of_the_slowest_pool_and_of_what_follows() -> None:
    found = scenario.load(first_gpu.SCENARIO)
    pools = yaml.safe_load(first_gpu.POOLS.read_text())["gpu_pools"]
    assert first_gpu.critical_path(found, pools) == 80 + 30 + 5 + 5
    assert first_gpu.critical_path(found, pools[1:]) == 40 + 30 + 5 + 5
