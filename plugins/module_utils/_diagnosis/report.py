# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""The result of a diagnosis: a sentence, the layers, the troubles with their cause, and lines to read."""

from __future__ import annotations

import typing as t

from .._core.objects import number_of
from . import model, seen as names, stack
from .model import LAYERS, Group, Layer, Seen, Trouble

_MOST_GROUPS: t.Final = 40
# What is there if a layer of the driver stack is.
_STACKS: t.Final = ("policies", "clusters", "modules")
_OF_STACKS: t.Final = {
    **dict.fromkeys((model.DRIVER, model.TOOLKIT, model.PLUGIN, model.SHARING), _STACKS),
    model.DRA: ("clusters",),
    model.NIC: ("nics",),
}
# Without these lists a layer of a stack that is there was not judged.
_LISTS: t.Final = {
    **dict.fromkeys(_OF_STACKS, stack.NEEDED),
    model.NIC: tuple(f"{one} of {names.NIC}" for one in stack.NEEDED),
}


def result(seen: Seen, found: t.Sequence[Trouble], walked: t.Sequence[Layer]) -> dict[str, t.Any]:
    """Return the module's result. found: the troubles, root causes first."""
    every = model.groups(found)
    roots = [one for one in every if not one.first.cause and not one.first.is_busy]
    notes = [note for layer in walked for note in layer.notes(seen)]
    diagnosis = {
        "healthy": not roots,
        "summary": summary(every, roots, seen),
        "code": roots[0].first.code if roots else "",
        "layers": layers(seen, every, walked),
        "troubles": [one.as_result() for one in every[:_MOST_GROUPS]],
        "notes": notes[:_MOST_GROUPS],
        "unread": [{"what": key, "why": why} for key, why in sorted(seen.unread.items())],
    }
    return {"diagnosis": diagnosis, "table": lines(diagnosis)}


def summary(every: t.Sequence[Group], roots: t.Sequence[Group], seen: Seen) -> str:
    """Return the diagnosis in one or two sentences."""
    nodes = number_of(len(seen.of("nodes")), "GPU node")
    busy = [one for one in every if one.first.is_busy and not one.first.cause]
    going = f" Going on: {'; '.join(_short(one) for one in busy[:3])}." if busy else ""
    unread = f" {number_of(len(seen.unread), 'list')} could not be read." if seen.unread else ""
    if not roots:
        found = "Nothing wrong was found" if seen.unread else "Nothing is wrong"
        return f"{found} on {nodes}.{going}{unread}"
    first = roots[0].first
    more = f" {number_of(len(roots) - 1, 'more cause')} below." if roots[1:] else ""
    return f"{first.code}: {first.message}{more}{going}{unread}"


def _short(group: Group) -> str:
    where = f" on {_number(group.first.layer, len(group.nodes))}" if group.nodes else ""
    return f"{group.first.code}{where}"


def _number(layer: str, count: int) -> str:
    return number_of(count, "machine" if layer == model.MACHINE else "node")


def layers(seen: Seen, every: t.Sequence[Group], walked: t.Sequence[Layer]) -> list[dict[str, str]]:
    """Return the verdict of each layer, its first code, and the layer that it waits for."""
    reads = {**_OF_STACKS, **{one.name: one.queries for one in walked}}
    found = []
    for name in LAYERS:
        own = [one.first for one in every if one.first.layer == name]
        roots = [one for one in own if not one.cause]
        first = next(iter([*(one for one in roots if not one.is_busy), *own]), None)
        if first is None:
            verdict = _quiet(seen, reads.get(name, ()), _LISTS.get(name, ()))
        elif first.cause:
            verdict = model.WAITS
        else:
            verdict = model.BUSY if first.is_busy else model.TROUBLE
        code, cause = (first.code, first.cause) if first else ("", "")
        found.append({"name": name, "verdict": verdict, "code": code, "cause": cause})
    return found


def _quiet(seen: Seen, queries: t.Sequence[str], lists: t.Sequence[str]) -> str:
    """Return the verdict of a layer without a trouble. lists: what its judge needs in addition."""
    is_there = any(seen.of(one) for one in queries)
    if any(one in seen.unread for one in (lists if is_there else queries)):
        return model.UNREAD
    return model.ABSENT if queries and not is_there else model.OK


def lines(diagnosis: t.Mapping[str, t.Any]) -> list[str]:
    """Return what a person reads: each cause with what was seen and the remedy, then what follows from it."""
    causes = [one for one in diagnosis["troubles"] if not one["cause"] and not one["busy"]]
    told = [line for one in causes for line in _cause(one)]
    if not causes:
        told.append(diagnosis["summary"])
    by_cause: dict[str, list[str]] = {}
    for one in diagnosis["troubles"]:
        if one["cause"]:
            by_cause.setdefault(one["cause"], []).append(f"{one['layer']} ({one['code']}{_where(one)})")
    told += [f"Only a consequence of {cause}: {'; '.join(own)}" for cause, own in by_cause.items()]
    going = [one for one in diagnosis["troubles"] if one["busy"] and not one["cause"]]
    told += [f"Going on: {one['code']}{_where(one)}: {one['message']}" for one in going]
    for verdict, words in ((model.OK, "In order"), (model.ABSENT, "Not there"), (model.UNREAD, "Not read")):
        own = [one["name"] for one in diagnosis["layers"] if one["verdict"] == verdict]
        told += [f"{words}: {', '.join(own)}"] if own else []
    told += [f"Note: {one}" for one in diagnosis["notes"]]
    told += [f"Could not read {one['what']}: {one['why']}" for one in diagnosis["unread"]]
    return told


def _where(one: t.Mapping[str, t.Any]) -> str:
    return f" on {_number(one['layer'], one['number'])}" if one["number"] > 1 else ""


def _cause(one: t.Mapping[str, t.Any]) -> list[str]:
    since = f" since {one['since']}" if one["since"] else ""
    nodes = ", ".join(one["nodes"]) + (", ..." if one["number"] > len(one["nodes"]) else "")
    return [
        f"{one['code']} (layer {one['layer']}{since}): {one['message']}",
        *([f"  on:    {_number(one['layer'], one['number'])}: {nodes}"] if one["number"] > 1 else []),
        *(f"  seen:  {line}" for line in one["evidence"]),
        f"  do:    {one['remedy']}",
        f"  ends:  {one['ends'] or 'nothing'}",
    ]
