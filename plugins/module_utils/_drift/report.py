# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""The report of drift.yml: what differs between the cluster and the pools, from each step in check mode."""

from __future__ import annotations

import json
import typing as t

from .._core.bounded import number_missing
from .._core.diff import differing
from .._core.objects import merge, number_of
from .._core.ownership import MANAGED_BY, has_label
from .._nodes import cordons
from .._pools import leftovers
from .._pools.model import JsonObject
from .._pools.report import parts_of, warnings_of
from . import brief

NONE, FOUND, UNKNOWN = "none", "found", "unknown"
MISSING, CHANGED, SURPLUS, NODES, REFUSED = "missing", "changed", "surplus", "nodes", "refused"
_HEADING: t.Final = ("POOL", "OBJECT", "FIELD", "LIVE", "WANTED")
_WIDTH: t.Final = 60
# The tag of each step, and the variables with which a run of that tag writes what the dry run showed.
_TAGS: t.Final = {
    "nodes": "gpu_node_pool",
    "tuning": "node_tuning",
    "labels": "node_feature_discovery",
    "nic": "nvidia_network_operator",
    "networks": "gpu_network",
    "sharing": "gpu_sharing",
    "stack": "gpu_operator",
    "policy": "gpu_policy",
    "monitoring": "gpu_monitoring",
}
_ADOPTING: t.Final = frozenset(_TAGS.values()) - {"node_tuning", "gpu_sharing"}
# What a run writes on its way to the pools: it empties a node, and says which Machine goes.
_ON_THE_WAY: t.Final = frozenset(
    (
        "spec.unschedulable",
        *(
            f"metadata.annotations.{key}"
            for key in (cordons.MARK, cordons.RUN, "machine.openshift.io/delete-machine")
        ),
    )
)
# Annotations with which a run remembers what it did.
_NOTES: t.Final = "accelerators.openshift/"
_GOING: t.Final = ("Machine ", "Pod ")
_ENABLE: t.Final = "ansible-playbook accelerators.openshift.enable_gpus -e @FILE"
_MONITOR: t.Final = "ansible-playbook accelerators.openshift.monitor_gpus -e @FILE"


def report(plan: t.Mapping[str, t.Any], steps: t.Mapping[str, t.Any]) -> JsonObject:
    """Return what differs from the plan.

    steps: name of a step to its result in check mode with diff, a loop's result, or a list of them. The
    report has C(verdict) (none, found, or unknown if a step failed and no other one found a difference),
    C(code), C(message), C(findings), C(commands), C(warnings), C(left_out) (0), C(brief) (what of these fits
    into a job event of AWX) and C(table).
    """
    parts = {name: list(parts_of(result)) for name, result in steps.items()}
    findings = [entry for name, found in parts.items() for part in found for entry in _of_part(name, part)]
    findings += _of_leftovers(plan, parts.get("nodes", ()))
    different = [finding for finding in findings if finding["kind"] != REFUSED]
    verdict = FOUND if different else UNKNOWN if findings else NONE
    facts: JsonObject = {
        "verdict": verdict,
        **_texts(verdict, findings),
        "findings": findings,
        "commands": _together(finding["command"] for finding in findings if finding["command"]),
        "warnings": [*_kept(findings), *warnings_of(steps)],
        "left_out": 0,
    }
    return {**facts, "brief": brief.brief(facts), "table": _table(facts)}


def _of_part(step: str, part: JsonObject) -> t.Iterator[JsonObject]:
    """Yield the findings of one result."""
    pool = _pool_of(part)
    if part.get("failed"):
        yield _finding(step, pool, REFUSED, _object_of(step, pool), message=_message(part))
        return
    keepers = {diff["before_header"]: str(diff.get("manager") or "") for diff in part.get("diff") or []}
    found = [
        _of_change(step, pool, object_name, *pairs, keepers[object_name])
        for object_name, pairs in _changes(part).items()
    ]
    found = [diff for diff in found if diff is not None]
    yield from t.cast("list[JsonObject]", found)
    yield from _of_machines(step, pool, part.get("drift") or [])
    if step == "nodes" and not found:
        yield from _of_nodes(step, pool, part)


