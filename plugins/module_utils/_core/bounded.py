# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Keep a task's result small enough for a job event of AWX, however many nodes the cluster has."""

from __future__ import annotations

import json
import typing as t

Entry = t.Mapping[str, t.Any]
# A job event of AWX may have 100 KiB, and also holds the arguments of the task.
MOST: t.Final = 84 * 1024
# The key of a result that says what it does not have.
LEFT_OUT: t.Final = "left_out"
# A shorter list is never cut.
_FEW: t.Final = 20
# Never cut these lists: later tasks need every entry. In lists by pool, cut only the lists inside an entry.
_WHOLE: t.Final = ("diff", "foreseen", "drift", "plan")
_BY_POOL: t.Final = ("pools", "groups", "met", "nvidia_drivers", "machine_sets", "sharing", "preemption")
# What a node or a pod is to have, and what it offers of that.
_OFFERED: t.Final = ("allocatable", "offered")
_TROUBLE: t.Final = ("code", "error", "busy", "misfit", "failure")
_BAD: t.Final = ("failed", "upgrade-failed", "blocking", "warning", "pending")
_PARTS: t.Final = ("operands", "pods")

T = t.TypeVar("T")


def fitting(entries: t.Sequence[T], room: int) -> list[T]:
    """Return the first entries whose JSON has together at most that many bytes."""
    found: list[T] = []
    for entry in entries:
        room -= _size(entry) + 2
        if room < 0:
            break
        found.append(entry)
    return found


def result(found: dict[str, t.Any], most: int = MOST) -> dict[str, t.Any]:
    """Return a result of at most that many bytes without its diff, if lists that may be cut make up the rest.

    A list that is cut has what is wrong first, then one entry of each pool. C(left_out) then has an entry for
    each such list and each pool in it: C(list), C(pool), the C(number) of missing entries, and the C(sums) of
    their numbers.
    """
    size = _size({key: value for key, value in found.items() if key != "diff"})
    if size <= most:
        return found
    lists = dict(_lists(found))
    sizes = {path: _size(listed) for path, listed in lists.items()}
    room = most - size + sum(sizes.values())
    cut: dict[str, list[t.Any]] = {}
    for number, (path, needed) in enumerate(sorted(sizes.items(), key=lambda pair: pair[1])):
        # What short lists do not need is left to the long ones, and the sums need some of it.
        share = max(0, room) // (len(sizes) - number)
        if needed > share:
            cut[path] = fitting(_worst_first(lists[path]), share - _size(_gone(path, lists[path])))
        room -= min(needed, share)
    gone = [note for path, kept in cut.items() for note in _gone(path, _without(lists[path], kept))]
    return {**_replaced(found, cut), LEFT_OUT: gone} if gone else found


def missing(found: Entry, path: str, pool: str | None = None) -> list[Entry]:
    """Return what a result says of the entries that a list lacks, of one pool or of all."""
    given: t.Iterable[Entry] = found.get(LEFT_OUT) or []
    return [note for note in given if note["list"] == path and pool in (None, note["pool"])]


def number_missing(found: Entry, path: str) -> int:
    """Return how many entries a list of a result lacks."""
    return sum(note["number"] for note in missing(found, path))


def _size(value: t.Any) -> int:
    return len(json.dumps(value, default=str))


def _lists(value: t.Any, path: str = "") -> t.Iterator[tuple[str, list[t.Any]]]:
    """Yield the outermost lists that may be cut, with their paths such as C(special_resource.nodes)."""
    if isinstance(value, list):
        is_cut = path.rpartition(".")[2] not in _BY_POOL
        if is_cut and len(value) > _FEW and not any(map(_is_object, value)):
            yield path, value
            return
        for number, item in enumerate(value):
            yield from _lists(item, f"{path}[{number}]")
    if isinstance(value, dict) and not _is_object(value):
        for key, item in value.items():
            if key not in _WHOLE:
                yield from _lists(item, f"{path}.{key}" if path else str(key))


def _replaced(value: t.Any, cut: t.Mapping[str, list[t.Any]], path: str = "") -> t.Any:
    if path in cut:
        return cut[path]
    if isinstance(value, list):
        return [_replaced(item, cut, f"{path}[{number}]") for number, item in enumerate(value)]
    if isinstance(value, dict):
        return {
            key: _replaced(item, cut, f"{path}.{key}" if path else str(key)) for key, item in value.items()
        }
    return value


def _is_object(value: t.Any) -> bool:
    """Return True for an object of the API: a playbook may write it back."""
    return isinstance(value, dict) and "apiVersion" in value and "kind" in value


def _worst_first(entries: t.Sequence[t.Any]) -> list[t.Any]:
    """Return the entries: those that are wrong, then the first of each pool, then the others."""
    pools: set[str] = set()

    def place(entry: t.Any) -> int:
        if _is_wrong(entry):
            return 0
        pool = str(entry.get("pool") or "") if isinstance(entry, dict) else ""
        is_first = bool(pool) and pool not in pools
        pools.add(pool)
        return 1 if is_first else 2

    return sorted(entries, key=place)


def _is_wrong(entry: t.Any) -> bool:
    if not isinstance(entry, dict):
        return False
    if any(entry.get(key) is False for key in ("ready", "passed", "fits")):
        return True
    if any(entry.get(key) for key in _TROUBLE):
        return True
    if any(str(entry.get(key) or "").lower() in _BAD for key in ("phase", "state", "verdict")):
        return True
    if _lacks(entry):
        return True
    return any(
        _is_wrong(part) for key in _PARTS if isinstance(entry.get(key), list) for part in entry[key]
    ) or _is_wrong(entry.get("kernel"))


def _lacks(entry: Entry) -> bool:
    """Return True if a node offers fewer devices than it is to have."""
    expected = entry.get("expected")
    given = next((entry[key] for key in _OFFERED if isinstance(entry.get(key), dict)), None)
    if not isinstance(expected, dict) or given is None:
        return False
    return any(_number(given.get(key)) < _number(wanted) for key, wanted in expected.items())


def _without(entries: t.Sequence[t.Any], kept: t.Sequence[t.Any]) -> list[t.Any]:
    names = {id(entry) for entry in kept}
    if isinstance(entries[0], dict):
        return [entry for entry in entries if id(entry) not in names]
    return list(entries[len(kept) :])


def _gone(path: str, entries: t.Sequence[t.Any]) -> list[dict[str, t.Any]]:
    """Return what C(left_out) says of these entries of a list, pool by pool."""
    pools: dict[str, list[t.Any]] = {}
    for entry in entries:
        pools.setdefault(str(entry.get("pool") or "") if isinstance(entry, dict) else "", []).append(entry)
    return [
        {"list": path, "pool": pool, "number": len(those), "sums": _sums(those)}
        for pool, those in pools.items()
    ]


def _sums(entries: t.Iterable[t.Any]) -> dict[str, t.Any]:
    found: dict[str, t.Any] = {}
    for entry in entries:
        for key, value in entry.items() if isinstance(entry, dict) else ():
            if _is_number(value):
                found[key] = round(found.get(key, 0) + value, 3)
            elif isinstance(value, dict) and value and all(map(_is_number, value.values())):
                into = found.setdefault(key, {})
                into.update({name: into.get(name, 0) + number for name, number in value.items()})
    return found


def _is_number(value: t.Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _number(value: t.Any) -> float:
    return float(value) if _is_number(value) else 0.0
