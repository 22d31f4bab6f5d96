# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""What an upgrade changes in CustomResourceDefinitions: versions and fields that are no longer there."""

from __future__ import annotations

import typing as t

from .._core.errors import AcceleratorError
from .._core.objects import KubeObject, name

_SHOWN: t.Final = 10


class CrdChange(t.NamedTuple):
    """The change of one CRD.

    removed: versions that are no longer served. lost: of these, or of others, versions in which objects are
    stored and that the new CRD does not have. fields: paths that the schema no longer has, with the version.
    """

    crd: str
    is_new: bool = False
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    lost: tuple[str, ...] = ()
    fields: tuple[str, ...] = ()

    @property
    def line(self) -> str:
        """Return the change as one line."""
        more = f" and {len(self.fields) - _SHOWN} more" if len(self.fields) > _SHOWN else ""
        parts = [
            "is new" if self.is_new else "",
            f"gets versions {', '.join(self.added)}" if self.added else "",
            f"loses versions {', '.join(self.removed)}" if self.removed else "",
            f"loses stored versions {', '.join(self.lost)}" if self.lost else "",
            f"loses fields {', '.join(self.fields[:_SHOWN])}{more}" if self.fields else "",
        ]
        return f"{self.crd}: {'; '.join(part for part in parts if part)}"

    def as_result(self) -> dict[str, t.Any]:
        """Return the change as the module returns it, with its line as `summary`."""
        found = {**self._asdict(), "summary": self.line}
        return {key: list(one) if isinstance(one, tuple) else one for key, one in found.items()}


def between(live: KubeObject | None, planned: KubeObject) -> CrdChange | None:
    """Return what the plan changes in one CRD; None if it takes nothing away and adds no version."""
    object_name = name(planned)
    if live is None:
        return CrdChange(object_name, is_new=True)
    before, after = _versions(live), _versions(planned)
    served, stays = _served(before), _served(after)
    stored = (live.get("status") or {}).get("storedVersions") or []
    found = CrdChange(
        object_name,
        added=tuple(sorted(stays - served)),
        removed=tuple(sorted(served - stays)),
        lost=tuple(sorted(set(map(str, stored)) - set(after))),
        fields=tuple(
            f"{version}: {path}"
            for version in sorted(served & stays)
            for path in _missing(_schema(before[version]), _schema(after[version]))
        ),
    )
    return found if found != CrdChange(object_name) else None


def refuse_lost(changes: t.Iterable[CrdChange], plan: str) -> None:
    """Raise OLM-CRD-STORED if objects are stored in a version that the plan takes away: OLM would fail."""
    lost = [one for one in changes if one.lost]
    if not lost:
        return
    first = lost[0]
    raise AcceleratorError(
        "OLM-CRD-STORED",
        plan=plan,
        versions=", ".join(first.lost),
        crd=first.crd,
        evidence=[one.line for one in lost],
    )


def _versions(crd: KubeObject) -> dict[str, KubeObject]:
    return {str(one["name"]): one for one in (crd.get("spec") or {}).get("versions") or []}


def _served(versions: t.Mapping[str, KubeObject]) -> set[str]:
    return {object_name for object_name, one in versions.items() if one.get("served")}


def _schema(version: KubeObject) -> KubeObject:
    return dict((version.get("schema") or {}).get("openAPIV3Schema") or {})


def _missing(before: KubeObject, after: KubeObject, path: str = "") -> t.Iterator[str]:
    """Yield the paths of the first schema that the second one has not; it keeps all below a free field."""
    if after.get("x-kubernetes-preserve-unknown-fields"):
        return
    kept = after.get("properties") or {}
    for key, part in (before.get("properties") or {}).items():
        here = f"{path}.{key}" if path else key
        if key not in kept and not after.get("additionalProperties"):
            yield here
        elif key in kept:
            yield from _missing(part, kept[key], here)
    for key, mark in (("items", "[]"), ("additionalProperties", ".*")):
        old, new = before.get(key), after.get(key)
        if isinstance(old, dict) and isinstance(new, dict):
            yield from _missing(old, new, f"{path}{mark}")
