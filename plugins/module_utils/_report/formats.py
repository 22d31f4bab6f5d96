# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""The report in the formats of other programs: CTRF, JUnit and the text of Prometheus.

CTRF and JUnit have a case for each task, each node, and each program that ran on a node.
"""

from __future__ import annotations

import collections
import datetime
import json
import re
import typing as t
import xml.etree.ElementTree as ET

from .._core.quantity import parse
from . import model
from .model import Data

CTRF_VERSION: t.Final = "1.0.0"
_PREFIX: t.Final = "accelerators_openshift_"
# Colours, as they are and as redact.clean writes them, and characters that XML 1.0 does not have.
_COLOUR: t.Final = re.compile(r"(?:\x1b|\\x1b)\[[0-9;?]*[A-Za-z]")
_ILLEGAL: t.Final = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_OF_TASK: t.Final = {
    model.OK: "passed",
    model.CHANGED: "passed",
    model.FAILED: "failed",
    model.HANDLED: "other",
    model.RUNNING: "pending",
}
_OF_NODE: t.Final = {model.READY: "passed", model.FAILED: "failed", model.PENDING: "pending"}
_OF_PROGRAM: t.Final = {"passed": "passed", "failed": "failed", "not_run": "skipped"}


class Case(t.NamedTuple):
    """A test case. status: passed, failed, skipped, pending or other. seconds, start: 0 if unknown."""

    suite: tuple[str, ...]
    name: str
    status: str
    message: str = ""
    trace: str = ""
    seconds: float = 0.0
    start: float = 0.0
    extra: t.Mapping[str, t.Any] = {}


def moment(stamp: str) -> float:
    """Return the seconds since the epoch of a time in the report."""
    return datetime.datetime.fromisoformat(stamp).timestamp() if stamp else 0.0


def cases(report: Data) -> list[Case]:
    """Return the test cases: tasks, then nodes, then programs."""
    nodes = report["nodes"]
    programs = [_program_case(node, program) for node in nodes for program in node["programs"]]
    return [*map(_task_case, report["tasks"]), *map(_node_case, nodes), *programs]


def _task_case(task: Data) -> Case:
    message = f"{task['code']}: {task['message']}" if task["code"] else task["message"]
    extra = {key: task[key] for key in ("module", "check_mode", "code", "layer") if task[key] != ""}
    return Case(
        ("tasks", task["role"] or task["playbook"] or "play"),
        f"{task['task']} ({task['object']})" if task["object"] else task["task"],
        _OF_TASK[task["state"]],
        "had not ended when the report was written" if task["state"] == model.RUNNING else message,
        "\n".join([*([f"Remedy: {task['remedy']}"] if task["remedy"] else []), *task["evidence"]]),
        task["seconds"],
        moment(task["started"]),
        {**extra, "changed": task["state"] == model.CHANGED},
    )


def _node_case(node: Data) -> Case:
    gpus = "/".join("-" if node[key] is None else str(node[key]) for key in model.COUNTS)
    message = "; ".join(model.reasons(node)) or f"GPUs (expected/allocatable/validated): {gpus}"
    extra = {key: node[key] for key in ("type", "driver", "stages")}
    return Case(
        ("nodes", node["pool"] or "without a pool"),
        node["name"],
        _OF_NODE[node["verdict"]],
        "" if node["verdict"] == model.READY else message,
        extra={**extra, "gpus": gpus},
    )


def _program_case(node: Data, program: Data) -> Case:
    figures = list(program.get("figures") or [])
    message = str(program.get("message") or program.get("reason") or "")
    return Case(
        ("programs", node["pool"] or "without a pool", node["name"]),
        str(program.get("program")),
        _OF_PROGRAM.get(str(program.get("outcome")), "other"),
        f"{program['code']}: {message}" if program.get("code") else message,
        "\n".join(map(figure_line, figures)),
        extra={"code": program.get("code") or "", "figures": figures},
    )


def figure_line(figure: Data) -> str:
    """Return a figure as text: its value, and what it is compared with."""
    beside = [f"{key} {figure[key]:g}" for key in ("expected", "baseline") if figure.get(key) is not None]
    where = f" {figure['device']}" if figure.get("device") else ""
    more = f" ({', '.join(beside)})" if beside else ""
    return f"{figure.get('name')}{where}: {figure.get('value', 0):g} {figure.get('unit', '')}{more}".rstrip()


def ctrf(report: Data) -> str:
    """Return the report as Common Test Report Format; data of our own is in `extra` alone."""
    found = cases(report)
    tests = [_ctrf_test(case) for case in found]
    start, stop = (round(1000 * moment(report["run"][key])) for key in ("started", "updated"))
    statuses = ("passed", "failed", "skipped", "pending", "other")
    counts = {status: sum(case.status == status for case in found) for status in statuses}
    suites = len({case.suite for case in found})
    summary = {"tests": len(found), **counts, "suites": suites, "start": start, "stop": stop}
    document = {
        "reportFormat": "CTRF",
        "specVersion": CTRF_VERSION,
        "timestamp": report["run"]["updated"],
        "generatedBy": report["tool"]["name"],
        "results": {"tool": report["tool"], "summary": summary, "tests": tests},
        "extra": {"run": report["run"], "summary": report["summary"], "findings": report["findings"]},
    }
    return json.dumps(document, ensure_ascii=False)


def _ctrf_test(case: Case) -> Data:
    test = {
        "name": plain(case.name),
        "status": case.status,
        "duration": round(1000 * case.seconds),
        "suite": list(case.suite),
        "extra": dict(case.extra),
    }
    if case.start:
        start = round(1000 * case.start)
        test |= {"start": start, "stop": start + round(1000 * case.seconds)}
    return test | {key: plain(getattr(case, key)) for key in ("message", "trace") if getattr(case, key)}


def plain(text: str) -> str:
    """Return the text without colour codes and without characters that XML cannot hold."""
    return _ILLEGAL.sub("", _COLOUR.sub("", text))


def junit(report: Data) -> str:
    """Return the report as JUnit's XML, as Jenkins, GitLab and Prow read it."""
    suites: dict[tuple[str, ...], list[Case]] = {}
    for case in cases(report):
        suites.setdefault(case.suite, []).append(case)
    every = [case for found in suites.values() for case in found]
    root = ET.Element("testsuites", {"name": report["tool"]["name"], **_counts(every)})
    for suite, found in suites.items():
        about = {"timestamp": report["run"]["started"][:19], "hostname": plain(report["run"]["cluster"])}
        name = plain(" / ".join(suite))
        element = ET.SubElement(root, "testsuite", {"name": name, **_counts(found), **about})
        for case in found:
            classname = plain(".".join(part.replace(".", "_") for part in suite))
            entry = ET.SubElement(element, "testcase", {"classname": classname, "name": plain(case.name)})
            entry.set("time", f"{case.seconds:.3f}")
            if case.status == "failed":
                kind = str(case.extra.get("code") or "failed")
                failure = ET.SubElement(entry, "failure", {"message": plain(case.message), "type": kind})
                failure.text = plain(f"{case.message}\n{case.trace}")
            elif case.status != "passed":
                ET.SubElement(entry, "skipped", {"message": plain(f"{case.status}: {case.message}")})
            elif case.trace:
                ET.SubElement(entry, "system-out").text = plain(case.trace)
    ET.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(root, encoding="unicode") + "\n"


