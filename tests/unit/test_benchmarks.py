"""What `make bench` has written: complete rows, and a README whose tables say the same."""

from __future__ import annotations

import json
import os
import re
import sys
import typing as t
from pathlib import Path

import measure
import pytest
import report
import yaml
from measure import Sample
from rows import first_gpu, many_pools
from unit import pool_builders

from openshift_sandbox import scenario
from playbooks import Reruns

Data = dict[str, t.Any]
RESULTS: t.Final[Data] = json.loads(report.RESULTS.read_text())
FIELDS: t.Final = {
    "part",
    "metric",
    "name",
    "unit",
    "runs",
    "ours",
    "peers",
    "target",
    "met",
    "ratio",
    "note",
}


@pytest.mark.parametrize(
    "row", RESULTS["rows"], ids=lambda row: f"{row['metric']}, {row['name']}, {row['target']}"
)
def test_a_row_says_everything(row: Data) -> None:
    assert set(row) == FIELDS
    assert 1 <= int(row["metric"]) <= 11
    assert row["name"]
    assert row["runs"] >= 1
    assert row["met"] in (True, False) if row["target"] else row["met"] is None
    assert isinstance(row["ratio"], float | int | None)
    for numbers in (row["ours"], *row["peers"].values()):
        assert isinstance(numbers["median"], float | int)
        assert numbers.get("p99", numbers["median"]) >= numbers["median"]
    assert row["part"] in RESULTS["parts"]


def test_rows_are_told_apart() -> None:
    told = [(row["metric"], row["name"], row["target"]) for row in RESULTS["rows"]]
    assert len(told) == len(set(told))


@pytest.mark.parametrize("part", RESULTS["parts"])
def test_a_part_says_when_and_beside_what(part: str) -> None:
    one = RESULTS["parts"][part]
    assert re.fullmatch(r"\d{4}-\d\d-\d\d \d\d:\d\d UTC", one["date"])
    assert one["rounds"] >= 1
    assert len(one["load"]) == 2
    assert any(entry["part"] == part for entry in (*RESULTS["rows"], *RESULTS["growth"]))


def test_the_machine_and_its_versions() -> None:
    assert RESULTS["machine"]["cpus"] >= 1
    assert set(RESULTS["machine"]["versions"]) == {*report.PACKAGES, "kubernetes.core"}


@pytest.mark.parametrize("one", RESULTS["growth"], ids=lambda one: one["name"])
def test_growth_has_one_shape_a_table(one: Data) -> None:
    assert len(one["points"]) >= 2
    assert len({tuple(point) for point in one["points"]}) == 1


def test_the_readme_shows_the_results() -> None:
    text = report.README.read_text()
    assert report.shown(text, RESULTS) == text, (
        "benchmarks/README.md was edited between its marks, or results.json by hand"
    )
    changed = {**RESULTS, "rows": [{**RESULTS["rows"][0], "name": "something else"}]}
    assert "something else" in report.shown(text, changed)


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
    results = {**RESULTS, "rows": [{"part": "playbook", **row.data()}], "growth": []}
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


def test_each_of_many_pools_has_one_node_and_the_plan_has_no_remark(tmp_path: Path) -> None:
    file = tmp_path / "many.yml"
    file.write_text(yaml.safe_dump(many_pools.scenario()))
    nodes = scenario.load(str(file)).cluster["nodes"]
    given = many_pools.pools(many_pools.POOLS)
    chosen = [one["existing"]["node_selector"] for one in given]
    assert [one["labels"] for one in nodes] == chosen
    assert len({one["name"] for one in nodes}) == len(given) == 40
    planned = pool_builders.plan(given, cloud="aws", prefix="demo-x7k2p")
    assert len({one["namespace"] for one in planned["quotas"]}) == 40
    assert planned["remarks"] == []


@pytest.mark.parametrize(
    ("writes", "requests", "output", "met"),
    [
        (0, 140, "changed=0 ", [True, True, None]),
        (0, 141, "changed=0 ", [True, False, None]),
        (1, 100, "changed=0 ", [False, True, None]),
        (0, 100, "changed=1 ", [False, True, None]),
    ],
)
def test_a_second_run_with_many_pools_is_judged_by_what_it_sends(
    writes: int, requests: int, output: str, met: list[bool | None]
) -> None:
    ours = [Sample(9.0, 5.0, 90.0, output, requests, writes)]
    reruns = Reruns([Sample(1.0, 0.5, 60.0)], ours, "40 x create pods")
    found = many_pools.judged(40, Sample(200.0), reruns)
    assert [one.met for one in found] == met
    assert found[1].note == "40 x create pods"
    assert found[2].note == (
        "the first run took 200 s; 4.5 s of processor and 30 MiB above an empty playbook, which takes 1.0 s"
    )
