# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""The time that a task has in all, and a time limit for work that knows none."""

from __future__ import annotations

import threading
import time
import typing as t

Clock = t.Callable[[], float]
Value = t.TypeVar("Value")


class Deadline:
    """The one deadline of a task.

    seconds: how long the task may take in all. clock: monotonic seconds. sleep: waits that many seconds.
    """

    def __init__(
        self, seconds: float, clock: Clock = time.monotonic, sleep: t.Callable[[float], None] = time.sleep
    ) -> None:
        self.seconds = float(seconds)
        self.clock = clock
        self._sleep = sleep
        self._start = clock()

    def elapsed(self) -> float:
        """Return the seconds since the start."""
        return self.clock() - self._start

    def remaining(self) -> float:
        """Return the seconds that are left, never less than 0."""
        return max(0.0, self.seconds - self.elapsed())

    def grow(self, seconds: float) -> None:
        """Give the task so many seconds in all, if that is more than it has."""
        self.seconds = max(self.seconds, float(seconds))

    @property
    def passed(self) -> bool:
        return self.remaining() <= 0.0

    def sleep(self, seconds: float) -> None:
        """Sleep, but never past the deadline."""
        self._sleep(min(seconds, self.remaining()))


def within(seconds: float, what: str, work: t.Callable[[], Value]) -> Value:
    """Return what work returns, or raise what it raises.

    Raises TimeoutError when work takes longer than that many seconds; it then ends by itself, in its own
    thread.
    """
    done: list[Value] = []
    failed: list[BaseException] = []

    def run() -> None:
        try:
            done.append(work())
        except BaseException as exc:
            failed.append(exc)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(seconds)
    if failed:
        raise failed[0]
    if not done:
        raise TimeoutError(f"{what} timed out after {seconds:.0f} s")
    return done[0]
