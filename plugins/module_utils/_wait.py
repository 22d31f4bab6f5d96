# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""Waiting: a judge is asked whenever something changed, until it says ready or failed, or the deadline passes."""

from __future__ import annotations

import queue
import typing as t

from ansible_collections.accelerators.openshift.plugins.module_utils._deadline import Deadline
from ansible_collections.accelerators.openshift.plugins.module_utils._errors import NotReadyError, WaitTimeoutError
from ansible_collections.accelerators.openshift.plugins.module_utils._readiness import Readiness, pending
from ansible_collections.accelerators.openshift.plugins.module_utils._watch import News, Watch

if t.TYPE_CHECKING:
    from ansible_collections.accelerators.openshift.plugins.module_utils._api import Api, Query

Snapshot = dict[str, list[dict[str, t.Any]]]
Judge = t.Callable[[Snapshot], Readiness]
SAY_EVERY = 30.0
# A judge may look at the clock (grace periods), so it is asked now and then without news too.
LOOK_EVERY = 1.0


def wait(api: Api, queries: t.Mapping[str, Query], judge: Judge, stage: str, settle: float, on_timeout_code: str) -> Snapshot:
    """The snapshot that was ready. Raises NotReadyError on a failed verdict, WaitTimeoutError at the deadline, with what was last seen."""
    news: queue.SimpleQueue[News] = queue.SimpleQueue()
    watches = [Watch(api, key, query, news) for key, query in queries.items()]
    for watch in watches:
        watch.start()
    try:
        return Waiting(api.deadline, api.progress, judge, stage, settle, on_timeout_code).until_ready(set(queries), news)
    finally:
        for watch in watches:
            watch.stop()


class Waiting:
    """The loop without the network: news in, a ready snapshot or an error out."""

    def __init__(self, deadline: Deadline, progress: t.Callable[[str], None], judge: Judge, stage: str, settle: float, on_timeout_code: str) -> None:
        self._deadline, self._progress, self._judge, self._stage = deadline, progress, judge, stage
        self._settle, self._code = settle, on_timeout_code
        self._started = deadline.clock()
        self._ready_since: float | None = None
        self._said_at = self._started
        self._said: tuple[str, tuple[str, ...]] | None = None

    def until_ready(self, missing: set[str], news: queue.SimpleQueue[News]) -> Snapshot:
        snapshot: Snapshot = {}
        last = pending("NoAnswer", "the API server has not answered yet")
        while True:
            self._collect(news, snapshot)
            if missing <= set(snapshot):
                last = self._judge(snapshot)
                self._say(last)
                if last.is_failed:
                    raise NotReadyError(last.code or self._code, f"{self._stage}: {last.message}", last.remedy, last.details)
                if self._has_settled(last):
                    return snapshot
            if self._deadline.passed:
                raise self._timeout(last)

    def _collect(self, news: queue.SimpleQueue[News], snapshot: Snapshot) -> None:
        """Waits for the first news, then takes all there are, so that a burst is judged once."""
        patience = min(LOOK_EVERY, self._deadline.remaining())
        if self._ready_since is not None:
            patience = min(patience, max(0.0, self._ready_since + self._settle - self._deadline.clock()))
        try:
            item = news.get(timeout=patience) if patience > 0 else news.get_nowait()
            while True:
                key, objects = item
                if isinstance(objects, BaseException):
                    raise objects
                snapshot[key] = objects
                item = news.get_nowait()
        except queue.Empty:
            return

    def _has_settled(self, verdict: Readiness) -> bool:
        if not verdict.is_ready:
            self._ready_since = None
            return False
        if self._ready_since is None:
            self._ready_since = self._deadline.clock()
        return self._deadline.clock() - self._ready_since >= self._settle

    def _say(self, verdict: Readiness) -> None:
        """What is new since the last time; everything when nothing was said for long."""
        now, text = self._deadline.clock(), (verdict.message, verdict.details)
        due = now - self._said_at >= SAY_EVERY
        if text == self._said and not due:
            return
        before, self._said, self._said_at = self._said, text, now
        if before is None and verdict.is_ready:
            return
        message, details = (None, ()) if before is None or due else before
        elapsed = f" ({now - self._started:.0f} s)"
        if verdict.message != message:
            self._progress(f"{self._stage}: {verdict.message or verdict.verdict}{elapsed}")
            elapsed = ""
        for line in verdict.details:
            if line not in details and line not in verdict.message:
                self._progress(f"    {line}{elapsed}")

    def _timeout(self, last: Readiness) -> WaitTimeoutError:
        seconds = self._deadline.clock() - self._started
        return WaitTimeoutError(
            last.code or self._code,
            f"{self._stage}: not ready after {seconds:.0f} s; last seen: {last.message or last.reason}",
            last.remedy or "Raise wait_timeout if the cluster is only slow.",
            last.details,
        )
