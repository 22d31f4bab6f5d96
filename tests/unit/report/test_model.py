# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The report after each task: what results say of nodes, and what is wrong, each once."""

from __future__ import annotations

import json
import typing as t
from pathlib import Path

import jsonschema
import pytest
from unit.report.runs import CRASH, Data, after, empty, node, program, stack, task, validated

from ansible_collections.accelerators.openshift.plugins.module_utils._report import model

SCHEMA: t.Final = json.loads(
    (Path(__file__).resolve().parents[3] / "docs/report.schema.json").read_text(encoding="utf-8")
)
POOL: t.Final[Data] = {"object": "training"}


def machines(*names: str, ready: bool = True, **more: t.Any) -> Data:
    nodes = [
        {"name": name, "zone": "a", "instance_type": "p5", "ready": ready, "expected": {"nvidia.com/gpu": 8}}
        for name in names
    ]
    return {"changed": True, "nodes": nodes, "machines": [], **more}


def valid(report: Data) -> Data:
    jsonschema.Draft202012Validator(SCHEMA, format_checker=jsonschema.FormatChecker()).validate(report)
    return json.loads(json.dumps(report))  # type: ignore[no-any-return]


def whole() -> Data:
    """Return the report of a run that brings two nodes and validates them."""
    report = after(empty(), "gpu_plan", {"plan": {"pools": [{"name": "training"}]}})
    report = after(report, "gpu_machineset", machines("gpu-0", "gpu-1"), seconds=1, took=60, **POOL)
    report = after(report, "special_resource", stack([node("gpu-0"), node("gpu-1")]), seconds=61, took=90)
    ran = {"nodes": [validated(name, programs=[program(612.3)]) for name in ("gpu-0", "gpu-1")]}
    report = after(report, "gpu_workload", {"workload": ran}, seconds=151, took=40)
    quota: Data = {"name": "gpu-quota", "namespace": "team-a", "findings": []}
    quota["resources"] = {"requests.nvidia.com/gpu": {"hard": "8", "used": None}}
    return after(report, "gpu_quota", {"changed": True, "quotas": [quota]}, seconds=191)


def test_a_good_run() -> None:
    report = valid(whole())
    assert report["run"]["state"] == "passed"
    assert (report["findings"], report["playbooks"]) == ([], ["enable_gpus"])
    assert report["summary"] == {
        "tasks": 5,
        "tasks_changed": 2,
        "tasks_failed": 0,
        "findings": 0,
        "pools": 1,
        "nodes": 2,
        "nodes_ready": 2,
        "expected": 16,
        "allocatable": 16,
        "validated": 16,
    }
    assert report["nodes"][0]["stages"] == {
        **dict.fromkeys(("machine", "nfd labels", "driver", "toolkit", "device plugin"), "ready"),
        **dict.fromkeys(("validator", "metrics", "allocatable", "validated"), "ready"),
    }
    assert report["nodes"][0]["type"] == "p5"
    assert report["quotas"][0]["limits"] == [
        {"resource": "requests.nvidia.com/gpu", "hard": "8", "used": "0"}
    ]
    assert report["run"]["updated"] == "2026-11-28T10:03:12.000+00:00"


def test_a_task_that_runs_is_in_the_report_until_it_has_ended() -> None:
    report = valid(model.begun(empty(), task("gpu_machineset") | {"ended": "", "seconds": 0.0}))
    assert (report["run"]["state"], report["tasks"][0]["state"]) == ("running", "running")
    done = model.ended(
        report, task("gpu_machineset"), {"changed": True}, {"changed": True, "machine_sets": []}
    )
    assert [(task["state"], task["result"]) for task in valid(done)["tasks"]] == [
        ("changed", {"machine_sets": []})
    ]


def test_a_task_that_was_killed_stays_as_it_was() -> None:
    killed = model.begun(empty(), task("gpu_machineset") | {"ended": ""})
    report = after(killed, "gpu_plan", {"plan": {"pools": []}}, seconds=5)
    assert [task["state"] for task in report["tasks"]] == ["running", "ok"]


@pytest.mark.parametrize(
    ("result", "more", "state", "of_run"),
    [
        ({"changed": True}, {}, "changed", "passed"),
        ({"changed": True}, {"check_mode": True}, "ok", "passed"),
        ({"changed": True, "foreseen": []}, {}, "ok", "passed"),
        ({"failed": True, "code": "API-FORBIDDEN", "message": "no"}, {}, "failed", "failed"),
        (
            {"failed": True, "code": "API-FORBIDDEN", "message": "no"},
            {"rescued": True},
            "handled",
            "attention",
        ),
        ({"failed": True, "msg": "a bug"}, {}, "failed", "failed"),
    ],
)
def test_how_a_task_ended(result: Data, more: Data, state: str, of_run: str) -> None:
    report = valid(after(empty(), "manifests", result, **more))
    assert (report["tasks"][0]["state"], report["run"]["state"]) == (state, of_run)


