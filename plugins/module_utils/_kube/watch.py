# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Keep one query up to date: list, then watch with bookmarks; resume after a break, list again after a 410.

A watch goes on from the resourceVersion of the list, after a break from that of the last event or bookmark:
nothing is missed or told twice. The server sends a bookmark about once a minute, so the version of a quiet
query stays young. It answers a version that it lacks with 410, as a status or as an event: then the watch
reads the list again; what is not there was deleted. It hands over the full set of objects, or the error that
ends the wait.
"""

from __future__ import annotations

import json
import queue
import threading
import typing as t

from .._core.errors import AcceleratorError
from .._core.objects import KubeObject
from . import http_errors, kinds, reads
from .connection import TRANSPORT_ERRORS
from .retry import LOOK, Pause
from .session import Listed, Query, Session

Objects = dict[tuple[str, str], KubeObject]
News = tuple[str, "list[KubeObject] | BaseException"]
# The server ends a watch after this time.
WATCH_SECONDS = 300
# A busy server must not have to answer a whole list as well.
_BUSY = frozenset((429, 503))
_BROKEN: tuple[type[Exception], ...] = (*TRANSPORT_ERRORS, ValueError)


class Watch(threading.Thread):
    """A thread that follows one query.

    key: the label of its news. found: a list that was read already; without a version, the kind was not
    served.
    """

    def __init__(
        self, session: Session, key: str, query: Query, news: queue.SimpleQueue[News], found: Listed
    ) -> None:
        super().__init__(name=f"watch-{key}", daemon=True)
        self._session, self._key, self._query, self._news = session, key, query, news
        self._objects: Objects = {_key(item): item for item in found.items}
        self._version = found.version
        self._stopped = threading.Event()
        self._response: t.Any = None
        self._pause = Pause(session.http.limits)

    def stop(self) -> None:
        """End the watch, also in the middle of a read."""
        self._stopped.set()
        response = self._response
        if response is not None:
            try:
                getattr(response, "shutdown", response.close)()
            except Exception:  # the socket may be gone already; closing it was the aim
                return

    def run(self) -> None:
        try:
            while not self._stopped.is_set():
                if not self._version:
                    self._list()
                asked = self._follow() if self._version else 0.0
                self._rest(asked)
        except AcceleratorError as exc:
            self._news.put((self._key, exc))
        except Exception as exc:
            if not self._stopped.is_set():
                self._news.put((self._key, exc))

    def _rest(self, asked: float) -> None:
        """Pause, also after an orderly end: some servers end each watch at once. Events shorten the pause."""
        pause = self._pause.next()
        is_early = self._session.http.trouble.turn(pause)
        self._stopped.wait(pause + asked)
        while is_early() and not self._stopped.wait(LOOK):
            pass

    def _list(self) -> None:
        items, self._version = reads.query_once(self._session, self._query)
        self._objects = {_key(item): item for item in items}
        self._hand_over()

    def _hand_over(self) -> None:
        self._news.put((self._key, list(self._objects.values())))

    def _follow(self) -> float:
        """Read one watch to its end. Return the seconds that the server asks us to stay away."""
        kind = self._query.kind
        wanted: dict[str, t.Any] = {
            "watch": "true",
            "allowWatchBookmarks": "true",
            "resourceVersion": self._version,
            "timeoutSeconds": WATCH_SECONDS,
        }
        if self._query.labels:
            wanted["labelSelector"] = self._query.labels
        if fields := kinds.by_name(self._query.name) if self._query.name else self._query.fields:
            wanted["fieldSelector"] = fields
        try:
            self._response = self._session.http.stream(
                kind.path(self._query.namespace), wanted, self._session.http.limits.silence
            )
            if self._response.status != 200:
                if self._response.status not in _BUSY:
                    # Whatever it is, the next list says so: gone, forbidden, or fine again.
                    self._version = ""
                return self._session.http.limits.asked(self._response.headers.get("Retry-After"))
            for line in _lines(self._response):
                if not self._take(json.loads(line)):
                    self._version = ""
                    break
        except _BROKEN as exc:
            if http_errors.certificate_problem(exc) is not None:
                # No pause helps: the next list reads the credentials anew, or says what is wrong.
                self._version = ""
            return 0.0
        finally:
            response, self._response = self._response, None
            if response is not None:
                response.close()
        return 0.0

    def _take(self, event: dict[str, t.Any]) -> bool:
        """Apply one event. Return False if the list must be read again."""
        kind, obj = event.get("type"), event.get("object") or {}
        if kind == "ERROR" or "resourceVersion" not in obj.get("metadata", {}):
            return False
        self._version = obj["metadata"]["resourceVersion"]
        self._pause.reset()
        if kind == "BOOKMARK":
            return True
        if kind == "DELETED":
            self._objects.pop(_key(obj), None)
        else:
            self._objects[_key(obj)] = obj
        self._hand_over()
        return True


def _key(obj: KubeObject) -> tuple[str, str]:
    return obj["metadata"].get("namespace", ""), obj["metadata"]["name"]


def _lines(response: t.Any) -> t.Iterator[bytes]:
    buffer = b""
    while chunk := response.read1(1 << 16) if hasattr(response, "read1") else response.read(1 << 12):
        buffer += chunk
        *lines, buffer = buffer.split(b"\n")
        yield from (line for line in lines if line)
