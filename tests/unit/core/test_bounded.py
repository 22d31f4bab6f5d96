# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The result of each module fits into a job event of AWX, on a cluster of 500 nodes."""

from __future__ import annotations

import importlib
import json
import typing as t
from pathlib import Path

import pytest
import yaml

from ansible_collections.accelerators.openshift.plugins.module_utils._core import bounded
from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import NotReadyError
from ansible_collections.accelerators.openshift.plugins.module_utils._frame import module

Data = dict[str, t.Any]
PACKAGE: t.Final = "ansible_collections.accelerators.openshift.plugins.modules"
NODES: t.Final = 500
EVENT: t.Final = 100 * 1024
NAME: t.Final = "ip-10-0-{}-{}.us-east-2.compute.internal"
# What has an entry for each pool, type or option, and not for each node; an event of a plan holds the input.
BY_POOL: t.Final = {"gpu_plan"}


def names() -> list[str]:
    folder = Path(module.__file__).resolve().parents[2] / "modules"
    return sorted(path.stem for path in folder.glob("[a-z]*.py"))


def sample(name: str) -> Data:
    """Return the result that the module documents."""
    found: Data = yaml.safe_load(importlib.import_module(f"{PACKAGE}.{name}").RETURN)
    own = {key: value for key, value in found.items() if key != bounded.LEFT_OUT}
    return {key: value["sample"] for key, value in own.items() if "sample" in value}


def of_many_nodes(value: t.Any, key: str = "") -> t.Any:
    """Return a sample as on a cluster of 500 nodes: with an entry for each node in every list of nodes."""
    if isinstance(value, dict):
        return {name: of_many_nodes(one, name) for name, one in value.items()}
    if not isinstance(value, list) or not value:
        return value
    is_by_pool = key in (*bounded._BY_POOL, *bounded._WHOLE, "stages")
    if is_by_pool:
        return [of_many_nodes(one) for one in value]
    return [renamed(value[number % len(value)], number) for number in range(NODES)]


def renamed(entry: t.Any, number: int) -> t.Any:
    name = NAME.format(number // 250, number % 250)
    if isinstance(entry, dict):
        return {**entry, **{key: name for key in ("name", "node") if isinstance(entry.get(key), str)}}
    return f"{name}: {entry}"


def run(result: Data) -> Data:
    return module.execute("test", lambda _api, _params: result, {"host": "https://x"}, False, False)


@pytest.mark.parametrize("name", [one for one in names() if one not in BY_POOL])
def test_the_result_of_a_module_fits_into_an_event(name: str) -> None:
    large = of_many_nodes(sample(name))
    found = run(large)
    assert not found.get("failed")
    assert len(json.dumps(found)) < EVENT
    if len(json.dumps(large)) > EVENT:
        assert found["left_out"]


@pytest.mark.parametrize("name", ["gpu_machineset", "gpu_workload", "special_resource"])
def test_the_results_that_grow_are_really_cut(name: str) -> None:
    assert len(json.dumps(of_many_nodes(sample(name)))) > EVENT


def stack(number: int, lacking: t.Collection[int] = ()) -> list[Data]:
    """Return nodes as special_resource does; those that lack a GPU have a broken operand too."""
    return [
        {
            "name": NAME.format(one // 250, one % 250),
            "pool": "training" if one % 2 else "inference",
            "expected": {"nvidia.com/gpu": 8},
            "allocatable": {"nvidia.com/gpu": 7 if one in lacking else 8},
            "driver_version": "595.91.07",
            "operands": [{"name": f"o{part}", "ready": True, "pod": "p" * 40} for part in range(10)],
        }
        for one in range(number)
    ]


def test_what_is_wrong_stays_and_comes_first() -> None:
    found = run({"special_resource": {"nodes": stack(NODES, lacking=(499, 250))}})
    shown = found["special_resource"]["nodes"]
    assert [one["allocatable"]["nvidia.com/gpu"] for one in shown[:3]] == [7, 7, 8]
    assert len(json.dumps(found)) < bounded.MOST + 2000
    assert len(shown) > 50


def test_the_numbers_of_the_rest_are_summed_up_by_pool() -> None:
    nodes = stack(NODES)
    found = run({"special_resource": {"nodes": nodes}})
    shown, left = found["special_resource"]["nodes"], found["left_out"]
    assert {one["pool"] for one in left} == {"training", "inference"}
    assert {one["list"] for one in left} == {"special_resource.nodes"}
    assert len(shown) + sum(one["number"] for one in left) == NODES
    for one in left:
        assert one["sums"]["expected"] == {"nvidia.com/gpu": 8 * one["number"]}
    assert bounded.number_missing(found, "special_resource.nodes") == NODES - len(shown)


def test_a_failure_fits_too() -> None:
    lines = [f"{NAME.format(0, one)}: driver is in CrashLoopBackOff {'x' * 200}" for one in range(NODES)]

    def ensure(_api: t.Any, _params: t.Any) -> Data:
        facts = {"special_resource": {"nodes": stack(NODES), "pools": [{"name": "a", "ready": False}]}}
        raise NotReadyError("GPU-DRV-CRASH", "Bad.", "Do x.", lines, facts)

    found = module.execute("test", ensure, {"host": "https://x"}, False, False)
    assert (found["failed"], found["code"]) == (True, "GPU-DRV-CRASH")
    assert len(json.dumps(found)) < EVENT
    assert {one["list"] for one in found["left_out"]} == {"special_resource.nodes", "evidence"}
    assert found["evidence"] == lines[: len(found["evidence"])]
    assert found["special_resource"]["pools"] == [{"name": "a", "ready": False}]


def test_a_result_that_fits_is_whole() -> None:
    given = {"special_resource": {"nodes": stack(30)}}
    found = run(given)
    assert found["special_resource"] == given["special_resource"]
    assert "left_out" not in found


def test_a_short_list_is_not_cut_for_a_long_one() -> None:
    found = bounded.result({"machines": ["x" * 40] * 30, "nodes": stack(NODES)})
    assert len(found["machines"]) == 30
    assert {one["list"] for one in found["left_out"]} == {"nodes"}


def test_what_later_tasks_compare_with_is_whole() -> None:
    drift = [{"field": "labels.team", "machines": [NAME.format(0, one) for one in range(NODES)]}]
    objects = [{"apiVersion": "v1", "kind": "Node", "metadata": {"name": f"n{one}"}} for one in range(NODES)]
    found = bounded.result({"drift": drift, "objects": objects, "nodes": stack(NODES)})
    assert (found["drift"], found["objects"]) == (drift, objects)
    assert len(found["nodes"]) < NODES


def test_a_large_diff_cuts_nothing_else() -> None:
    diff = [{"before": "a" * 500, "after": "b" * 500}] * NODES
    found = bounded.result({"diff": diff, "nodes": stack(60)})
    assert (found["diff"], len(found["nodes"]), "left_out" in found) == (diff, 60, False)