def _changes(part: JsonObject) -> dict[str, tuple[JsonObject, JsonObject]]:
    """Return the object's first and last state for each object_name."""
    pairs: dict[str, tuple[JsonObject, JsonObject]] = {}
    for diff in part.get("diff") or []:
        object_name = diff["before_header"]
        pairs[object_name] = (
            pairs[object_name][0] if object_name in pairs else diff["before"],
            diff["after"],
        )
    return pairs


def _of_change(
    step: str, pool: str, object_name: str, before: JsonObject, after: JsonObject, keeper: str
) -> JsonObject | None:
    """Return the finding of one object that a run would write.

    None if it would only add our label and notes, or if the write only serves another difference. keeper: the
    tool that keeps the object, such as Argo CD, or "".
    """
    if not after and object_name.startswith(_GOING):
        return None
    if not before or not after:
        return _finding(step, pool, SURPLUS if before else MISSING, object_name)
    is_foreign = has_label(after) and not has_label(before)
    if is_foreign:
        notes = (after.get("metadata") or {}).get("annotations") or {}
        ours = {key: value for key, value in notes.items() if key.startswith(_NOTES)}
        marks = {"labels": MANAGED_BY, **({"annotations": ours} if ours else {})}
        before = merge(before, {"metadata": marks})
    fields = [_field(*change) for change in differing(before, after) if change[0] not in _ON_THE_WAY]
    return _finding(step, pool, CHANGED, object_name, fields, keeper=keeper) if fields else None


def _of_machines(step: str, pool: str, drift: t.Iterable[JsonObject]) -> t.Iterator[JsonObject]:
    """Yield the Machines that differ from their machine set; only new ones would be right."""
    for machine_set in drift:
        for machine in machine_set.get("machines") or []:
            field = _field(machine_set["field"], machine_set["live"], machine_set["wanted"])
            more = "-e gpu_node_pool_on_change=replace"
            yield _finding(step, pool, CHANGED, f"Machine {machine}", [field], more=more)


def _of_nodes(step: str, pool: str, part: JsonObject) -> t.Iterator[JsonObject]:
    """Yield the number of nodes, if the machine sets are right and a machine is not a node all the same."""
    if "machine_sets" not in part:
        return
    wanted = sum(machine_set["replicas"] for machine_set in part["machine_sets"])
    live = len(part.get("nodes") or []) + number_missing(part, "nodes")
    if live != wanted:
        yield _finding(step, pool, NODES, f"pool {pool}", [_field("nodes", live, wanted)])


def _of_leftovers(plan: t.Mapping[str, t.Any], nodes: t.Iterable[JsonObject]) -> list[JsonObject]:
    """Return our objects that the list of pools does not have."""
    found = [*leftovers.of_pools(plan, nodes), *(plan.get("leftovers") or [])]
    return [
        {
            "pool": "",
            "step": "leftovers",
            "kind": SURPLUS,
            "object": leftover["object"],
            "fields": [],
            "message": "",
            "manager": "",
            "command": leftover["command"],
        }
        for leftover in found
    ]


def _finding(
    step: str,
    pool: str,
    kind: str,
    object_name: str,
    fields: t.Sequence[JsonObject] = (),
    message: str = "",
    more: str = "",
    keeper: str = "",
) -> JsonObject:
    """Return one finding. A run would only quarrel with a keeper, so such a finding has no command."""
    tag = _TAGS.get(step, step)
    words = [_MONITOR] if step == "monitoring" else [_ENABLE, f"--tags {tag}"]
    if kind == CHANGED and tag in _ADOPTING and not more:
        words.append(f"-e {tag}_adopt=take")
    if any(field["field"] == "spec.replicas" for field in fields):
        words.append("-e gpu_node_pool_on_scaled=take")
    return {
        "pool": pool,
        "step": step,
        "kind": kind,
        "object": object_name,
        "fields": list(fields),
        "message": message,
        "manager": keeper,
        "command": "" if keeper else " ".join([*words, *([more] if more else [])]),
    }


