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
    programs = [_program_case(node, one) for node in nodes for one in node["programs"]]
    return [*map(_task_case, report["tasks"]), *map(_node_case, nodes), *programs]


def _task_case(task: Data) -> Case:
    told = f"{task['code']}: {task['message']}" if task["code"] else task["message"]
    extra = {key: task[key] for key in ("module", "check_mode", "code", "layer") if task[key] != ""}
    return Case(
        ("tasks", task["role"] or task["playbook"] or "play"),
        f"{task['task']} ({task['object']})" if task["object"] else task["task"],
        _OF_TASK[task["state"]],
        "had not ended when the report was written" if task["state"] == model.RUNNING else told,
        "\n".join([*([f"Remedy: {task['remedy']}"] if task["remedy"] else []), *task["evidence"]]),
        task["seconds"],
        moment(task["started"]),
        {**extra, "changed": task["state"] == model.CHANGED},
    )


def _node_case(node: Data) -> Case:
    gpus = "/".join("-" if node[key] is None else str(node[key]) for key in model.COUNTS)
    told = "; ".join(model.reasons(node)) or f"GPUs (expected/allocatable/validated): {gpus}"
    extra = {key: node[key] for key in ("type", "driver", "stages")}
    return Case(
        ("nodes", node["pool"] or "without a pool"),
        node["name"],
        _OF_NODE[node["verdict"]],
        "" if node["verdict"] == model.READY else told,
        extra={**extra, "gpus": gpus},
    )


def _program_case(node: Data, program: Data) -> Case:
    figures = list(program.get("figures") or [])
    told = str(program.get("message") or program.get("reason") or "")
    return Case(
        ("programs", node["pool"] or "without a pool", node["name"]),
        str(program.get("program")),
        _OF_PROGRAM.get(str(program.get("outcome")), "other"),
        f"{program['code']}: {told}" if program.get("code") else told,
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
    tests = [_ctrf_test(one) for one in found]
    start, stop = (round(1000 * moment(report["run"][key])) for key in ("started", "updated"))
    statuses = ("passed", "failed", "skipped", "pending", "other")
    counts = {status: sum(one.status == status for one in found) for status in statuses}
    suites = len({one.suite for one in found})
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


def _ctrf_test(one: Case) -> Data:
    test = {
        "name": plain(one.name),
        "status": one.status,
        "duration": round(1000 * one.seconds),
        "suite": list(one.suite),
        "extra": dict(one.extra),
    }
    if one.start:
        start = round(1000 * one.start)
        test |= {"start": start, "stop": start + round(1000 * one.seconds)}
    return test | {key: plain(getattr(one, key)) for key in ("message", "trace") if getattr(one, key)}


def plain(text: str) -> str:
    """Return the text without colour codes and without characters that XML cannot hold."""
    return _ILLEGAL.sub("", _COLOUR.sub("", text))


def junit(report: Data) -> str:
    """Return the report as JUnit's XML, as Jenkins, GitLab and Prow read it."""
    suites: dict[tuple[str, ...], list[Case]] = {}
    for one in cases(report):
        suites.setdefault(one.suite, []).append(one)
    every = [one for found in suites.values() for one in found]
    root = ET.Element("testsuites", {"name": report["tool"]["name"], **_counts(every)})
    for suite, found in suites.items():
        about = {"timestamp": report["run"]["started"][:19], "hostname": plain(report["run"]["cluster"])}
        name = plain(" / ".join(suite))
        element = ET.SubElement(root, "testsuite", {"name": name, **_counts(found), **about})
        for one in found:
            classname = plain(".".join(part.replace(".", "_") for part in suite))
            case = ET.SubElement(element, "testcase", {"classname": classname, "name": plain(one.name)})
            case.set("time", f"{one.seconds:.3f}")
            if one.status == "failed":
                kind = str(one.extra.get("code") or "failed")
                failure = ET.SubElement(case, "failure", {"message": plain(one.message), "type": kind})
                failure.text = plain(f"{one.message}\n{one.trace}")
            elif one.status != "passed":
                ET.SubElement(case, "skipped", {"message": plain(f"{one.status}: {one.message}")})
            elif one.trace:
                ET.SubElement(case, "system-out").text = plain(one.trace)
    ET.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(root, encoding="unicode") + "\n"


def _counts(found: t.Sequence[Case]) -> dict[str, str]:
    skipped = sum(one.status not in ("passed", "failed") for one in found)
    return {
        "tests": str(len(found)),
        "failures": str(sum(one.status == "failed" for one in found)),
        "errors": "0",
        "skipped": str(skipped),
        "time": f"{sum(one.seconds for one in found):.3f}",
    }


def prometheus(report: Data) -> str:
    """Return the report as Prometheus' text, for the textfile collector or a Pushgateway."""
    cluster = {"cluster": report["run"]["cluster"]}
    lines: list[str] = []
    for name, text, samples in (*_run_metrics(report), *_node_metrics(report)):
        # Each set of labels may come once.
        told = {_labels({**cluster, **labels}): value for labels, value in samples}
        if told:
            lines += [f"# HELP {_PREFIX}{name} {text}", f"# TYPE {_PREFIX}{name} gauge"]
            lines += [f"{_PREFIX}{name}{labels} {float(value):.12g}" for labels, value in told.items()]
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
    states = collections.Counter(one["state"] for one in tasks)
    yield "tasks", "Tasks of the run.", [({"state": state}, states[state]) for state in _OF_TASK]
    spent: dict[str, float] = {}
    for one in tasks:
        spent[one["module"]] = spent.get(one["module"], 0) + one["seconds"]
    yield (
        "module_seconds",
        "Seconds of all tasks of a module.",
        [({"module": key}, spent[key]) for key in spent],
    )
    codes = collections.Counter((one["severity"], one["code"]) for one in report["findings"])
    found: list[Sample] = [({"severity": key[0], "code": key[1]}, number) for key, number in codes.items()]
    yield "findings", "What is wrong, by severity and error code.", found
    for key in ("hard", "used"):
        limits: list[Sample] = [
            (
                {"namespace": one["namespace"], "quota": one["name"], "resource": limit["resource"]},
                number_of(limit[key]),
            )
            for one in report["quotas"]
            for limit in one["limits"]
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
        (at | {"program": str(one.get("program"))}, one) for at, node in places for one in node["programs"]
    ]
    outcomes: list[Sample] = [(at | {"outcome": one.get("outcome")}, 1) for at, one in ran]
    yield "program_outcome", "How a program ended on a node.", outcomes
    figures = [
        (at | {"device": one.get("device", ""), "figure": one.get("name"), "unit": one.get("unit", "")}, one)
        for at, program in ran
        for one in program.get("figures") or []
    ]
    for key, name in (("value", "figure"), ("expected", "figure_expected"), ("baseline", "figure_baseline")):
        known: list[Sample] = [(at, one[key]) for at, one in figures if one.get(key) is not None]
        yield name, f"A figure that a program measured: its {key}.", known


def number_of(quantity: str) -> float:
    """Return a quantity of Kubernetes as a number, 0 if it is none."""
    try:
        return float(parse(quantity))
    except ValueError:
        return 0.0


def _shown(count: int | None) -> str:
    return "-" if count is None else str(count)
