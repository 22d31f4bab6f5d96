# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""One overall deadline of a task, on an injected clock."""

from __future__ import annotations

import time
import typing as t

Clock = t.Callable[[], float]


class Deadline:
    """seconds: how long the task may take in all. clock: monotonic seconds. sleep: waits that many seconds."""

    def __init__(
        self, seconds: float, clock: Clock = time.monotonic, sleep: t.Callable[[float], None] = time.sleep
    ) -> None:
        self.seconds = float(seconds)
        self.clock = clock
        self._sleep = sleep
        self._start = clock()

    def elapsed(self) -> float:
        return self.clock() - self._start

    def remaining(self) -> float:
        return max(0.0, self.seconds - self.elapsed())

    @property
    def passed(self) -> bool:
        return self.remaining() <= 0.0

    def sleep(self, seconds: float) -> None:
        """Sleeps, but never past the deadline."""
        self._sleep(min(seconds, self.remaining()))
