# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""Predict for check mode which objects a task would create, change, delete or keep."""

from __future__ import annotations

import typing as t

from .._core.objects import KubeObject

CREATE, CHANGE, DELETE, KEEP = "create", "change", "delete", "keep"


class Written(t.Protocol):
    """One write that the Api recorded."""

    @property
    def title(self) -> str: ...
    @property
    def before(self) -> KubeObject: ...
    @property
    def after(self) -> KubeObject: ...


def foreseen(changes: t.Iterable[Written], kept: t.Iterable[str]) -> list[dict[str, t.Any]]:
    """Return a map with action, object and fields for each object, in the order of the first write.

    fields: the paths that would change, without their values.
    """
    ends: dict[str, tuple[KubeObject, KubeObject]] = {}
    for one in changes:
        first = ends[one.title][0] if one.title in ends else one.before
        ends[one.title] = (first, one.after)
    found = [_entry(title, before, after) for title, (before, after) in ends.items()]
    return found + [
        {"action": KEEP, "object": title, "fields": []} for title in dict.fromkeys(kept) if title not in ends
    ]


def _entry(title: str, before: KubeObject, after: KubeObject) -> dict[str, t.Any]:
    if not before or not after:
        return {"action": DELETE if before else CREATE, "object": title, "fields": []}
    return {"action": CHANGE, "object": title, "fields": list(_differing(before, after, ""))}


def _differing(before: t.Any, after: t.Any, path: str) -> t.Iterator[str]:
    if isinstance(before, dict) and isinstance(after, dict):
        for key in sorted({*before, *after}, key=str):
            yield from _differing(before.get(key), after.get(key), f"{path}.{key}" if path else str(key))
    elif before != after:
        yield path
