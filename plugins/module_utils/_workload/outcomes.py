# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a program says of the nodes of a pool: passed, failed, or not run, and the reason."""

from __future__ import annotations

import typing as t
from dataclasses import replace

from .._core.errors import text_of
from .._core.objects import KubeObject, name
from .._core.readiness import Readiness, failed
from .._nodes import devices as node_devices
from . import baselines, judge
from .expectations import expected, has_table
from .groups import grouped, is_clear, suspects
from .options import GpuWorkloadParams
from .programs import rdma
from .programs.program import Figure
from .turns import Turn
from .verdicts import FALLEN, LOW, Reading, Verdict, judge as judge_readings

JsonObject = dict[str, t.Any]
# Codes of a turn's error that mean that nothing was measured -> reason.
_NOT_RUN: t.Final = {
    "WORK-IMAGE": "image",
    "WORK-BUSY": "busy",
    "WORK-UNSCHEDULABLE": "busy",
    "WORK-GONE": "gone",
}


def settle(turn: Turn, stored: baselines.Baselines) -> None:
    """Judge the figures of a turn whose pods have ended, and note what is wrong with which node.

    Of nodes that ran a program together only the first one has the figures.
    """
    turn.verdicts, turn.wrong = {}, {}
    readings = [reading for node in turn.free for reading in _readings(node, turn, stored)]
    for verdict in judge_readings(readings, turn.params.program.tolerance):
        turn.verdicts.setdefault(verdict.reading.node, []).append(verdict)
    for node in turn.free:
        parts = judge.complaints(node, turn.ran.get(name(node), []))
        parts += [_too_low(turn, verdict) for verdict in turn.verdicts.get(name(node), []) if verdict.code]
        if parts:
            turn.wrong[name(node)] = parts


def _readings(node: KubeObject, turn: Turn, stored: baselines.Baselines) -> t.Iterator[Reading]:
    """Return the figures of a node; shares of one GPU slow each other, so those are not judged."""
    if node_devices.is_shared(node):
        return
    settings, own = turn.params.program, turn.params.expectations or {}
    for figure in figures_of(turn, name(node)):
        wanted = expected(figure, node_devices.product(node), settings, own)
        yield Reading(name(node), figure, wanted, stored.figure(node, settings, figure))


def settle_groups(turn: Turn) -> None:
    """Sort the groups of a turn's attempt into slow and good ones; the slow nodes are known after both."""
    for group in grouped([name(node) for node in turn.free], turn.params.program.nodes, turn.attempt):
        (turn.slow if any(node in turn.wrong for node in group) else turn.good).append(tuple(group))
    for node, parts in turn.wrong.items():
        turn.groups_wrong.setdefault(node, parts[0])


def needs_others(turn: Turn) -> bool:
    """Return whether other partners can tell which node is slow, or reach nodes that were left out."""
    size, number = turn.params.program.nodes, len(turn.free)
    if turn.attempt == 0:
        return number > size and (bool(turn.slow) or number % size > 0)
    return turn.attempt == 1 and number % size > 0 and not is_clear(turn.slow, turn.good)


def blame(turn: Turn) -> None:
    """Give what is wrong with groups to the nodes that are the cause."""
    named, found = suspects(turn.slow, turn.good), turn.groups_wrong
    if is_clear(turn.slow, turn.good):
        words = "is slow with each of its partners"
    else:
        words = f"is slow together with others, and no partner tells which of {', '.join(named)} it is"
    turn.wrong = {}
    faults = {node: found[node] for node in named if node in found and found[node].reason != "TooLow"}
    if faults:
        # A node that only says that its partner did not answer is hardly the cause.
        first = sorted(faults, key=lambda node: found[node].code == rdma.PATH)
        turn.wrong = {node: [found[node]] for node in [*first, *named] if node in found}
        return
    for node in named:
        # A program that prints only on the first node says nothing of the others.
        part = found.get(node) or next(iter(found.values()))
        said = part.message.removeprefix(f"Node {node}: ")
        turn.wrong[node] = [replace(part, message=f"Node {node} {words}: {said}")]


def figures_of(turn: Turn, node: str) -> list[Figure]:
    """Return the figures of the pods that passed on a node."""
    return [
        Figure(**one)
        for result in turn.ran.get(node, [])
        if result["passed"]
        for one in result["result"]["figures"]
    ]


def _too_low(turn: Turn, verdict: Verdict) -> Readiness:
    """Return what a figure says that is too low, with the reasons that were read beside it."""
    reading, settings = verdict.reading, turn.params.program
    figure, limit = reading.figure, _limit(verdict)
    warnings = [
        one
        for result in turn.ran.get(reading.node, [])
        for one in result["result"]["findings"]
        if one["status"] == "warn" and (not figure.device or one["device"] in ("", figure.device))
    ]
    notes = [one["text"] for one in warnings]
    reasons = [one["code"] for one in warnings if one["code"] and one["test"] == figure.name]
    text = text_of(
        reasons[0] if reasons and verdict.code == LOW else verdict.code,
        node=reading.node,
        program=settings.label,
        device=figure.device or "all devices",
        figure=f"{figure.name} {figure.value:g} {figure.unit}",
        limit=f"{limit:g} {figure.unit}",
        pool=turn.pool or "the node",
        reasons=f" Read beside it: {'; '.join(dict.fromkeys(notes))}." if notes else "",
    )
    return failed("TooLow", text.message, code=text.code, remedy=text.remedy, details=(text.message,))


