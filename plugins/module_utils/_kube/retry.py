# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""How long the client waits for what, the pause between two tries, and whose turn the next try is."""

from __future__ import annotations

import math
import random
import threading
import typing as t

from . import http_errors
from .deadline import Clock

# Seconds between two looks of a thread that waits for its turn, whether another thread's try was answered.
LOOK: t.Final = 0.05


class Limits(t.NamedTuple):
    """How long the client waits for what, in seconds.

    outage: how long one request is tried again; pauses that the server asked for do not count.
    first_contact: the same while nothing listens at the address, and the server has not answered the run yet.
    connect: one try's wait for a connection. read: one try's wait for the next bytes of an answer.
    first_read: the same for the first try. It doubles with each try that ran out: so a stalled answer is
    noticed soon, and a slow server still gets its time.
    answer: one try, to the last byte.
    silence: of a watch; the server sends a bookmark about once a minute.
    stubborn: how long a write is tried again that gets an error of the server about nothing that can pass.
    settling: an API server that has just started knows neither accounts nor roles for so long.
    first_pause, pause: between two tries, at first and at most. longest_pause: the longest Retry-After that
    the client follows.
    """

    outage: float = 150.0
    first_contact: float = 30.0
    connect: float = 10.0
    first_read: float = 5.0
    read: float = 65.0
    answer: float = 120.0
    silence: float = 90.0
    stubborn: float = 10.0
    settling: float = 10.0
    first_pause: float = 0.05
    pause: float = 1.0
    longest_pause: float = 60.0

    def asked(self, retry_after: str | None) -> float:
        """Return the seconds of a Retry-After header, 0 for none and for a date."""
        if retry_after and retry_after.strip().isdecimal():
            return min(float(retry_after), self.longest_pause)
        return 0.0


USUAL = Limits()


class Contacts(t.Protocol):
    """The API servers that have answered this run, by their URL."""

    def has(self, host: str) -> bool: ...
    def add(self, host: str) -> None: ...


class AllMet:
    """The contacts of a task that knows nothing of its run: every server counts as one that has answered."""

    def has(self, host: str) -> bool:
        return True

    def add(self, host: str) -> None:
        return


class Patience:
    """How long a request is tried again: less if nothing listens there and the run has had no answer yet.

    host: returns the server's URL.
    """

    def __init__(self, limits: Limits, contacts: Contacts, host: t.Callable[[], str]) -> None:
        self._limits, self._contacts, self._host = limits, contacts, host
        self._has_answered = False

    def note_answer(self) -> None:
        if not self._has_answered:
            self._has_answered = True
            self._contacts.add(self._host())

    def seconds(self, problem: str, outage: float) -> float:
        """Return how long to try. problem: what broke the connection. outage: seconds for a known server."""
        if not problem.endswith((http_errors.REFUSED, http_errors.NO_NAME)):
            return outage
        is_known = self._has_answered or self._contacts.has(self._host())
        return outage if is_known else self._limits.first_contact


class Pause:
    """Exponential backoff with jitter: 50 ms, doubling, at most about a second."""

    def __init__(self, limits: Limits = USUAL) -> None:
        self._limits = limits
        self._next = limits.first_pause

    def reset(self) -> None:
        """Start again with the shortest pause."""
        self._next = self._limits.first_pause

    def next(self) -> float:
        """Return the seconds of the next pause."""
        seconds = self._next * random.uniform(0.75, 1.0)  # noqa: S311 (jitter, not a secret)
        self._next = min(self._limits.pause, self._next * 2)
        return seconds


class Trouble:
    """What all threads of a task know about the troubles of their server.

    A wait of many queries retries a server that is away no more often than one query would: they take turns,
    one pause apart.
    is_known: the server has answered a request, or was asked whether it is ready; its refusals count from
    then on.
    """

    def __init__(self, clock: Clock, limits: Limits) -> None:
        self._clock, self._settling = clock, limits.settling
        self._lock = threading.Lock()
        self._noticed = self._turn = -math.inf
        self._answers = 0
        self.is_known = False

    def notice(self) -> None:
        """Note that the server is in trouble now."""
        self._noticed = self._clock()

    @property
    def is_recent(self) -> bool:
        """Whether the server may have come back so lately that it knows neither accounts nor roles."""
        return self._clock() - self._noticed < self._settling

    def is_over(self) -> None:
        """Note that the server has answered: every thread that waits for its turn goes on at once."""
        with self._lock:
            self._answers += 1
            self._turn = -math.inf
        self.is_known = True

    def turn(self, pause: float) -> t.Callable[[], bool]:
        """Take the next turn, a pause after now and after the turn before.

        Return a function that says whether it is still too early for this turn.
        """
        with self._lock:
            self._turn = mine = max(self._clock(), self._turn) + pause
            answers = self._answers
        return lambda: self._clock() < mine and self._answers == answers
