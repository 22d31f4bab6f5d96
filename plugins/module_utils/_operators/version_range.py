# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Ranges of versions as OLM writes them: `>=4.3.0 <4.22.0`, alternatives after `||`."""

from __future__ import annotations

import operator
import re
import typing as t

from .._olm.catalogue import order

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


def _all(part: str, version: str) -> bool:
    terms = _TERM.findall(part)
    return bool(terms) and all(_COMPARE[sign](order(version), order(wanted)) for sign, wanted in terms)
