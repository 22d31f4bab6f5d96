# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""The part of a report that fits into a job event of AWX, however many nodes the cluster has."""

from __future__ import annotations

import typing as t

from .._core.bounded import fitting
from .._core.objects import number_of
from .._pools.model import JsonObject

# An event holds the text twice, as data and as output, and escapes the quotes of JSON.
_FINDINGS: t.Final = 24 * 1024
_LINES: t.Final = 4 * 1024
_TABLE: t.Final = 36 * 1024


def brief(facts: JsonObject) -> JsonObject:
    """Return the report with the first findings, commands and warnings.

    C(left_out) is the number of findings that it does not have.
    """
    findings = fitting(facts["findings"], _FINDINGS)
    return {
        **facts,
        "findings": findings,
        "commands": fitting(facts["commands"], _LINES),
        "warnings": fitting(facts["warnings"], _LINES),
        "left_out": len(facts["findings"]) - len(findings),
    }


def table(heading: str, rows: t.Sequence[str], notes: t.Sequence[str]) -> list[str]:
    """Return the heading, the first rows, the number of the others, and the first notes."""
    shown, kept = fitting(rows, _TABLE), fitting(notes, 2 * _LINES)
    left = len(rows) - len(shown)
    more = [f"and {number_of(left, 'row')} more: -e gpu_drift_file=FILE writes them all"] if left else []
    others = len(notes) - len(kept)
    return [heading, *shown, *more, *kept, *([f"and {number_of(others, 'line')} more"] if others else [])]
