# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Conditions as controllers write them: the transition time changes only with the status."""

from __future__ import annotations

import typing as t
from datetime import UTC, datetime

Condition = dict[str, t.Any]


def timestamp() -> str:
    """Return the current time as the API writes it."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def condition(
    kind: str, status: bool, reason: str | None = None, message: str | None = None, **more: str
) -> Condition:
    """Return a condition; without a reason or a message where the real component writes none."""
    texts = {key: value for key, value in (("reason", reason), ("message", message)) if value is not None}
    return {"type": kind, "status": "True" if status else "False"} | texts | more


def merged(known: list[Condition], wanted: list[Condition]) -> list[Condition]:
    """Return the known conditions with the wanted ones in their places.

    Equal to the known ones without news.
    """
    result = {one["type"]: one for one in known}
    for one in wanted:
        before = result.get(one["type"], {})
        since = before.get("lastTransitionTime") if before.get("status") == one["status"] else None
        result[one["type"]] = one | {"lastTransitionTime": since or timestamp()}
    return list(result.values())


def find(obj: t.Mapping[str, t.Any] | None, kind: str) -> Condition:
    """Return the condition of this type from an object's status, or an empty one without it."""
    conditions = ((obj or {}).get("status") or {}).get("conditions") or []
    return next((one for one in conditions if one["type"] == kind), {})


def holds(obj: t.Mapping[str, t.Any] | None, kind: str) -> bool:
    """Return whether a condition of an object is True."""
    return find(obj, kind).get("status") == "True"
