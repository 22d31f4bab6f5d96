# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the template of report.html computes with: words, signs, lengths of bars, what belongs together."""

from __future__ import annotations

import typing as t

from .._core.objects import number_of, seconds
from . import formats, model
from .model import Data

# Class and sign of each verdict, outcome and state.
MARKS: t.Final = {
    **dict.fromkeys((model.READY, model.PASSED), ("ok", "✓")),
    **dict.fromkeys((model.PENDING, model.ATTENTION), ("warn", "!")),
    model.FAILED: ("bad", "✕"),
    model.WAITING: ("wait", "·"),
    model.UNKNOWN: ("wait", "?"),
    "not_run": ("wait", "-"),
    model.RUNNING: ("info", "▸"),
    model.CHANGED: ("info", ""),
    model.HANDLED: ("warn", ""),
    model.OK: ("info", ""),
}
WORDS: t.Final = {
    model.PASSED: "Passed",
    model.FAILED: "Failed",
    model.ATTENTION: "Needs attention",
    model.RUNNING: "Running",
}
# Most bars of one figure, and messages of one code, that the page shows.
_BARS, _MESSAGES = 10, 5


def view(report: Data) -> Data:
    """Return the variables of the template."""
    pools: dict[str, list[Data]] = {}
    for node in report["nodes"]:
        pools.setdefault(node["pool"], []).append(node)
    return {
        **report,
        "marks": MARKS,
        "words": WORDS,
        "title": f"{', '.join(report['playbooks']) or 'A playbook'} on {report['run']['cluster']}",
        "headline": headline(report),
        "tiles": list(tiles(report)),
        "groups": by_code(report["findings"]),
        "stages": stages_of(report["nodes"]),
        "pools": [{**pool, "members": pools[pool["name"]]} for pool in report["pools"]],
        "has_programs": any(node["programs"] for node in report["nodes"]),
        "figures": figures(report["nodes"]),
        "foreseen": foreseen(report) if report["run"]["check_mode"] else [],
        "times": list(times(report)),
        "reasons": model.reasons,
        "number": formats.number_of,
        **{
            function.__name__: function for function in (gpus, short, share, lowest, seconds, rounded, sum_of)
        },
    }


def headline(report: Data) -> str:
    """Return in a sentence what the run reached."""
    summary, last = report["summary"], report["tasks"][-1]
    if last["state"] == model.RUNNING:
        return f"The task '{short(last['task'])}' began at {last['started'][11:19]} UTC and has not ended."
    if report["run"]["check_mode"]:
        return f"A run would write {number_of(len(foreseen(report)), 'object')}."
    if not summary["nodes"]:
        return f"{number_of(summary['tasks'], 'task')} ran. No result has nodes with GPUs."
    nodes = f"{summary['nodes_ready']} of {number_of(summary['nodes'], 'node')}"
    ready = f"{nodes} of {number_of(summary['pools'], 'pool')} are ready"
    if summary["validated"] is None:
        return f"{ready}."
    return f"{ready}; {summary['validated']} of {summary['expected'] or 0} GPUs passed validation."


def tiles(report: Data) -> t.Iterator[tuple[str, str, str, str]]:
    """Yield heading, number, note and class of each tile at the top."""
    summary, severities = report["summary"], [finding["severity"] for finding in report["findings"]]
    expected = summary["expected"]
    if number := summary["nodes"]:
        note = f"of {number:,} in {number_of(summary['pools'], 'pool')}"
        yield "Nodes ready", f"{summary['nodes_ready']:,}", note, _class(summary["nodes_ready"], number)
    for key, word in (("allocatable", "GPUs offered"), ("validated", "GPUs validated")):
        if summary[key] is not None:
            note = "" if expected is None else f"of {expected:,} expected"
            yield word, f"{summary[key]:,}", note, _class(summary[key], expected or 0)
    failed = severities.count(model.FAILED)
    kind = "bad" if failed else "warn" if severities else "ok"
    yield "Findings", str(len(severities)), f"{failed} failed" if severities else "", kind
    note = f"{summary['tasks_changed']} changed, {summary['tasks_failed']} failed"
    yield "Tasks", str(summary["tasks"]), note, ""
    yield "Time", seconds(_span(report)), f"from {report['run']['started'][11:19]} UTC", ""


def _class(number: int, wanted: int) -> str:
    return "ok" if number >= wanted else "warn"


def _span(report: Data) -> float:
    return formats.moment(report["run"]["updated"]) - formats.moment(report["run"]["started"])


def short(task: str) -> str:
    """Return the name of a task without the file of the role that it stands in."""
    return task.rpartition(" | ")[2]


def gpus(counts: Data) -> str:
    """Return expected, offered and validated GPUs, such as 8/8/-."""
    return "/".join("-" if counts[key] is None else str(counts[key]) for key in model.COUNTS)


