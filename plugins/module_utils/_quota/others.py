# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Limits of a quota that another field manager set, or of a quota that we did not create."""

from __future__ import annotations

import typing as t

from .._core import quantity
from .._core.adoption import keeper
from .._core.objects import KubeObject
from .._core.ownership import MANAGER, owned
from . import scopes
from .scopes import SELECTOR

# The API server names this manager when nobody is recorded for a field.
_NOBODY: t.Final = "before-first-apply"


# Not the name of a resource.
SCOPES: t.Final = "scopes"
_WITHOUT: t.Final = {SCOPES: "none"}


class Kept(t.NamedTuple):
    """A limit that differs from what was asked. live: None if the quota has no such limit.

    The key SCOPES stands for the scopes of the quota, which decide which pods it counts.
    """

    key: str
    wanted: str
    live: str | None
    manager: str

    def as_result(self) -> dict[str, t.Any]:
        """Return the entry of the module's result."""
        field = SELECTOR if self.key == SCOPES else f"spec.hard.{self.key}"
        return {"field": field, **self._asdict()}


def differing(
    live: KubeObject | None, limits: t.Mapping[str, str], selector: t.Mapping[str, t.Any] | None = None
) -> list[Kept]:
    """Return the limits, and the scopes, that others set to something else."""
    if live is None:
        return []
    hard: dict[str, str] = (live.get("spec") or {}).get("hard") or {}
    found = []
    for key, asked in limits.items():
        now = hard.get(key)
        manager = _manager(live, key) if owned(live) else _manager(live, key) or keeper(live)
        if manager and (now is None or quantity.parse(now) != quantity.parse(asked)):
            found.append(Kept(key, asked, now, manager))
    return [*found, *_scopes(live, selector)]


def _scopes(live: KubeObject, selector: t.Mapping[str, t.Any] | None) -> list[Kept]:
    spec = live.get("spec") or {}
    asked, now = ({"scopeSelector": selector} if selector else {}), scopes.shown(spec)
    manager = _owner(live, "f:scopeSelector", "f:scopes")
    if not owned(live):
        manager = manager or keeper(live)
    if now == scopes.shown(asked) or not manager:
        return []
    return [Kept(SCOPES, scopes.shown(asked) or "none", now or None, manager)]


def has_scopes_of_others(live: KubeObject, selector: t.Mapping[str, t.Any] | None) -> bool:
    """Return whether another manager set scopes that were not asked for."""
    return bool(_scopes(live, selector))


def warning(live: KubeObject, kept: t.Sequence[Kept]) -> str:
    """Return the sentence about limits that were kept."""
    metadata = live["metadata"]
    lines = [
        f"{field.key} stays {field.live or _WITHOUT.get(field.key, 'without a limit')} "
        f"(asked: {field.wanted}, set by {field.manager})"
        for field in kept
    ]
    return (
        f"Quota {metadata['namespace']}/{metadata['name']}: {', '.join(lines)}. Set gpu_policy_adopt: take "
        "(module option adopt) to change that."
    )


def is_nobodys(live: KubeObject | None) -> bool:
    """Return whether no field manager is recorded, so that an apply may take every field."""
    entries = ((live or {}).get("metadata") or {}).get("managedFields") or []
    return all(entry.get("subresource") or entry.get("manager") in (_NOBODY, MANAGER) for entry in entries)


def _manager(live: KubeObject, key: str) -> str:
    """Return the other manager that set this limit, or ""."""
    return _owner(live, "f:hard", inner=f"f:{key}")


def _owner(live: KubeObject, *fields: str, inner: str = "") -> str:
    """Return the other manager of one of these fields of the spec, or "". inner: a field in the field."""
    for entry in live["metadata"].get("managedFields") or []:
        spec = (entry.get("fieldsV1") or {}).get("f:spec") or {}
        has = any(field in spec and (not inner or inner in spec[field]) for field in fields)
        if has and entry.get("manager") not in (MANAGER, _NOBODY) and not entry.get("subresource"):
            return str(entry.get("manager"))
    return ""
