# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""One query kept up to date: list, then watch with bookmarks; resume where it stopped, list again after a 410 or any doubt.

A watch goes on from the resourceVersion of the list, so nothing in between is missed or told twice, and after a break from that of the last event or
bookmark (the server sends one about once a minute, so that also a quiet query's version stays young). A version that the server no longer has is answered
with 410, as a status or as an event: then the list is read again, consistently, and what it lacks has been deleted. Versions are only ever handed back, never
compared. Runs in a thread of its own and hands over either the full set of objects, or the error that ends the wait.
"""

from __future__ import annotations

import json
import queue
import threading
import typing as t

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import AcceleratorError
from ansible_collections.accelerators.openshift.plugins.module_utils._kube import http_errors, kinds, reads
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.connection import TRANSPORT_ERRORS
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.limits import Pause
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.trouble import LOOK

if t.TYPE_CHECKING:
    from ansible_collections.accelerators.openshift.plugins.module_utils._kube.client import Api, Query

Objects = dict[tuple[str, str], dict[str, t.Any]]
News = tuple[str, "list[dict[str, t.Any]] | BaseException"]
# The server ends a watch after this time.
WATCH_SECONDS = 300
# A server that has too much to do is not asked for a whole list on top.
_BUSY = frozenset((429, 503))
_BROKEN: tuple[type[Exception], ...] = (*TRANSPORT_ERRORS, ValueError)


class Watch(threading.Thread):
    """key: what the news are labelled with. items, version: a list that was read already (no version: the kind was not served)."""

    def __init__(
        self,
        api: Api,
        key: str,
        query: Query,
        news: queue.SimpleQueue[News],
        items: list[dict[str, t.Any]],
        version: str,
    ) -> None:
        super().__init__(name=f"watch-{key}", daemon=True)
        self._api, self._key, self._query, self._news = api, key, query, news
        self._objects: Objects = {_key(item): item for item in items}
        self._version = version
        self._stopped = threading.Event()
        self._response: t.Any = None
        self._pause = Pause(api.http.limits)

    def stop(self) -> None:
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
        """Also after an orderly end: a server that ends every watch at once is not asked without a pause. Events make the pause short again."""
        pause = self._pause.next()
        is_early = self._api.http.trouble.turn(pause)
        self._stopped.wait(pause + asked)
        while is_early() and not self._stopped.wait(LOOK):
            pass

    def _list(self) -> None:
        items, self._version = reads.query_once(self._api, self._query)
        self._objects = {_key(item): item for item in items}
        self._tell()

    def _tell(self) -> None:
        self._news.put((self._key, list(self._objects.values())))

    def _follow(self) -> float:
        """Reads one watch to its end; the seconds that the server asks us to stay away."""
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
            self._response = self._api.http.stream(
                kind.path(self._query.namespace), wanted, self._api.http.limits.silence
            )
            if self._response.status != 200:
                if self._response.status not in _BUSY:
                    # Whatever it is, the next list says it in full: gone, forbidden, or fine again.
                    self._version = ""
                return self._api.http.limits.asked(self._response.headers.get("Retry-After"))
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
        """Applies one event; False when the list must be read again."""
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
        self._tell()
        return True


def _key(obj: dict[str, t.Any]) -> tuple[str, str]:
    return obj["metadata"].get("namespace", ""), obj["metadata"]["name"]


def _lines(response: t.Any) -> t.Iterator[bytes]:
    buffer = b""
    while chunk := response.read1(1 << 16) if hasattr(response, "read1") else response.read(1 << 12):
        buffer += chunk
        *lines, buffer = buffer.split(b"\n")
        yield from (line for line in lines if line)
