# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""JSON documents that programs print between other lines of their logs."""

from __future__ import annotations

import json
import re
import typing as t

_START: t.Final = re.compile(r"^\{", re.MULTILINE)
# A log with more broken documents than this has none; each costs a look at the rest of the log.
_TRIES: t.Final = 20


def find(log: str, *keys: str) -> list[dict[str, t.Any]]:
    """Return the complete documents of a log that have one of these keys. Each begins at a line's start."""
    found: list[dict[str, t.Any]] = []
    decoder, place, tries = json.JSONDecoder(), 0, 0
    while tries < _TRIES and (start := _START.search(log, place)):
        try:
            document, place = decoder.raw_decode(log, start.start())
        except (ValueError, RecursionError):
            place, tries = start.end(), tries + 1
            continue
        found += [document] if any(key in document for key in keys) else []
    return found


def mappings(value: t.Any) -> list[dict[str, t.Any]]:
    """Return the mappings of a list; nothing of anything else."""
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def texts(value: t.Any) -> list[str]:
    """Return a text, or the texts of a list, each in one line of a length that people read."""
    given = value if isinstance(value, list) else [value]
    return [" ".join(one[:1000].split()) for one in given if isinstance(one, str) and one.strip()]