def test_a_failure_is_a_finding_with_its_remedy() -> None:
    failed = {
        "failed": True,
        "code": "MACH-CAPACITY",
        "message": "no capacity",
        "remedy": "Add a zone.",
        "evidence": [1],
    }
    report = valid(after(empty(), "gpu_machineset", failed | {"layer": "machine"}, **POOL))
    assert report["findings"] == [
        {
            "severity": "failed",
            "where": "training",
            "code": "MACH-CAPACITY",
            "message": "no capacity",
            "remedy": "Add a zone.",
            "evidence": ["1"],
        }
    ]
    assert report["tasks"][0]["layer"] == "machine"


def test_every_problem_of_the_input_is_a_finding_once() -> None:
    problems = [
        {
            "code": "POOL-UNKNOWN-KEY",
            "path": f"gpu_pools[{number}].replica",
            "message": f"{number}",
            "remedy": "Fix.",
        }
        for number in range(2)
    ]
    failed = {"failed": True, "code": "POOL-INVALID", "message": "0 and 1", "problems": problems}
    findings = valid(after(empty(), "gpu_plan", failed))["findings"]
    assert [finding["where"] for finding in findings] == ["gpu_pools[0].replica", "gpu_pools[1].replica"]


def test_a_check_that_is_fine_is_none() -> None:
    checks = [
        {"name": "release", "verdict": "ok", "message": "is recommended", "code": "UPDATE-RELEASE"},
        {"name": "pool worker", "verdict": "blocking", "message": "is paused", "code": "UPDATE-POOL"},
    ]
    report = valid(after(empty(), "preflight_update", {"checks": checks}))
    assert [finding["where"] for finding in report["findings"]] == ["pool worker"]


def late(verdict: str = "failed") -> dict[str, list[Data]]:
    place = {"pool": "training", "node": "gpu-1"}
    return {
        "driver": [{**place, "verdict": verdict, "evidence": [CRASH]}],
        "toolkit": [{**place, "verdict": "waiting", "evidence": []}],
    }


def test_a_driver_that_crashes() -> None:
    pools = [{"name": "training", "ready": False, "code": "GPU-DRV-CRASH", "message": "m", "remedy": "r"}]
    result = stack([node("gpu-0"), node("gpu-1")], late(), pools=pools)
    report = valid(
        after(
            empty(), "special_resource", {**result, "failed": True, "code": "GPU-DRV-CRASH", "message": "m"}
        )
    )
    good, bad = report["nodes"]
    assert (good["verdict"], bad["verdict"]) == ("ready", "failed")
    assert (bad["stages"]["driver"], bad["stages"]["toolkit"], bad["stages"]["metrics"]) == (
        "failed",
        "waiting",
        "ready",
    )
    assert model.reasons(bad) == [f"driver: {CRASH}"]
    assert [(finding["severity"], finding["code"], finding["remedy"]) for finding in report["findings"]] == [
        ("failed", "GPU-DRV-CRASH", "r")
    ]


def test_a_later_result_takes_back_what_an_earlier_one_said() -> None:
    report = after(empty(), "special_resource", stack([node("gpu-1")], late()), rescued=True)
    report = valid(after(report, "special_resource", stack([node("gpu-1")]), seconds=9))
    assert (report["nodes"][0]["verdict"], report["nodes"][0]["reasons"]) == ("ready", {})
    assert report["run"]["state"] == "passed"


def test_a_list_that_was_cut_says_nothing_of_the_others() -> None:
    result = stack([node("gpu-0"), node("gpu-1")], late())
    result["left_out"] = [
        {"list": "special_resource.nodes", "pool": "training", "number": 7, "sums": {}},
        {"list": "special_resource.stages[3].nodes", "pool": "training", "number": 7, "sums": {}},
    ]
    report = valid(after(empty(), "special_resource", result))
    assert report["left_out"] == 7
    assert report["nodes"][0]["stages"]["driver"] == "unknown"
    assert report["nodes"][0]["verdict"] == "pending"