def _limit(verdict: Verdict) -> float:
    reading = verdict.reading
    if verdict.code == LOW and reading.expected:
        return reading.expected.value
    return (reading.baseline if verdict.code == FALLEN else verdict.peers) or 0.0


def of_node(node: str, turn: Turn, free: t.Collection[str], basis: str) -> JsonObject | None:
    """Return the outcome of the turn's program on a node; None if an earlier run validated the node.

    free: names of the nodes that are validated now. basis: what figures without an expectation are compared
    with.
    """
    verdicts = [verdict.as_result() for verdict in turn.verdicts.get(node, [])]
    results = turn.ran.get(node, [])
    findings = [one for result in results for one in result["result"]["findings"]]
    more: JsonObject = {
        "program": turn.params.program.label,
        "code": "",
        "message": "",
        "remedy": "",
        "figures": verdicts,
        "findings": findings,
    }
    if node in turn.unfit:
        return {**more, "outcome": "not_run", "reason": "not_applicable", "message": turn.unfit[node]}
    if node in turn.busy:
        return {**more, "outcome": "not_run", "reason": "busy", "message": turn.busy[node]}
    if parts := turn.wrong.get(node):
        first = parts[0]
        said = {"code": first.code, "message": first.message, "remedy": first.remedy}
        return {**more, "outcome": "failed", "reason": "", **said}
    if node not in free:
        return None
    if turn.error is not None and not results:
        reason = _NOT_RUN.get(turn.error.code, "error")
        return {
            **more,
            "outcome": "not_run",
            "reason": reason,
            "code": turn.error.code,
            "message": turn.error.message,
        }
    if not results:
        return None
    if skipped := [one["result"]["not_applicable"] for one in results if one["result"]["not_applicable"]]:
        return {**more, "outcome": "not_run", "reason": "not_applicable", "message": skipped[0]}
    is_expected = not verdicts or any(one["expected"] is not None for one in verdicts)
    return {**more, "outcome": "passed", "reason": "" if is_expected else basis}


def _basis(turn: Turn) -> str:
    """Return what figures are compared with if no table knows the card, else an empty text."""
    products = {node_devices.product(node) for node in turn.free}
    if any(has_table(product, turn.params.program.program) for product in products):
        return ""
    return "no table for this GPU: compared with its peers and its own past"


def good_devices(number: int, verdicts: t.Sequence[Verdict]) -> int:
    """Return how many of so many devices measured well; a bad figure of the whole node leaves none."""
    bad = {verdict.reading.figure.device for verdict in verdicts if verdict.code}
    return 0 if "" in bad else max(0, number - len(bad))


def facts_of(turn: Turn) -> JsonObject:
    """Return the result of one program on one pool."""
    whole = judge.summarize(turn.found, turn.free, turn.ran, turn.params, turn.busy)
    free, basis = {name(node) for node in turn.free}, _basis(turn)
    for node in whole["nodes"]:
        outcome = of_node(node["name"], turn, free, basis)
        node["programs"] = [outcome] if outcome else []
        if node["name"] in turn.wrong:
            node["validated"] = good_devices(node["validated"], turn.verdicts.get(node["name"], []))
    return whole


def result(turns: t.Sequence[Turn], params: GpuWorkloadParams) -> dict[str, t.Any]:
    """Return the module's result. Raise the first error, with those of the others as evidence."""
    whole = _merged(turns, params)
    failures = [(turn.pool, turn.error) for turn in turns if turn.error]
    if not failures:
        return {"workload": whole}
    (pool, error), *more = failures
    error.facts["workload"] = whole
    words = [f"pool {other}: " if other else "" for other, _error in more]
    error.evidence += [
        f"{word}{one.code}: {one.message}" for word, (_pool, one) in zip(words, more, strict=True)
    ]
    if params.pools is not None and len(turns) > 1:
        error.message = f"Pool {pool}: {error.message}"
        error.facts["failed_pools"] = list(dict.fromkeys(pool for pool, _error in failures))
    raise error


def _merged(turns: t.Sequence[Turn], params: GpuWorkloadParams) -> dict[str, t.Any]:
    """Return one entry for each node of each pool, with what all programs say of it."""
    nodes: dict[tuple[str, str], dict[str, t.Any]] = {}
    due: list[str] = []
    for turn in turns:
        facts = facts_of(turn)
        due += [one for one in facts["due"] if one not in due]
        for node in facts["nodes"]:
            of_pool = {"pool": turn.pool} if params.pools is not None else {}
            entry = nodes.setdefault((turn.pool, node["name"]), {**node, **of_pool})
            if entry["programs"] is node["programs"]:
                continue
            entry["ran"] = entry["ran"] or node["ran"]
            entry["validated"] = min(entry["validated"], node["validated"])
            entry["busy"] = entry["busy"] or node["busy"]
            entry["pods"] = [*entry["pods"], *node["pods"]]
            entry["programs"] = [*entry["programs"], *node["programs"]]
    return {
        "namespace": params.namespace,
        "benchmark": ", ".join(sorted({turn.params.benchmark for turn in turns})),
        "due": due,
        "nodes": list(nodes.values()),
    }
