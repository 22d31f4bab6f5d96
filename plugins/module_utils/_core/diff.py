# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Compare objects: whether a write is needed, what its diff shows, and what a run in check mode predicts."""

from __future__ import annotations

import json
import typing as t

from .objects import KubeObject
from .ownership import MANAGER

Object = t.Mapping[str, t.Any]
_HIDDEN = "<hidden>"
CREATE, CHANGE, DELETE, KEEP = "create", "change", "delete", "keep"


def covers(live: t.Any, wanted: t.Any) -> bool:
    """Return True if the live value has every wanted field with the wanted value.

    Return False in doubtful cases (defaults inside lists, units): the server then decides.
    """
    if isinstance(wanted, t.Mapping):
        return isinstance(live, t.Mapping) and all(
            key in live and covers(live[key], value) for key, value in wanted.items()
        )
    if isinstance(wanted, (list, tuple)):
        return isinstance(live, (list, tuple)) and len(live) == len(wanted) and all(map(covers, live, wanted))
    return type(live) is type(wanted) and bool(live == wanted)


def plain(value: t.Any) -> t.Any:
    """Return a copy in plain JSON types; Ansible's templating returns subclasses of them."""
    return json.loads(json.dumps(value))


def managed_fields(live: Object) -> Object:
    """Return the fields that our last server-side apply owns, in the API's FieldsV1 format."""
    for entry in live.get("metadata", {}).get("managedFields", ()):
        if (
            entry.get("manager") == MANAGER
            and entry.get("operation") == "Apply"
            and not entry.get("subresource")
        ):
            fields: Object = entry.get("fieldsV1", {})
            return fields
    return {}


def is_written_by_us(live: Object) -> bool:
    """Return True if one of our requests created or changed the object."""
    return any(entry.get("manager") == MANAGER for entry in live.get("metadata", {}).get("managedFields", ()))


def has_stale_fields(fields: Object, wanted: t.Any) -> bool:
    """Return True if we own a field that is no longer wanted; an apply would remove it."""
    for key, inner in fields.items():
        kind, _colon, name = key.partition(":")
        if kind == "f":
            if (
                not isinstance(wanted, t.Mapping)
                or name not in wanted
                or has_stale_fields(inner, wanted[name])
            ):
                return True
        elif kind == "k":
            match = json.loads(name)
            item = (
                next((candidate for candidate in wanted if covers(candidate, match)), None)
                if isinstance(wanted, list)
                else None
            )
            # A key may have fields that the server sets by default, such as the protocol of a port.
            if item is None or has_stale_fields(inner, item):
                return True
        elif kind == "v" and json.loads(name) not in (wanted if isinstance(wanted, list) else ()):
            return True
    return False


def same(one: Object, other: Object) -> bool:
    """Return True if two versions of an object differ in nothing but the server's bookkeeping fields."""
    return _without_bookkeeping(one) == _without_bookkeeping(other)


def _without_bookkeeping(obj: Object) -> dict[str, t.Any]:
    metadata = {
        key: value
        for key, value in obj.get("metadata", {}).items()
        if key not in ("managedFields", "resourceVersion", "generation")
    }
    return {**obj, "metadata": metadata}


def project(value: t.Any, shape: t.Any) -> t.Any:
    """Return those fields of a live value that the shape has."""
    if isinstance(shape, t.Mapping) and isinstance(value, t.Mapping):
        return {key: project(value[key], inner) for key, inner in shape.items() if key in value}
    return value


def shape_of(fields: Object) -> dict[str, t.Any]:
    """Return the maps of FieldsV1 as a shape for `project`, which takes each list as a whole."""
    return {
        key[2:]: shape_of(inner) if all(part.startswith(("f:", ".")) for part in inner) else None
        for key, inner in fields.items()
        if key.startswith("f:")
    }


def merge_shapes(one: t.Any, other: t.Any) -> t.Any:
    """Return a shape with the fields of both."""
    if isinstance(one, t.Mapping) and isinstance(other, t.Mapping):
        return {
            key: merge_shapes(one.get(key), other[key]) if key in other else one[key]
            for key in [*one, *(key for key in other if key not in one)]
        }
    return one if one is not None else other


def owned_view(obj: Object | None, shape: Object) -> dict[str, t.Any]:
    """Return the fields of an object that a diff shows: the owned ones, with the data of a Secret hidden."""
    if obj is None:
        return {}
    view = {key: value for key, value in project(obj, shape).items() if key not in ("status",)}
    if obj.get("kind") == "Secret":
        for key in ("data", "stringData"):
            if key in view:
                view[key] = dict.fromkeys(view[key] or {}, _HIDDEN)
    return view


def object_name(obj: Object) -> str:
    """Return kind, namespace and name: `ConfigMap default/example`."""
    metadata = obj.get("metadata", {})
    place = f"{metadata['namespace']}/" if metadata.get("namespace") else ""
    return f"{obj.get('kind')} {place}{metadata.get('name') or metadata.get('generateName', '')}"


class Written(t.Protocol):
    """One write that the Api recorded."""

    @property
    def object_name(self) -> str: ...
    @property
    def before(self) -> KubeObject: ...
    @property
    def after(self) -> KubeObject: ...


def foreseen(
    changes: t.Iterable[Written], kept: t.Iterable[str], unchecked: t.Mapping[str, str]
) -> list[dict[str, t.Any]]:
    """Return a map with action, object and fields for each object, in the order of the first write.

    fields: the paths that would change, without their values. unchecked: why the server could not check the
    object; only such an object has this key.
    """
    spans: dict[str, tuple[KubeObject, KubeObject]] = {}
    for change in changes:
        first = spans[change.object_name][0] if change.object_name in spans else change.before
        spans[change.object_name] = (first, change.after)
    found = [
        _entry(object_name, before, after)
        | ({"unchecked": unchecked[object_name]} if object_name in unchecked else {})
        for object_name, (before, after) in spans.items()
    ]
    return found + [
        {"action": KEEP, "object": object_name, "fields": []}
        for object_name in dict.fromkeys(kept)
        if object_name not in spans
    ]


def _entry(object_name: str, before: KubeObject, after: KubeObject) -> dict[str, t.Any]:
    if not before or not after:
        return {"action": DELETE if before else CREATE, "object": object_name, "fields": []}
    return {
        "action": CHANGE,
        "object": object_name,
        "fields": [path for path, _live, _wanted in differing(before, after)],
    }


def differing(before: t.Any, after: t.Any, path: str = "") -> t.Iterator[tuple[str, t.Any, t.Any]]:
    """Yield the path of each field that differs, with both values."""
    if isinstance(before, dict) and isinstance(after, dict):
        for key in sorted({*before, *after}, key=str):
            yield from differing(before.get(key), after.get(key), f"{path}.{key}" if path else str(key))
    elif before != after:
        yield path, before, after
