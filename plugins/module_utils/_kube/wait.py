# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Waits: ask a judge whenever something changed, until it says ready or failed, or the deadline passes.

The judge sees what lists and watches have reported. Each query is consistent in itself and never goes back in
time; two queries may be of different moments.
"""

from __future__ import annotations

import queue
import typing as t

from .._core.errors import NotReadyError, WaitTimeoutError
from .._core.objects import KubeObject
from .._core.readiness import Readiness, pending, short
from . import reads
from .deadline import Deadline
from .session import Query, Session
from .watch import News, Watch

# What each query found last.
Seen = dict[str, list[KubeObject]]
Judge = t.Callable[[Seen], Readiness]
SAY_EVERY = 30.0
# A judge may look at the clock (grace periods), so it is also asked now and then without news.
LOOK_EVERY = 1.0
# News this soon after a verdict is judged together.
BURST = 0.05


class NewsSource(t.Protocol):
    """Queue of watch events; `get` raises queue.Empty if none came."""

    def get(self, *, timeout: float) -> News: ...


def wait(
    session: Session,
    queries: t.Mapping[str, Query],
    judge: Judge,
    stage: str,
    settle: float = 0.0,
    on_timeout_code: str = "WAIT-TIMEOUT",
    since: float | None = None,
) -> Seen:
    """Do what Api.wait says."""
    lists = reads.first_look(session, queries)
    seen = {key: found.items for key, found in lists.items()}
    if session.check_mode or not session.wait_wanted:
        return seen
    on_wait = session.guard.on_wait
    deadline, said, awaited = session.deadline, session.progress, session.awaited
    loop = Waiting(deadline, said, judge, stage, settle, on_timeout_code, on_wait, since, awaited)
    if loop.is_ready(seen):
        return seen
    news: queue.SimpleQueue[News] = queue.SimpleQueue()
    watches = [Watch(session, key, query, news, lists[key]) for key, query in queries.items()]
    started = session.clock()
    for watch in watches:
        watch.start()
    try:
        return loop.until_ready(seen, news)
    finally:
        session.waited += session.clock() - started
        for watch in watches:
            watch.stop()


class Waiting:
    """The loop without the network: news in, a ready snapshot or an error out."""

    def __init__(
        self,
        deadline: Deadline,
        progress: t.Callable[[str], None],
        judge: Judge,
        stage: str,
        settle: float,
        on_timeout_code: str,
        look: t.Callable[[], None] = lambda: None,
        since: float | None = None,
        awaited: t.Callable[[list[str]], None] = lambda _lines: None,
    ) -> None:
        self._look, self._awaited = look, awaited
        self._deadline, self._progress, self._judge, self._stage = deadline, progress, judge, stage
        self._settle, self._code = settle, on_timeout_code
        self._started = deadline.clock() if since is None else since
        self._ready_since: float | None = None
        self._said_at = self._asked = deadline.clock()
        self._said: set[str] = set()
        self._last = pending("NoAnswer", "the API server has not answered yet")

    def until_ready(self, snapshot: Seen, news: NewsSource) -> Seen:
        """Return the snapshot that was ready; it is brought up to date by the news."""
        while not self.is_ready(snapshot):
            if self._deadline.passed:
                raise self._timeout()
            self._look()
            self._collect(news, snapshot)
        return snapshot

    def is_ready(self, snapshot: Seen) -> bool:
        """Ask the judge and show what is new. Return True if it was ready long enough; raise if it failed."""
        self._last = self._judge(snapshot)
        self._asked = self._deadline.clock()
        self._say(self._last)
        if self._last.is_failed:
            raise NotReadyError(
                self._last.code or self._code,
                f"{self._stage}: {self._last.message}",
                self._last.remedy,
                self._last.details,
            )
        return self._has_settled(self._last)

    def _collect(self, news: NewsSource, snapshot: Seen) -> None:
        """Wait for news, and for the rest of a burst, so that it is judged once."""
        seconds = min(LOOK_EVERY, self._deadline.remaining())
        if self._ready_since is not None:
            seconds = min(seconds, self._ready_since + self._settle - self._deadline.clock())
        try:
            while True:
                key, objects = news.get(timeout=max(0.0, seconds))
                if isinstance(objects, BaseException):
                    raise objects
                snapshot[key] = objects
                seconds = self._asked + BURST - self._deadline.clock()
        except queue.Empty:
            return

    def _has_settled(self, verdict: Readiness) -> bool:
        if not verdict.is_ready:
            self._ready_since = None
            return False
        if self._ready_since is None:
            self._ready_since = self._deadline.clock() - verdict.held
        return self._deadline.clock() - self._ready_since >= self._settle

    def _say(self, verdict: Readiness) -> None:
        """Show a line for each thing that changed; after half a minute of silence, all that is awaited.

        Of many lines it shows how many say the same. A number that changes is no news.
        """
        now, lines = self._deadline.clock(), short(verdict.details or (verdict.message or verdict.verdict,))
        self._awaited([f"{self._stage}: {line}" for line in lines.values()])
        ready_at_once = verdict.is_ready and not self._said
        fresh = lines.keys() - self._said
        if now - self._said_at >= SAY_EVERY:
            fresh = set(lines)
        if not fresh or ready_at_once:
            return
        self._said, self._said_at = set(lines), now
        for kind, line in lines.items():
            if kind in fresh:
                self._progress(f"{now - self._started:5.0f} s  {self._stage}: {line}")

    def _timeout(self) -> WaitTimeoutError:
        last, seconds = self._last, self._deadline.clock() - self._started
        return WaitTimeoutError(
            last.code or self._code,
            f"{self._stage}: not ready after {seconds:.0f} s; last seen: {last.message or last.reason}",
            last.remedy or "Raise wait_timeout if the cluster is only slow.",
            last.details,
        )