def by_code(findings: t.Sequence[Data]) -> list[Data]:
    """Return the findings by code, with all remedies of a code, those that failed first."""
    groups: dict[str, list[Data]] = {}
    for finding in findings:
        groups.setdefault(finding["code"], []).append(finding)
    return [
        {
            "code": code or "Failure",
            "severity": found[0]["severity"],
            "remedies": list(dict.fromkeys(finding["remedy"] for finding in found if finding["remedy"]))[
                :_MESSAGES
            ],
            "parts": [part for part in (found[:_MESSAGES], found[_MESSAGES:]) if part],
        }
        for code, found in groups.items()
    ]


def stages_of(nodes: t.Sequence[Data]) -> list[str]:
    """Return the stages of nodes in order: the machine, those of the stacks, the validation."""
    have = dict.fromkeys(name for node in nodes for name in node["stages"])
    place = {model.MACHINE: 0, model.VALIDATED: 2}
    return sorted(have, key=lambda name: place.get(name, 1))


def sum_of(nodes: t.Sequence[Data], stage: str) -> tuple[str, str]:
    """Return class and text of a stage of a pool, such as 5/6."""
    verdicts = [node["stages"][stage] for node in nodes if stage in node["stages"]]
    ready = verdicts.count(model.READY)
    kind = "bad" if model.FAILED in verdicts else _class(ready, len(verdicts))
    return (kind, f"{ready}/{len(verdicts)}") if verdicts else ("none", "")


def ratio(figure: Data) -> float | None:
    """Return a figure as a share of what was expected, or else of the baseline, or of its peers."""
    against = figure.get("expected") or figure.get("baseline") or figure.get("peers")
    value = figure.get("value")
    if not against or not value:
        return None
    return float(against) / value if figure.get("better") == "lower" else float(value) / float(against)


def lowest(programs: t.Iterable[Data]) -> float | None:
    """Return the lowest share of all figures of these programs."""
    every = [ratio(figure) for program in programs for figure in program.get("figures") or []]
    return min((part for part in every if part is not None), default=None)


def figures(nodes: t.Sequence[Data]) -> list[Data]:
    """Return each figure of each pool, worst first: bars of the lowest, and the range of all."""
    groups: dict[tuple[str, ...], list[tuple[float, Data]]] = {}
    for node in nodes:
        for program in node["programs"]:
            for figure in program.get("figures") or []:
                if figure.get("value") is not None:
                    key = (node["pool"], program.get("program"), figure.get("name"), figure.get("unit") or "")
                    part = ratio(figure)
                    state = "bad" if figure.get("code") else "ok"
                    row = {**figure, "node": node["name"], "ratio": part, "class": state}
                    groups.setdefault(key, []).append((float(figure["value"] if part is None else part), row))
    return [
        _figure(key, groups[key])
        for key in sorted(groups, key=lambda key: min(entry[0] for entry in groups[key]))
    ]


def _figure(key: tuple[str, ...], found: list[tuple[float, Data]]) -> Data:
    rows = [row for _worth, row in sorted(found, key=lambda entry: entry[0])]
    values = sorted(float(row["value"]) for row in rows)
    beside = [float(row[key]) for row in rows for key in ("expected", "baseline") if row.get(key)]
    return {
        **dict(zip(("pool", "program", "name", "unit"), key, strict=True)),
        "source": ", ".join(dict.fromkeys(row["source"] for row in rows if row.get("source"))),
        "number": len(rows),
        "range": [rounded(value) for value in (values[0], values[-1], values[len(values) // 2])],
        "scale": max(values[-1], *beside, 0.0) * 1.04,
        "bars": rows[:_BARS],
    }


def rounded(value: float) -> str:
    """Return a figure with four digits, or all digits before the point."""
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def share(part: float | None, whole: float) -> float:
    """Return a length in percent, within the bar."""
    return round(100 * max(0.0, min(1.0, (part or 0) / whole)), 2) if whole else 0.0


def foreseen(report: Data) -> list[Data]:
    """Return what a run would write, each object once."""
    every = [change for task in report["tasks"] for change in task["result"].get("foreseen") or []]
    return list({change["object"]: change for change in every if change.get("action") != "keep"}.values())


def times(report: Data) -> t.Iterator[tuple[Data, float, float]]:
    """Yield each task with begin and length of its bar in percent."""
    start, whole = formats.moment(report["run"]["started"]), _span(report) or 1.0
    for task in report["tasks"]:
        begins = min(share(formats.moment(task["started"]) - start, whole), 99.4)
        is_running = task["state"] == model.RUNNING
        yield task, begins, max(100 - begins if is_running else share(task["seconds"], whole), 0.6)