def _kept(findings: t.Iterable[JsonObject]) -> list[str]:
    """Return what to do about the objects that another tool keeps: it would undo the change of a run."""
    found = {finding["object"]: finding["manager"] for finding in findings if finding["manager"]}
    return [
        f"{object_name} is kept by {keeper}: change it there (in Git), or set the variables of the roles to "
        f"its values. {keeper} would undo what a run changes."
        for object_name, keeper in found.items()
    ]


def _together(commands: t.Iterable[str]) -> list[str]:
    """Return each command once, and one command for each tag of enable_gpus with all its variables."""
    found: dict[str, dict[str, None]] = {}
    for line in commands:
        start, *variables = line.partition(_ENABLE)[2].split(" -e ") if line.startswith(_ENABLE) else [line]
        words = f"{_ENABLE}{start}" if line.startswith(_ENABLE) else line
        found.setdefault(words, {}).update(dict.fromkeys(variables))
    return [" -e ".join([words, *variables]) for words, variables in found.items()]


def _field(path: str, live: t.Any, wanted: t.Any) -> JsonObject:
    return {"field": path, "live": live, "wanted": wanted}


def _pool_of(part: JsonObject) -> str:
    """Return the pool of a result, or of the loop's item that failed."""
    pool = part.get("pool") or part.get("__gpu_node_pool_pool")
    return str(pool.get("name") or "") if isinstance(pool, t.Mapping) else ""


def _object_of(step: str, pool: str) -> str:
    return f"pool {pool}" if pool else f"step {_TAGS.get(step, step)}"


def _message(part: JsonObject) -> str:
    return str(part.get("msg") or part.get("message") or "")


def _texts(verdict: str, findings: t.Sequence[JsonObject]) -> JsonObject:
    """Return code and message."""
    objects = list(dict.fromkeys(finding["object"] for finding in findings))
    shown = ", ".join(objects[:5]) + (f" and {len(objects) - 5} more" if len(objects) > 5 else "")
    if verdict == FOUND:
        text = f"{number_of(len(objects), 'object')} {'differs' if len(objects) == 1 else 'differ'}"
        return {"code": "DRIFT-FOUND", "message": f"{text} from gpu_pools: {shown}."}
    if verdict == UNKNOWN:
        text = f"No difference was found, but these steps could not look: {shown}."
        return {"code": "DRIFT-UNKNOWN", "message": text}
    return {"code": "", "message": "No drift, the cluster is as gpu_pools says."}


def _table(facts: JsonObject) -> list[str]:
    if not facts["findings"]:
        return [facts["message"]]
    rows = [_HEADING, *(row for finding in facts["findings"] for row in _rows(finding))]
    widths = [max(len(row[column]) for row in rows) for column in range(len(_HEADING))]
    heading, *lines = (
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    )
    commands = [f"run   {command}" for command in facts["commands"]]
    return brief.table(heading, lines, [*commands, *(f"note  {text}" for text in facts["warnings"])])


def _rows(finding: JsonObject) -> t.Iterator[tuple[str, ...]]:
    head = (finding["pool"] or "all", finding["object"])
    if finding["kind"] == REFUSED:
        yield (*head, "-", "could not look", _short(finding["message"]))
    elif finding["kind"] in (MISSING, SURPLUS):
        there, not_there = ("no", "yes") if finding["kind"] == MISSING else ("yes", "no")
        yield (*head, "the object", there, not_there)
    for field in finding["fields"]:
        yield (*head, field["field"], _shown(field["live"]), _shown(field["wanted"]))


def _shown(value: t.Any) -> str:
    return "-" if value is None else _short(value if isinstance(value, str) else json.dumps(value))


def _short(text: str) -> str:
    return text if len(text) <= _WIDTH else f"{text[: _WIDTH - 3]}..."
