"""What merge and apply patches do to an object, for the API server in memory."""

from __future__ import annotations

import copy
import typing as t

Object = dict[str, t.Any]


def merge(into: Object, patch: t.Mapping[str, t.Any]) -> None:
    """Write a merge patch into an object: null removes a field, and an inner object is merged."""
    for key, value in patch.items():
        if value is None:
            into.pop(key, None)
        elif isinstance(value, dict) and isinstance(into.get(key), dict):
            merge(into[key], value)
        else:
            into[key] = copy.deepcopy(value)


def fields(body: t.Mapping[str, t.Any]) -> Object:
    """Return the fields that an apply patch owns, in the form of `fieldsV1`."""
    skipped = ("apiVersion", "kind", "name", "namespace")
    return {
        f"f:{key}": fields(value) if isinstance(value, dict) else {}
        for key, value in body.items()
        if key not in skipped
    }


def managed(obj: Object) -> Object:
    """Return the fields that the last apply owns; empty where there was none."""
    entries = obj["metadata"].get("managedFields", ())
    return next((entry["fieldsV1"] for entry in entries if entry["operation"] == "Apply"), {})


def prune(obj: t.Any, owned: Object, wanted: t.Any) -> None:
    """Remove what the manager owned and no longer wants."""
    for key, inner in owned.items():
        name = key[2:]
        if name not in wanted:
            obj.pop(name, None)
        elif inner and isinstance(obj.get(name), dict):
            prune(obj[name], inner, wanted[name])
