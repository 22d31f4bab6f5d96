# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""How long a trouble that can pass by itself has lasted."""

from __future__ import annotations

import dataclasses
import typing as t

from ansible_collections.accelerators.openshift.plugins.module_utils._core.readiness import (
    FAILED,
    PENDING,
    Readiness,
)

Judged = t.TypeVar("Judged", bound=Readiness)


class Patience:
    """Turns a pending verdict into a failed one when its trouble has been seen without a break for `seconds`."""

    def __init__(self, clock: t.Callable[[], float], seconds: float, codes: t.Iterable[str]) -> None:
        self._clock = clock
        self._seconds = seconds
        self._codes = frozenset(codes)
        self._since: dict[tuple[str, str], float] = {}

    def harden(self, parts: t.Iterable[Judged]) -> list[Judged]:
        """Only the codes named at the start grow final; a trouble that went away starts anew."""
        now = self._clock()
        since: dict[tuple[str, str], float] = {}
        hardened = []
        for part in parts:
            if part.verdict == PENDING and part.code in self._codes:
                key = (part.code, part.reason)
                since[key] = self._since.get(key, now)
                if now - since[key] >= self._seconds:
                    part = dataclasses.replace(part, verdict=FAILED)
            hardened.append(part)
        self._since = since
        return hardened
