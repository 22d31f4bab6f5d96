# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Fields of a live object and their managers: what an apply of ours leaves, and whose values it changes."""

from __future__ import annotations

import typing as t

from . import diff
from .errors import ConflictError
from .objects import KubeObject, merge
from .ownership import MANAGER

# Annotation with the paths whose default an option replaces: without that option the default returns.
REPLACED: t.Final = "accelerators.openshift/replaced-defaults"
# The API server writes this manager for fields of an object that had no managers.
_NOBODY: t.Final = "before-first-apply"


class Conflict(t.NamedTuple):
    """A field that the task asks for and that another manager set to another value.

    since: when it did, or empty.
    """

    path: str
    live: t.Any
    asked: t.Any
    manager: str
    since: str

    @property
    def line(self) -> str:
        """Return the field with both values, its manager and the time."""
        since = f" at {self.since}" if self.since else ""
        return f"{self.path} is {self.live!r}, set by {self.manager}{since}; the task asks for {self.asked!r}"


def with_defaults(
    defaults: t.Mapping[str, t.Any], asked: t.Mapping[str, t.Any], live: KubeObject | None
) -> dict[str, t.Any]:
    """Return the spec to apply: what is asked for, and of the defaults what no other manager changed.

    A new object gets all defaults. Later, a default that our last apply owns keeps its live value: it changes
    only if an option asks for it, or if the option that replaced it was taken out.
    """
    if live is None:
        return t.cast(dict[str, t.Any], merge(defaults, asked))
    fields = diff.managed_fields(live).get("f:spec") or {}
    note = ((live.get("metadata") or {}).get("annotations") or {}).get(REPLACED) or ""
    returning = set(note.split(",")) - set(_leaves(asked))
    return t.cast(
        dict[str, t.Any], merge(_held(defaults, live.get("spec") or {}, fields, returning, ""), asked)
    )


def replaced(defaults: t.Mapping[str, t.Any], asked: t.Mapping[str, t.Any]) -> dict[str, t.Any]:
    """Return the metadata that says which defaults the options replace; empty if they replace none."""
    given = _leaves(asked)
    paths = [path for path, value in _leaves(defaults).items() if path in given and given[path] != value]
    return {"annotations": {REPLACED: ",".join(sorted(paths))}} if paths else {}


def _leaves(spec: t.Mapping[str, t.Any], path: str = "") -> dict[str, t.Any]:
    found: dict[str, t.Any] = {}
    for key, value in spec.items():
        here = f"{path}.{key}" if path else str(key)
        found |= _leaves(value, here) if isinstance(value, dict) and value else {here: value}
    return found


def _held(
    defaults: t.Mapping[str, t.Any],
    live: t.Any,
    fields: t.Mapping[str, t.Any],
    returning: t.Collection[str],
    path: str,
) -> dict[str, t.Any]:
    """Return the defaults that our last apply owns, with their live values.

    returning: paths whose default comes back.
    """
    found: dict[str, t.Any] = {}
    for key, value in defaults.items():
        inner, here = fields.get(f"f:{key}"), f"{path}.{key}" if path else str(key)
        if inner is None or key not in live:
            continue
        now = live[key]
        if isinstance(value, dict) and isinstance(now, dict):
            found[key] = _held(value, now, inner, returning, here)
        else:
            found[key] = value if here in returning else now
    return found


def applied(live: KubeObject | None, wanted: KubeObject) -> KubeObject:
    """Return the live object with the spec that an apply gives it: our fields that are not wanted go."""
    if live is None:
        return wanted
    fields, spec = diff.managed_fields(live).get("f:spec") or {}, wanted.get("spec") or {}
    return {**live, "spec": merge(_without_stale(live.get("spec") or {}, fields, spec), spec)}


def _without_stale(live: t.Any, fields: t.Mapping[str, t.Any], wanted: t.Any) -> t.Any:
    if not isinstance(live, dict):
        return live
    found = {}
    for key, value in live.items():
        inner = fields.get(f"f:{key}")
        is_wanted = isinstance(wanted, t.Mapping) and key in wanted
        if inner is None:
            found[key] = value
        elif is_wanted:
            found[key] = _without_stale(value, inner, wanted[key])
        elif isinstance(value, dict):
            left = _without_stale(value, inner, {})
            found |= {key: left} if left else {}
    return found


def conflicts(
    live: KubeObject, wanted: t.Mapping[str, t.Any], under: tuple[str, ...] = ("spec",)
) -> list[Conflict]:
    """Return the fields of the wanted spec that another manager set to another value.

    A list that keeps every live entry is no conflict: nothing of another manager gets lost.
    under: the path of the wanted map in the object; () is the object itself.
    """
    return [found for found, _operation in _of_others(live, wanted, under) if not _keeps(found)]


def extended(live: KubeObject, wanted: t.Mapping[str, t.Any]) -> list[Conflict]:
    """Return the lists that the wanted spec makes longer and that another manager applies.

    It applies its own list again, and then our entries are gone.
    """
    found = _of_others(live, wanted, ("spec",))
    return [entry for entry, operation in found if operation == "Apply" and _keeps(entry)]


def _keeps(found: Conflict) -> bool:
    now, asked = found.live, found.asked
    return isinstance(now, list) and isinstance(asked, list) and all(value in asked for value in now)


def _of_others(
    live: KubeObject, wanted: t.Mapping[str, t.Any], under: tuple[str, ...]
) -> t.Iterator[tuple[Conflict, str]]:
    """Yield each field that changes and that another manager set, with the operation that set it last."""
    entries = (live.get("metadata") or {}).get("managedFields") or []
    now_there: t.Any = live
    for key in under:
        now_there = now_there.get(key) or {}
    for path, now, asked in _differing(now_there, wanted, under):
        owners = [
            entry
            for entry in entries
            if entry.get("manager") not in (MANAGER, _NOBODY, None)
            and not entry.get("subresource")
            and _owns(entry.get("fieldsV1") or {}, path)
        ]
        if owners:
            last = max(owners, key=lambda owner: str(owner.get("time") or ""))
            since = str(last.get("time") or "")
            yield (
                Conflict(".".join(path), now, asked, str(last["manager"]), since),
                str(last.get("operation") or ""),
            )


def _differing(
    live: t.Any, wanted: t.Any, path: tuple[str, ...]
) -> t.Iterator[tuple[tuple[str, ...], t.Any, t.Any]]:
    if isinstance(wanted, t.Mapping) and isinstance(live, t.Mapping):
        for key, value in wanted.items():
            if key in live:
                yield from _differing(live[key], value, (*path, key))
    elif live != wanted:
        yield path, live, wanted


def _owns(fields: t.Mapping[str, t.Any], path: tuple[str, ...]) -> bool:
    """Return True if these fields have the path, or something above it that is owned as a whole."""
    for depth, key in enumerate(path):
        if f"f:{key}" not in fields:
            return False
        fields = fields[f"f:{key}"]
        if not fields:
            # An empty spec is a map that the manager applied without fields, not one that it owns as a whole.
            return depth > 0 or len(path) == 1
    return True


def refuse(found: t.Sequence[Conflict], object_name: str, remedy: str) -> None:
    """Raise ConflictError (API-CONFLICT) that names each field, both values and the manager."""
    if found:
        lines = [conflict.line for conflict in found]
        message = f"{object_name}: {'; '.join(lines[:5])}. Nothing was changed."
        raise ConflictError("API-CONFLICT", message, remedy, status=409, evidence=lines)
