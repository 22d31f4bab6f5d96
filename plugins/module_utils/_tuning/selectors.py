# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Label selectors: which objects they select."""

from __future__ import annotations

import typing as t

from .._nodes.taints import matches


def selects(selector: t.Mapping[str, t.Any] | None, have: t.Mapping[str, str]) -> bool:
    """Return True if a label selector selects these labels; an empty one selects nothing here."""
    if not selector:
        return False
    wanted, rules = selector.get("matchLabels") or {}, selector.get("matchExpressions") or []
    if not wanted and not rules:
        return False
    return matches(wanted, have) and all(_fits(one, have) for one in rules)


def _fits(rule: t.Mapping[str, t.Any], have: t.Mapping[str, str]) -> bool:
    key, values = rule.get("key"), rule.get("values") or []
    return {
        "In": have.get(str(key)) in values,
        "NotIn": have.get(str(key)) not in values,
        "Exists": key in have,
        "DoesNotExist": key not in have,
    }.get(str(rule.get("operator")), False)
