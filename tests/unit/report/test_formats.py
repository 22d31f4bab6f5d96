# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""CTRF, JUnit and Prometheus, each against the rules of its readers."""

from __future__ import annotations

import json
import re
import typing as t
import xml.etree.ElementTree as ET

import jsonschema
import pytest
from unit.report.runs import Data, after, empty, figure, node, program, stack, task, validated

from ansible_collections.accelerators.openshift.plugins.module_utils._report import formats, model

# The rules of CTRF for what we write. Nearly everywhere it takes no other key.
STATUS: t.Final = {"enum": ["passed", "failed", "skipped", "pending", "other"]}
COUNTS: t.Final = ("tests", "passed", "failed", "skipped", "pending", "other", "start", "stop")


def exactly(required: t.Sequence[str], **properties: Data) -> Data:
    return {
        "type": "object",
        "required": list(required),
        "properties": properties,
        "additionalProperties": False,
    }


TEXT: t.Final = {"type": "string", "minLength": 1}
WHOLE: t.Final = {"type": "integer"}
TEST: t.Final = exactly(
    ("name", "status", "duration"),
    name=TEXT,
    status=STATUS,
    duration=WHOLE,
    start=WHOLE,
    stop=WHOLE,
    suite={"type": "array", "minItems": 1, "items": {"type": "string"}},
    message={"type": "string"},
    trace={"type": "string"},
    extra={"type": "object"},
)
CTRF: t.Final = exactly(
    ("results", "reportFormat", "specVersion"),
    reportFormat={"const": "CTRF"},
    specVersion={"type": "string", "pattern": r"^[0-9]+\.[0-9]+\.[0-9]+$"},
    timestamp={"type": "string", "format": "date-time"},
    generatedBy={"type": "string"},
    extra={"type": "object"},
    results=exactly(
        ("tool", "summary", "tests"),
        tool=exactly(("name",), name=TEXT, version={"type": "string"}),
        summary=exactly(COUNTS, **dict.fromkeys((*COUNTS, "suites"), WHOLE)),
        tests={"type": "array", "items": TEST},
    ),
)
# What a terminal's colours, a broken program and somebody who writes markup leave in a message.
DIRTY: t.Final = 'a \x1b[31mred\x1b[0m \\x1b[1mbold\\x1b[0m \x00\ud800 <b>&"bold"</b>\nline\\two'


def report() -> Data:
    failed = {
        "failed": True,
        "code": "GPU-DRV-CRASH",
        "message": DIRTY,
        "remedy": "oc logs",
        "evidence": [DIRTY],
    }
    found = after(empty(), "special_resource", {**stack([node("gpu-0"), node("gpu-1")]), **failed}, took=1.5)
    found = after(
        found, "gpu_plan", {"failed": True, "code": "POOL-KEY", "message": "m"}, rescued=True, seconds=2
    )
    slow = program(393.7, "failed", code="WORK-LOW", message="slow")
    waits = {"program": "nccl", "outcome": "not_run", "reason": "busy"}
    nodes = [validated("gpu-0", programs=[slow, waits]), validated("gpu-1", 0, ran=False, busy="a holds 8")]
    found = after(found, "gpu_workload", {"workload": {"nodes": nodes}}, seconds=3)
    quota = {
        "name": 'q"1',
        "namespace": "team-a",
        "resources": {"requests.memory": {"hard": "2Ki", "used": "1500m"}},
    }
    found = after(found, "gpu_quota", {"quota": quota}, seconds=4)
    return model.begun(found, task("gpu_use", seconds=5) | {"ended": "", "seconds": 0.0})


def test_ctrf_keeps_to_its_schema() -> None:
    document = json.loads(formats.ctrf(report()))
    jsonschema.Draft202012Validator(CTRF, format_checker=jsonschema.FormatChecker()).validate(document)
    results = document["results"]
    assert {key: results["summary"][key] for key in COUNTS[:6]} == dict(
        zip(COUNTS[:6], (9, 2, 3, 1, 2, 1), strict=True)
    )
    assert len(results["tests"]) == 9
    assert results["summary"]["stop"] - results["summary"]["start"] == 5000
    first = results["tests"][0]
    assert (first["duration"], first["stop"] - first["start"]) == (1500, 1500)
    assert first["message"].startswith("GPU-DRV-CRASH: a red bold ")
    assert first["trace"].startswith("Remedy: oc logs\n")


def test_the_status_of_every_case() -> None:
    assert [(case.suite[0], case.name, case.status) for case in formats.cases(report())] == [
        ("tasks", "Run special_resource", "failed"),
        ("tasks", "Run gpu_plan", "other"),
        ("tasks", "Run gpu_workload", "passed"),
        ("tasks", "Run gpu_quota", "passed"),
        ("tasks", "Run gpu_use", "pending"),
        ("nodes", "gpu-0", "failed"),
        ("nodes", "gpu-1", "pending"),
        ("programs", "matmul", "failed"),
        ("programs", "nccl", "skipped"),
    ]


