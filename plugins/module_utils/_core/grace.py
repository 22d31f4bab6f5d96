# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""Grace periods: a trouble that can pass by itself fails a task only after some seconds."""

from __future__ import annotations

import dataclasses
import typing as t

from .readiness import FAILED, PENDING, Readiness

Judged = t.TypeVar("Judged", bound=Readiness)


class Grace:
    """A clock that turns a pending verdict into a failed one after `seconds` of the same trouble.

    clock: returns monotonic seconds. codes: the codes that can become failed; all others stay pending.
    """

    def __init__(self, clock: t.Callable[[], float], seconds: float, codes: t.Iterable[str]) -> None:
        self._clock = clock
        self._seconds = seconds
        self._codes = frozenset(codes)
        self._since: dict[tuple[str, str], float] = {}

    def harden(self, verdicts: t.Iterable[Judged]) -> list[Judged]:
        """Return the verdicts in their order. Those whose trouble has lasted for `seconds` are failed.

        A trouble that is missing in one call starts again at zero in a later call.
        """
        now = self._clock()
        since: dict[tuple[str, str], float] = {}
        hardened = []
        for one in verdicts:
            if one.verdict == PENDING and one.code in self._codes:
                key = (one.code, one.reason)
                since[key] = self._since.get(key, now)
                if now - since[key] >= self._seconds:
                    one = dataclasses.replace(one, verdict=FAILED)
            hardened.append(one)
        self._since = since
        return hardened
