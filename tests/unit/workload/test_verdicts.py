"""Verdicts on figures: against a table, a baseline and the peers."""

from __future__ import annotations

import pytest

from ansible_collections.accelerators.openshift.plugins.module_utils._workload import verdicts
from ansible_collections.accelerators.openshift.plugins.module_utils._workload.expectations import Expectation
from ansible_collections.accelerators.openshift.plugins.module_utils._workload.programs.program import Figure
from ansible_collections.accelerators.openshift.plugins.module_utils._workload.verdicts import Reading


def reading(node: str, value: float, better: str = "higher", **more: object) -> Reading:
    figure = Figure("bf16" if better == "higher" else "latency", value, "x", f"GPU-{node}", better)  # type: ignore[arg-type]
    return Reading(node, figure, **more)  # type: ignore[arg-type]


def codes(*readings: Reading, tolerance: float = 0.1) -> list[str]:
    return [one.code for one in verdicts.judge(readings, tolerance)]


def test_one_slow_gpu_among_a_hundred_is_named() -> None:
    many = [reading(f"n{number}", 600.0 + number % 7) for number in range(99)]
    found = verdicts.judge([*many, reading("slow", 500.0)], 0.1)
    assert [one.reading.node for one in found if one.code] == ["slow"]
    assert found[-1].peers == 603.0


def test_of_two_only_the_slower_one_can_be_slow() -> None:
    assert codes(reading("a", 600.0), reading("b", 500.0)) == ["", "WORK-PEER"]
    assert codes(reading("a", 600.0), reading("b", 560.0)) == ["", ""]
    assert codes(reading("a", 600.0)) == [""]


def test_where_less_is_better_more_is_worse() -> None:
    assert codes(reading("a", 10.0, "lower"), reading("b", 12.0, "lower")) == ["", "WORK-PEER"]


def test_the_gravest_reason_is_the_code() -> None:
    wanted = Expectation(550.0, "table")
    low = reading("a", 500.0, expected=wanted, baseline=600.0)
    fallen = reading("a", 560.0, expected=wanted, baseline=650.0)
    good = reading("a", 590.0, expected=wanted, baseline=650.0)
    assert [codes(one) for one in (low, fallen, good)] == [["WORK-LOW"], ["WORK-BASELINE"], [""]]


def test_a_figure_is_compared_with_figures_of_its_kind_only() -> None:
    node = Reading("a", Figure("bf16", 5000.0, "x"))
    assert codes(reading("a", 600.0), node, reading("b", 610.0)) == ["", "", ""]


@pytest.mark.parametrize("number", [4000])
def test_thousands_of_figures(number: int) -> None:
    readings = [reading(f"n{index}", 600.0) for index in range(number)]
    assert codes(*readings, reading("slow", 400.0)).index("WORK-PEER") == number
