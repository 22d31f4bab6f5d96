# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""API objects: their type, and helpers for maps."""

from __future__ import annotations

import copy
import typing as t

# An object of the Kubernetes API, live or to be applied.
KubeObject = dict[str, t.Any]
# What a wait sees: the name of each of its queries -> the objects that the query found.
Snapshot = t.Mapping[str, t.Sequence[KubeObject]]


def name(obj: KubeObject) -> str:
    return str(obj["metadata"]["name"])


def number_of(count: int, noun: str) -> str:
    """Return number and noun for a message: C(1 pod), C(3 pods)."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def seconds(number: float) -> str:
    """Return a time as people read it: 0.4 s, 41 s, 3 min 20 s, 1 h 5 min."""
    whole = round(number)
    if number < 10:
        return f"{number:.1f} s"
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"


def merge(base: t.Any, over: t.Any) -> t.Any:
    """Return a copy of `base` with `over`: merge maps key by key, replace all other values."""
    if not isinstance(base, dict) or not isinstance(over, dict):
        return copy.deepcopy(over)
    return {
        key: merge(base.get(key), over[key]) if key in over else copy.deepcopy(base[key])
        for key in [*base, *(key for key in over if key not in base)]
    }


def at(values: t.Any, path: str) -> t.Any:
    """Return the value at a path such as C(spec.driver), or None if a part of the path is missing."""
    for key in path.split("."):
        values = values.get(key) if isinstance(values, t.Mapping) else None
    return values


def named(objects: t.Iterable[KubeObject], wanted: str) -> KubeObject:
    """Return the object with this name, or an empty dict if there is none."""
    return next((obj for obj in objects if name(obj) == wanted), {})


def oldest(objects: t.Iterable[KubeObject]) -> KubeObject:
    """Return the oldest object, then the first by name; an empty dict without objects.

    Of several ClusterPolicies the GPU operator follows the oldest one, and gives the others no status.
    """
    return min(
        objects, key=lambda obj: (str(obj["metadata"].get("creationTimestamp") or ""), name(obj)), default={}
    )


def event_time(event: KubeObject) -> str:
    """Return the time of an event (RFC 3339), or an empty text; the two event APIs fill different fields."""
    last = ("series.lastObservedTime", "lastTimestamp", "eventTime", "firstTimestamp")
    paths = (*last, "metadata.creationTimestamp")
    return str(next(filter(None, (at(event, path) for path in paths)), ""))
