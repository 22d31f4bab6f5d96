# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Conditions in the status of an object: find a condition by its type, and read its status and time."""

from __future__ import annotations

import typing as t


def find(obj: t.Mapping[str, t.Any] | None, kind: str) -> dict[str, t.Any]:
    """Return the condition of this type from `status.conditions`, or an empty dict if there is none."""
    conditions = ((obj or {}).get("status") or {}).get("conditions") or []
    return next((condition for condition in conditions if condition.get("type") == kind), {})


def is_true(obj: t.Mapping[str, t.Any] | None, kind: str) -> bool:
    """Return True if the condition of this type has status True, False if it is missing."""
    return find(obj, kind).get("status") == "True"


def since(obj: t.Mapping[str, t.Any] | None, kind: str) -> str:
    """Return the lastTransitionTime of the condition (RFC 3339 text), or an empty string."""
    return str(find(obj, kind).get("lastTransitionTime") or "")