def _counts(found: t.Sequence[Case]) -> dict[str, str]:
    skipped = sum(case.status not in ("passed", "failed") for case in found)
    return {
        "tests": str(len(found)),
        "failures": str(sum(case.status == "failed" for case in found)),
        "errors": "0",
        "skipped": str(skipped),
        "time": f"{sum(case.seconds for case in found):.3f}",
    }


def prometheus(report: Data) -> str:
    """Return the report as Prometheus' text, for the textfile collector or a Pushgateway."""
    cluster = {"cluster": report["run"]["cluster"]}
    lines: list[str] = []
    for name, text, samples in (*_run_metrics(report), *_node_metrics(report)):
        # Each set of labels may come once.
        values = {_labels({**cluster, **labels}): value for labels, value in samples}
        if values:
            lines += [f"# HELP {_PREFIX}{name} {text}", f"# TYPE {_PREFIX}{name} gauge"]
            lines += [f"{_PREFIX}{name}{labels} {float(value):.12g}" for labels, value in values.items()]
    return "\n".join([*lines, ""])


def _labels(labels: t.Mapping[str, t.Any]) -> str:
    def escaped(value: t.Any) -> str:
        return str(value).replace("\\", r"\\").replace("\n", r"\n").replace('"', r"\"")

    return "{" + ",".join(f'{key}="{escaped(value)}"' for key, value in labels.items()) + "}"


