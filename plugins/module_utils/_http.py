# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""One request with its retries: what is worth another try, how long to wait, and what each failure is called.

Retried until the deadline (at most OUTAGE seconds in a row): broken connections, cut-off bodies, 408, 429, 500, 502, 503 and 504;
a server's Retry-After is honoured up to LONGEST_PAUSE and the deadline. A 401 is tried once more with fresh credentials. Nothing else is.
"""

from __future__ import annotations

import functools
import json
import random
import ssl
import typing as t
from dataclasses import dataclass, field
from urllib.parse import urlencode

from ansible_collections.accelerators.openshift.plugins.module_utils import _http_errors
from ansible_collections.accelerators.openshift.plugins.module_utils._connection import TRANSPORT_ERRORS, Connection
from ansible_collections.accelerators.openshift.plugins.module_utils._deadline import Deadline

OUTAGE = 150.0
LONGEST_PAUSE = 60.0
FIRST_PAUSE = 0.05
PAUSE_CAP = 1.0
CONNECT_TIMEOUT = 10.0
READ_TIMEOUT = 65.0
_AGAIN = frozenset((408, 429, 500, 502, 503, 504))
_SAY_AFTER = 5.0


@dataclass(frozen=True)
class Response:
    """status: HTTP status. body: the decoded JSON object, or text. warnings: texts of Warning headers. repeated: an earlier try may have reached the server."""

    status: int
    body: t.Any
    warnings: tuple[str, ...] = field(default=())
    repeated: bool = False


class Pause:
    """Jittered exponential backoff: 50 ms, doubling, at most about a second."""

    def __init__(self) -> None:
        self._next = FIRST_PAUSE

    def reset(self) -> None:
        self._next = FIRST_PAUSE

    def next(self, retry_after: str | None = None) -> float:
        seconds = self._next * random.uniform(0.75, 1.0)  # noqa: S311 (jitter, not a secret)
        self._next = min(PAUSE_CAP, self._next * 2)
        if retry_after and retry_after.strip().isdigit():
            return max(seconds, min(float(retry_after), LONGEST_PAUSE) + seconds)
        return seconds


class Http:
    """connect: called for the first request, so that wrong input is told first.

    agent: the User-Agent of every request. progress: shows a line while the server cannot be reached.
    """

    def __init__(self, connect: t.Callable[[], Connection], deadline: Deadline, agent: str, progress: t.Callable[[str], None]) -> None:
        self._connect = connect
        self.deadline = deadline
        self._headers = {"User-Agent": agent, "Accept": "application/json"}
        self._progress = progress

    @functools.cached_property
    def connection(self) -> Connection:
        return self._connect()

    def request(
        self,
        method: str,
        path: str,
        query: t.Mapping[str, t.Any] | None = None,
        body: t.Any = None,
        content_type: str = "application/json",
        accept: str = "application/json",
    ) -> Response:
        """The server's answer, of any status that is not worth another try. Raises ApiError when there is none in time."""
        payload = None if body is None else json.dumps(body).encode()
        headers = {**self._headers, "Accept": accept}
        if payload is not None:
            headers["Content-Type"] = content_type
        target = path + ("?" + urlencode(query) if query else "")
        pause, started, repeated, refreshed = Pause(), self.deadline.clock(), False, False
        said = started
        while True:
            retry_after = None
            try:
                response = self._once(method, target, headers, payload)
                if response.status == 401 and not refreshed:
                    refreshed = True
                    continue
                if response.status not in _AGAIN or not _http_errors.is_transient(response.status, response.body):
                    return Response(response.status, response.body, response.warnings, repeated)
                problem, retry_after = _http_errors.describe(response.status, response.body), response.retry_after
                repeated = repeated or response.status != 429
            except ssl.SSLError as exc:
                raise _http_errors.untrusted(self.connection.host, exc) from exc
            except TRANSPORT_ERRORS as exc:
                cause = _http_errors.certificate_problem(exc)
                if cause is not None:
                    raise _http_errors.untrusted(self.connection.host, cause) from exc
                problem, repeated = _http_errors.describe_transport(exc), True
            now = self.deadline.clock()
            if self.deadline.passed or now - started > OUTAGE:
                raise _http_errors.unreachable(self.connection.host, method, path, problem, now - started)
            if now - said >= _SAY_AFTER:
                self._progress(f"waiting for {self.connection.host}: {problem}, {now - started:.0f} s")
                said = now
            self.deadline.sleep(pause.next(retry_after))

    def _once(self, method: str, target: str, headers: t.Mapping[str, str], payload: bytes | None) -> _Answer:
        # A read may end a second past the deadline, so that the last answer is not thrown away.
        read = min(READ_TIMEOUT, self.deadline.remaining() + 1.0)
        raw = self.connection.send(method, target, headers, payload, min(CONNECT_TIMEOUT, read), read)
        try:
            data = raw.read()
        except BaseException:
            raw.close()
            raise
        raw.release_conn()
        kind = raw.headers.get("Content-Type", "")
        body: t.Any = data.decode("utf-8", "replace")
        if "json" in kind and data:
            try:
                body = json.loads(data)
            except ValueError as exc:
                raise ConnectionError(f"the answer was cut off after {len(data)} bytes") from exc
        warnings = tuple(_http_errors.warning_text(value) for value in raw.headers.getlist("Warning"))
        return _Answer(raw.status, body, warnings, raw.headers.get("Retry-After"))

    def stream(self, path: str, query: t.Mapping[str, t.Any], read_timeout: float) -> t.Any:
        """One try of a watch: the raw response, to be read line by line and closed by the caller."""
        return self.connection.send("GET", f"{path}?{urlencode(query)}", self._headers, None, CONNECT_TIMEOUT, read_timeout)


@dataclass(frozen=True)
class _Answer:
    status: int
    body: t.Any
    warnings: tuple[str, ...]
    retry_after: str | None
