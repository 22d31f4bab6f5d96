# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Label selectors: matchLabels and matchExpressions."""

from __future__ import annotations

import typing as t

Object = dict[str, t.Any]


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
