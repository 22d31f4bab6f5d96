# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Ranges of versions as OLM writes them: `>=4.3.0 <4.22.0`, alternatives after `||`.

OLM compares by semantic versioning: 26.7.0-1 comes before 26.7.0 here, although it was made after it. For
what follows what in a channel, see `catalogue.order`.
"""

from __future__ import annotations

import operator
import re
import typing as t

_COMPARE: t.Final[dict[str, t.Callable[[t.Any, t.Any], bool]]] = {
    ">=": operator.ge,
    "<=": operator.le,
    ">": operator.gt,
    "<": operator.lt,
    "!=": operator.ne,
    "!": operator.ne,
    "==": operator.eq,
    "=": operator.eq,
    "": operator.eq,
}
_TERM: t.Final = re.compile(r"(>=|<=|!=|==|>|<|=|!)?\s*v?(\d[^\s,|]*)")


def holds(text: str, version: str) -> bool:
    """Return True if the version is in the range; False for an empty range or one that cannot be read."""
    return any(_all(part, version) for part in text.split("||"))


def precedence(version: str) -> tuple[t.Any, ...]:
    """Return the sort key of a version by semantic versioning."""
    core, dash, suffix = version.partition("+")[0].partition("-")
    numbers = tuple(int(part) if part.isdigit() else 0 for part in core.split("."))
    parts = tuple((0, int(part), "") if part.isdigit() else (1, 0, part) for part in suffix.split("."))
    return numbers, (0, parts) if dash else (1, ())


def _all(part: str, version: str) -> bool:
    terms = _TERM.findall(part)
    return bool(terms) and all(
        _COMPARE[sign](precedence(version), precedence(wanted)) for sign, wanted in terms
    )