def test_junit_is_xml_without_colours_and_with_seconds() -> None:
    text = formats.junit(report())
    assert not re.search("[\x00-\x08\x0b-\x1f\ud800-\udfff]", text)
    root = ET.fromstring(text)
    assert (root.tag, root.get("tests"), root.get("failures"), root.get("errors")) == (
        "testsuites",
        "9",
        "3",
        "0",
    )
    suites = root.findall("testsuite")
    assert [suite.get("name") for suite in suites] == [
        *("tasks / enable_gpus", "nodes / training", "programs / training / gpu-0"),
    ]
    assert sum(int(suite.get("tests", 0)) for suite in suites) == 9
    assert suites[0].get("timestamp") == "2026-11-28T10:00:00"
    case = suites[0].findall("testcase")[0]
    assert (case.get("time"), case.get("classname")) == ("1.500", "tasks.enable_gpus")
    failure = case.find("failure")
    assert failure is not None
    assert failure.get("type") == "GPU-DRV-CRASH"
    assert failure.get("message") == 'GPU-DRV-CRASH: a red bold  <b>&"bold"</b>\nline\\two'
    assert "Remedy: oc logs" in str(failure.text)
    assert len(root.findall(".//skipped")) == int(root.get("skipped", 0)) == 4


SAMPLE: t.Final = re.compile(r'(\w+)\{((?:\w+="(?:[^"\\\n]|\\[\\n"])*",?)*)\} (-?[0-9.e+]+)')


def samples(text: str) -> dict[tuple[str, str], float]:
    """Return the samples by name and labels; assert the form of each line, and that none comes twice."""
    found: dict[tuple[str, str], float] = {}
    described: set[str] = set()
    for line in text.splitlines():
        if line.startswith("# TYPE "):
            described.add(line.split()[2])
        elif not line.startswith("#"):
            match = SAMPLE.fullmatch(line)
            assert match, line
            assert match[1] in described
            assert (match[1], match[2]) not in found, line
            found[match[1], match[2]] = float(match[3])
    return found


def test_prometheus() -> None:
    text = formats.prometheus(report())
    assert text.endswith("\n")
    found = samples(text)
    at = 'cluster="east",pool="training",node="gpu-0"'
    of_figure = f'{at},program="matmul",device="GPU-0",figure="bf16",unit="TFLOPS"'
    for name, labels, value in (
        ("run_failed", 'cluster="east"', 0),  # a task runs still
        ("run_start_time_seconds", 'cluster="east"', 1795860000),
        ("tasks", 'cluster="east",state="failed"', 1),
        ("module_seconds", 'cluster="east",module="special_resource"', 1.5),
        ("findings", 'cluster="east",severity="failed",code="GPU-DRV-CRASH"', 1),
        ("node_ready", at, 0),
        ("node_gpus_expected", at, 8),
        ("program_outcome", f'{at},program="nccl",outcome="not_run"', 1),
        ("figure", of_figure, 393.7),
        ("figure_expected", of_figure, 635.6),
        ("figure_baseline", of_figure, 640.1),
        ("quota_hard", r'cluster="east",namespace="team-a",quota="q\"1",resource="requests.memory"', 2048),
        ("quota_used", r'cluster="east",namespace="team-a",quota="q\"1",resource="requests.memory"', 1.5),
    ):
        assert found[f"accelerators_openshift_{name}", labels] == value, name


def test_labels_are_escaped() -> None:
    nasty = after(
        empty(),
        "gpu_quota",
        {"quota": {"name": 'a\\b"c\nd', "namespace": "n", "resources": {"r": {"hard": "x"}}}},
    )
    assert r'quota="a\\b\"c\nd"' in formats.prometheus(nasty)
    samples(formats.prometheus(nasty))


def test_two_figures_of_the_same_name_are_one_sample() -> None:
    twice = program(1.0, figures=[figure(1.0), figure(2.0)])
    found = after(empty(), "gpu_workload", {"workload": {"nodes": [validated("gpu-0", programs=[twice])]}})
    assert 2.0 in samples(formats.prometheus(found)).values()


@pytest.mark.parametrize(
    ("more", "line"),
    [
        ({}, "bf16 GPU-0: 612.3 TFLOPS (expected 635.6, baseline 640.1)"),
        ({"device": "", "expected": None, "baseline": None, "unit": ""}, "bf16: 612.3"),
    ],
)
def test_a_figure_as_text(more: Data, line: str) -> None:
    assert formats.figure_line(figure(612.3, **more)) == line