def test_a_machine_without_a_node_has_a_row_until_its_node_comes() -> None:
    machine = {
        "name": "m-1",
        "phase": "Provisioning",
        "node": "",
        "code": "MACH-CAPACITY",
        "error": "no capacity",
    }
    report = valid(after(empty(), "gpu_machineset", machines(machines=[machine]), **POOL))
    assert [(node["name"], node["verdict"]) for node in report["nodes"]] == [("m-1", "failed")]
    assert model.reasons(report["nodes"][0]) == ["machine: no capacity"]
    came = machines("gpu-0", machines=[{**machine, "node": "gpu-0", "code": "", "error": ""}])
    report = after(report, "gpu_machineset", came, seconds=9, **POOL)
    assert [node["name"] for node in report["nodes"]] == ["gpu-0"]


def test_a_node_with_the_name_of_its_machine_stays() -> None:
    machine = {"name": "gpu-0", "phase": "Running", "node": "gpu-0", "code": "", "error": ""}
    report = after(empty(), "gpu_machineset", machines("gpu-0", machines=[machine]), **POOL)
    assert [node["name"] for node in report["nodes"]] == ["gpu-0"]


@pytest.mark.parametrize(("check_mode", "names"), [(False, ["gpu-0"]), (True, ["gpu-0", "gpu-1"])])
def test_a_node_that_a_pool_lost_goes(check_mode: bool, names: list[str]) -> None:
    report = after(empty(), "gpu_machineset", machines("gpu-0", "gpu-1"), **POOL)
    lost = machines("gpu-0", removed=[{"machine": "m-1", "machine_set": "s", "node": "gpu-1"}])
    report = after(report, "gpu_machineset", lost, seconds=9, check_mode=check_mode, **POOL)
    assert [node["name"] for node in report["nodes"]] == names


def test_a_validation_that_failed_a_busy_node_and_one_that_was_not_due() -> None:
    pod = {"phase": "Failed", "passed": False, "reason": "", "log_tail": ["CUDA error: no device", ""]}
    nodes = [
        validated("gpu-0", 7, pods=[pod], resources={"nvidia.com/gpu": 8}),
        validated("gpu-1", 0, ran=False, busy="team-a/train holds 8"),
        validated("gpu-2", ran=False),
    ]
    report = valid(after(empty(), "gpu_workload", {"workload": {"nodes": nodes}}))
    assert [node["verdict"] for node in report["nodes"]] == ["failed", "pending", "ready"]
    assert [model.reasons(node) for node in report["nodes"]] == [
        ["validation: CUDA error: no device"],
        ["busy: team-a/train holds 8"],
        [],
    ]
    freed = {"workload": {"nodes": [validated("gpu-1")]}}
    assert after(report, "gpu_workload", freed, seconds=9)["nodes"][1]["busy"] == ""


def test_a_program_that_failed_is_a_finding_of_its_node() -> None:
    slow = program(393.7, "failed", code="WORK-LOW", message="393.7 TFLOPS, and 635.6 are expected")
    waits = {"program": "nccl", "outcome": "not_run", "reason": "busy"}
    ran = {"workload": {"nodes": [validated("gpu-0", programs=[slow, waits])]}}
    report = valid(after(empty(), "gpu_workload", ran))
    assert report["nodes"][0]["verdict"] == "failed"
    assert [(finding["where"], finding["code"]) for finding in report["findings"]] == [("gpu-0", "WORK-LOW")]


def test_stages_of_network_cards_have_names_of_their_own() -> None:
    report = after(empty(), "special_resource", stack([node("gpu-0")]))
    cards = stack(
        [{"name": "gpu-0", "pool": "training", "expected": {"nvidia.com/rdma": 63}}],
        backend="nicclusterpolicy",
    )
    report = valid(after(report, "special_resource", cards, seconds=5))
    assert {"driver", "nic driver"} <= set(report["nodes"][0]["stages"])
    assert report["nodes"][0]["expected"] == 8
    assert [stack["backend"] for stack in report["stacks"]] == ["clusterpolicy", "nicclusterpolicy"]


def test_a_check_of_a_cluster_without_nodes_is_no_trouble() -> None:
    pools = [{"name": "training", "ready": False, "code": "GPU-NODES", "message": "no nodes"}]
    result = {**stack([], pools=pools), "foreseen": []}
    assert valid(after(empty(check_mode=True), "special_resource", result))["run"]["state"] == "passed"
    assert after(empty(), "special_resource", result)["run"]["state"] == "attention"


def test_the_schema_refuses_what_it_does_not_know() -> None:
    with pytest.raises(jsonschema.ValidationError):
        valid(whole() | {"more": 1})
