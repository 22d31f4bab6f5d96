# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""How long the client waits, for what; and the pause between two tries."""

from __future__ import annotations

import random
import typing as t


class Limits(t.NamedTuple):
    """All in seconds.

    outage: how long one request is tried again for, pauses that the server asked for left aside. connect, read: one try's patience for a connection,
    and for the next bytes of an answer. first_read: that of the first try; it doubles with each one that ran out, so a stalled answer is noticed soon and a
    slow server still gets its time. answer: one try in all. silence: of a watch (the server sends a bookmark about once a minute).
    settling: after a trouble, an API server that starts knows neither accounts nor roles for some seconds.
    first_pause, pause: between two tries, at first and at most. longest_pause: the longest Retry-After that is believed.
    """

    outage: float = 150.0
    connect: float = 10.0
    first_read: float = 5.0
    read: float = 65.0
    answer: float = 120.0
    silence: float = 90.0
    settling: float = 10.0
    first_pause: float = 0.05
    pause: float = 1.0
    longest_pause: float = 60.0

    def asked(self, retry_after: str | None) -> float:
        """Seconds of a Retry-After header."""
        return (
            min(float(retry_after), self.longest_pause)
            if retry_after and retry_after.strip().isdecimal()
            else 0.0
        )


USUAL = Limits()


class Pause:
    """Jittered exponential backoff: 50 ms, doubling, at most about a second."""

    def __init__(self, limits: Limits = USUAL) -> None:
        self._limits = limits
        self._next = limits.first_pause

    def reset(self) -> None:
        self._next = self._limits.first_pause

    def next(self) -> float:
        seconds = self._next * random.uniform(0.75, 1.0)  # noqa: S311 (jitter, not a secret)
        self._next = min(self._limits.pause, self._next * 2)
        return seconds
