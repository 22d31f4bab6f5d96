# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Conditions as controllers write them: the transition time moves only when the status does."""

from __future__ import annotations

import typing as t
from datetime import UTC, datetime

Condition = dict[str, t.Any]


def timestamp() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def condition(
    kind: str, status: bool, reason: str | None = None, message: str | None = None, **more: str
) -> Condition:
    """Reason and message are left out where the real component leaves them out."""
    texts = {key: value for key, value in (("reason", reason), ("message", message)) if value is not None}
    return {"type": kind, "status": "True" if status else "False"} | texts | more


def merged(known: list[Condition], wanted: list[Condition]) -> list[Condition]:
    """The known conditions with the wanted ones in their place; equal to the known ones when there is no news."""
    result = {one["type"]: one for one in known}
    for one in wanted:
        before = result.get(one["type"], {})
        since = before.get("lastTransitionTime") if before.get("status") == one["status"] else None
        result[one["type"]] = one | {"lastTransitionTime": since or timestamp()}
    return list(result.values())


def holds(obj: dict[str, t.Any], kind: str) -> bool:
    conditions = obj.get("status", {}).get("conditions") or []
    return any(one["type"] == kind and one["status"] == "True" for one in conditions)
