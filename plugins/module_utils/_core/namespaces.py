# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Names of namespaces: those of the platform, and new ones that look like a typing error."""

from __future__ import annotations

import difflib
import re
import typing as t

_PLATFORM: t.Final = ("default", "openshift", "kubernetes")
_PREFIXES: t.Final = ("openshift-", "kube-")
# Two names with a larger ratio are near to each other; 1 is the same name.
_RATIO: t.Final = 0.85
# Parts of names that are no longer than this count things: team-a, team-b.
_COUNTER: t.Final = 2


def is_of_platform(name: str) -> bool:
    """Return whether the namespace belongs to Kubernetes or OpenShift, and not to a team."""
    return name in _PLATFORM or name.startswith(_PREFIXES)


def near(name: str, existing: t.Iterable[str]) -> str:
    """Return the existing name that the new name is perhaps a misspelling of, or "".

    Names that differ only in a number or in one short part are a series, as team-1 and team-2 are.
    """
    others = [other for other in existing if other != name and not _is_series(name, other)]
    return next(iter(difflib.get_close_matches(name, others, 1, _RATIO)), "")


def _is_series(one: str, other: str) -> bool:
    ours, theirs = (re.split(r"[-_.]|(?<=[a-z])(?=\d)", text) for text in (one, other))
    if len(ours) != len(theirs):
        return False
    differ = [pair for pair in zip(ours, theirs, strict=True) if pair[0] != pair[1]]
    return all(all(part.isdigit() for part in pair) or max(map(len, pair)) <= _COUNTER for pair in differ)
