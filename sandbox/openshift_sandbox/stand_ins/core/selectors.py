# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Label selectors: matchLabels and matchExpressions, or a text such as `app=train,zone in (a, b)`."""

from __future__ import annotations

import re
import typing as t

Object = dict[str, t.Any]

_COMMA: t.Final = re.compile(r",(?![^()]*\))")
_SET: t.Final = re.compile(r"(\S+)\s+(in|notin)\s+\(([^)]*)\)")
_EQUAL: t.Final = re.compile(r"([^=!\s]+)\s*(!?)=?=\s*(\S*)")


def matches(selector: Object, labels: t.Mapping[str, str]) -> bool:
    """Return whether a label selector matches; an empty one matches everything."""
    if not (selector.get("matchLabels") or {}).items() <= labels.items():
        return False
    return all(expressed(one, labels) for one in selector.get("matchExpressions") or [])


def expressed(expression: Object, labels: t.Mapping[str, str]) -> bool:
    """Return whether one expression matches; only node selectors have Gt and Lt."""
    value, wanted, operator = (
        labels.get(expression["key"]),
        expression.get("values") or [],
        expression["operator"],
    )
    if operator in {"Gt", "Lt"}:
        return value is not None and (
            int(value) > int(wanted[0]) if operator == "Gt" else int(value) < int(wanted[0])
        )
    return {
        "In": value in wanted,
        "NotIn": value not in wanted,
        "Exists": value is not None,
        "DoesNotExist": value is None,
    }[operator]


def matches_text(text: str, labels: t.Mapping[str, str]) -> bool:
    """Return whether a selector in the form of a text matches; an empty one matches everything."""
    return all(_required(part.strip(), labels) for part in _COMMA.split(text) if part.strip())


def _required(part: str, labels: t.Mapping[str, str]) -> bool:
    if found := _SET.fullmatch(part):
        key, operator, values = found.groups()
        is_in = labels.get(key) in [value.strip() for value in values.split(",")]
        return is_in is (operator == "in")
    if found := _EQUAL.fullmatch(part):
        key, negated, value = found.groups()
        return (labels.get(key) == value) is not bool(negated)
    return part[1:].strip() not in labels if part.startswith("!") else part in labels
