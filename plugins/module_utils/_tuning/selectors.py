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
    return matches(wanted, have) and all(fits(one, have) for one in rules)


def fits(rule: t.Mapping[str, t.Any], have: t.Mapping[str, str]) -> bool:
    """Return True if the labels fulfil one expression; a selector of nodes knows Gt and Lt too."""
    key, values = str(rule.get("key")), rule.get("values") or []
    operator, value = str(rule.get("operator")), have.get(key)
    if operator in ("Gt", "Lt"):
        numbers = [str(value), *map(str, values)]
        if len(numbers) != 2 or not all(one.lstrip("-").isdecimal() for one in numbers):
            return False
        return (int(numbers[0]) - int(numbers[1])) * (1 if operator == "Gt" else -1) > 0
    return {
        "In": value in values,
        "NotIn": value not in values,
        "Exists": key in have,
        "DoesNotExist": key not in have,
    }.get(operator, False)