Sample = tuple[dict[str, t.Any], float]
Metric = tuple[str, str, list[Sample]]


def _run_metrics(report: Data) -> t.Iterator[Metric]:
    """Yield name, help and samples of the metrics about the run, without the label of the cluster."""
    run, tasks = report["run"], report["tasks"]
    about = {"playbook": " ".join(report["playbooks"]), "version": report["tool"]["version"]}
    about |= {"check_mode": str(run["check_mode"]).lower(), "state": run["state"]}
    yield "run_info", "What ran, and how it ended.", [(about, 1)]
    yield "run_failed", "Whether something of the run failed.", [({}, run["state"] == model.FAILED)]
    yield "run_start_time_seconds", "When the run began.", [({}, moment(run["started"]))]
    yield "run_updated_time_seconds", "When a task of the run last ended.", [({}, moment(run["updated"]))]
    states = collections.Counter(task["state"] for task in tasks)
    yield "tasks", "Tasks of the run.", [({"state": state}, states[state]) for state in _OF_TASK]
    spent: dict[str, float] = {}
    for task in tasks:
        spent[task["module"]] = spent.get(task["module"], 0) + task["seconds"]
    yield (
        "module_seconds",
        "Seconds of all tasks of a module.",
        [({"module": key}, spent[key]) for key in spent],
    )
    codes = collections.Counter((finding["severity"], finding["code"]) for finding in report["findings"])
    found: list[Sample] = [({"severity": key[0], "code": key[1]}, number) for key, number in codes.items()]
    yield "findings", "What is wrong, by severity and error code.", found
    for key in ("hard", "used"):
        limits: list[Sample] = [
            (
                {"namespace": quota["namespace"], "quota": quota["name"], "resource": limit["resource"]},
                number_of(limit[key]),
            )
            for quota in report["quotas"]
            for limit in quota["limits"]
        ]
        yield f"quota_{key}", f"A limit of a quota: {key}.", limits


def _node_metrics(report: Data) -> t.Iterator[Metric]:
    """Yield the same of the metrics about nodes and what programs measured on them."""
    places = [({"pool": node["pool"], "node": node["name"]}, node) for node in report["nodes"]]
    ready: list[Sample] = [(at, node["verdict"] == model.READY) for at, node in places]
    yield "node_ready", "Whether a node is as it should be.", ready
    for key in model.COUNTS:
        gpus: list[Sample] = [(at, node[key]) for at, node in places if node[key] is not None]
        yield f"node_gpus_{key}", f"GPUs of a node: {key}.", gpus
    ran = [
        (at | {"program": str(program.get("program"))}, program)
        for at, node in places
        for program in node["programs"]
    ]
    outcomes: list[Sample] = [(at | {"outcome": program.get("outcome")}, 1) for at, program in ran]
    yield "program_outcome", "How a program ended on a node.", outcomes
    figures = [
        (
            at
            | {
                "device": figure.get("device", ""),
                "figure": figure.get("name"),
                "unit": figure.get("unit", ""),
            },
            figure,
        )
        for at, program in ran
        for figure in program.get("figures") or []
    ]
    for key, name in (("value", "figure"), ("expected", "figure_expected"), ("baseline", "figure_baseline")):
        known: list[Sample] = [(at, figure[key]) for at, figure in figures if figure.get(key) is not None]
        yield name, f"A figure that a program measured: its {key}.", known


def number_of(quantity: str) -> float:
    """Return a quantity of Kubernetes as a number, 0 if it is none."""
    try:
        return float(parse(quantity))
    except ValueError:
        return 0.0


def _shown(count: int | None) -> str:
    return "-" if count is None else str(count)
