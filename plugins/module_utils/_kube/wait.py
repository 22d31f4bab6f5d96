# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""Waiting: a judge is asked whenever something changed, until it says ready or failed, or the deadline passes.

What the judge sees is what lists and watches have told: each query consistent in itself and never going back in time, except that two queries may be of
different moments.
"""

from __future__ import annotations

import queue
import typing as t

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import (
    NotReadyError,
    WaitTimeoutError,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._core.readiness import Readiness, pending
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.deadline import Deadline
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.watch import News, Watch

if t.TYPE_CHECKING:
    from ansible_collections.accelerators.openshift.plugins.module_utils._kube.client import Api, Query

Snapshot = dict[str, list[dict[str, t.Any]]]
Judge = t.Callable[[Snapshot], Readiness]
# What each query found at the first look, and the version of that list.
Lists = t.Mapping[str, tuple[list[dict[str, t.Any]], str]]
SAY_EVERY = 30.0
# A judge may look at the clock (grace periods), so it is asked now and then without news too.
LOOK_EVERY = 1.0


def wait(
    api: Api,
    queries: t.Mapping[str, Query],
    lists: Lists,
    judge: Judge,
    stage: str,
    settle: float,
    on_timeout_code: str,
) -> Snapshot:
    """The snapshot that was ready. Raises NotReadyError on a failed verdict, WaitTimeoutError at the deadline, with what was last seen."""
    loop = Waiting(api.deadline, api.progress, judge, stage, settle, on_timeout_code)
    news: queue.SimpleQueue[News] = queue.SimpleQueue()
    snapshot = {key: items for key, (items, _version) in lists.items()}
    if loop.is_ready(snapshot):
        return snapshot
    watches = [Watch(api, key, query, news, *lists[key]) for key, query in queries.items()]
    for watch in watches:
        watch.start()
    try:
        return loop.until_ready(snapshot, news)
    finally:
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
    ) -> None:
        self._deadline, self._progress, self._judge, self._stage = deadline, progress, judge, stage
        self._settle, self._code = settle, on_timeout_code
        self._started = deadline.clock()
        self._ready_since: float | None = None
        self._said_at = self._started
        self._said: set[str] = set()
        self._last = pending("NoAnswer", "the API server has not answered yet")

    def until_ready(self, snapshot: Snapshot, news: queue.SimpleQueue[News]) -> Snapshot:
        while not self.is_ready(snapshot):
            if self._deadline.passed:
                raise self._timeout()
            self._collect(news, snapshot)
        return snapshot

    def is_ready(self, snapshot: Snapshot) -> bool:
        """Asks the judge, shows what is new; raises on a failed verdict."""
        self._last = self._judge(snapshot)
        self._say(self._last)
        if self._last.is_failed:
            raise NotReadyError(
                self._last.code or self._code,
                f"{self._stage}: {self._last.message}",
                self._last.remedy,
                self._last.details,
            )
        return self._has_settled(self._last)

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
        """One line for each thing that changed; after half a minute of silence, everything that is still awaited."""
        now, lines = self._deadline.clock(), set(verdict.details or (verdict.message or verdict.verdict,))
        ready_at_once = verdict.is_ready and not self._said
        fresh = lines - self._said
        if now - self._said_at >= SAY_EVERY:
            fresh = lines
        if not fresh or ready_at_once:
            return
        self._said, self._said_at = lines, now
        for line in verdict.details or (verdict.message or verdict.verdict,):
            if line in fresh:
                self._progress(f"{now - self._started:5.0f} s  {self._stage}: {line}")

    def _timeout(self) -> WaitTimeoutError:
        last, seconds = self._last, self._deadline.clock() - self._started
        return WaitTimeoutError(
            last.code or self._code,
            f"{self._stage}: not ready after {seconds:.0f} s; last seen: {last.message or last.reason}",
            last.remedy or "Raise wait_timeout if the cluster is only slow.",
            last.details,
        )
