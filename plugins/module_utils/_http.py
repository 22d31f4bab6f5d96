# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""One request with its retries: what is worth another try, how long to wait, and what each failure is called.

Retried until the deadline (at most Limits.outage seconds in a row): broken connections, cut-off bodies, 408, 429, 500, 502, 503 and 504;
a server's Retry-After is honoured up to Limits.longest_pause and the deadline. A write is also sent again after a 409 of an optimistic lock inside the
server, a 401 once, with credentials that are read again; and a server that has just come back is not believed its first 401 and 403. Nothing else is.
"""

from __future__ import annotations

import functools
import json
import math
import typing as t
from dataclasses import dataclass, field
from urllib.parse import urlencode

from ansible_collections.accelerators.openshift.plugins.module_utils import _http_errors
from ansible_collections.accelerators.openshift.plugins.module_utils._connection import TRANSPORT_ERRORS, Connection
from ansible_collections.accelerators.openshift.plugins.module_utils._deadline import Deadline
from ansible_collections.accelerators.openshift.plugins.module_utils._http_limits import USUAL, Limits, Pause

# How often a write is sent again after the server's own optimistic lock failed.
RACES = 10
_SAY_AFTER = 5.0
_GRACE = 0.9
_LONG = 1 << 19
_NO_BODY = frozenset((204, 304))


@dataclass(frozen=True)
class Response:
    """status: HTTP status. body: the decoded JSON object, or text. warnings: texts of Warning headers. repeated: an earlier try may have reached the server."""

    status: int
    body: t.Any
    warnings: tuple[str, ...] = field(default=())
    repeated: bool = False


class Http:
    """connect: called for the first request, so that wrong input is told first.

    agent: the User-Agent of every request. progress: shows a line while the server cannot be reached.
    """

    def __init__(self, connect: t.Callable[[], Connection], deadline: Deadline, agent: str, progress: t.Callable[[str], None], limits: Limits = USUAL) -> None:
        self._connect = connect
        self.deadline = deadline
        self.limits = limits
        self._headers = {"User-Agent": agent, "Accept": "application/json"}
        self._progress = progress
        self._troubled = -math.inf

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
        pause, read, races, refreshed, repeated = Pause(self.limits), self.limits.first_read, 0, False, False
        started = said = self.deadline.clock()
        patience = self.limits.outage
        while True:
            asked = 0.0
            try:
                answer = self._once(method, target, headers, payload, read)
                if answer.status == 401 and not refreshed:
                    refreshed = True
                    self.connection.renew()
                    continue
                races += answer.status == 409
                if not self._is_passing(method, answer) or races > RACES:
                    return Response(answer.status, answer.body, answer.warnings, repeated)
                problem, asked = _http_errors.describe(answer.status, answer.body), self.limits.asked(answer.retry_after)
                repeated = repeated or answer.status not in (409, 429)
            except TRANSPORT_ERRORS as exc:
                cause = _http_errors.certificate_problem(exc)
                if cause is not None:
                    raise _http_errors.untrusted(self.connection.host, cause) from exc
                problem, repeated = _http_errors.describe_transport(exc), True
                read = min(self.limits.read, read * 2) if problem == _http_errors.NO_ANSWER else read
                self._troubled = self.deadline.clock()
            now = self.deadline.clock()
            if self.deadline.passed or now - started > patience:
                raise _http_errors.unreachable(self.connection.host, method, path, problem, now - started)
            if now - said >= _SAY_AFTER:
                self._progress(f"waiting for {self.connection.host}: {problem}, {now - started:.0f} s")
                said = now
            # A server that names a time is there: what it asked for is no part of an outage.
            patience += asked
            self.deadline.sleep(pause.next() + asked)

    def _once(self, method: str, target: str, headers: t.Mapping[str, str], payload: bytes | None, read: float) -> _Answer:
        # A try may end a moment past the deadline, so that the last answer is not thrown away.
        most = min(self.limits.answer, self.deadline.remaining() + _GRACE)
        until = self.deadline.clock() + most
        raw = self.connection.send(method, target, headers, payload, self.limits.connect, read, most)
        try:
            data = self._read(raw, until)
        except BaseException:
            raw.close()
            raise
        raw.release_conn()
        if not data and raw.status not in _NO_BODY and not ("Content-Length" in raw.headers or "Transfer-Encoding" in raw.headers):
            # With the end of the headers missing, their absence says nothing.
            raise ConnectionError("the answer was cut off before its body")
        kind = raw.headers.get("Content-Type", "")
        body: t.Any
        if "json" in kind:
            try:
                body = json.loads(data)
            except ValueError as exc:
                raise ConnectionError(f"the answer was cut off after {len(data)} bytes") from exc
        else:
            body = data.decode("utf-8", "replace")
        if isinstance(body, str) and raw.status < 300 and "json" in headers["Accept"]:
            raise _http_errors.not_json(self.connection.host, method, target, kind)
        warnings = tuple(_http_errors.warning_text(value) for value in raw.headers.getlist("Warning"))
        return _Answer(raw.status, body, warnings, raw.headers.get("Retry-After"))

    def _read(self, raw: t.Any, until: float) -> bytes:
        """The whole body; a peer that sends a little now and then does not keep us past the deadline."""
        parts, size = [], 0
        # What arrives, as it arrives; of a long answer, big pieces, which cost half.
        while part := raw.read1(1 << 16) if size < _LONG and hasattr(raw, "read1") else raw.read(1 << 18):
            parts.append(part)
            size += len(part)
            if self.deadline.clock() > until:
                raise TimeoutError("the answer did not end: timed out")
        return b"".join(parts)

    def _is_passing(self, method: str, answer: _Answer) -> bool:
        if _http_errors.is_passing(method, answer.status, answer.body):
            if answer.status != 409:
                self._troubled = self.deadline.clock()
            return True
        return _http_errors.is_unsettled(answer.status, answer.body) and self.deadline.clock() - self._troubled < self.limits.settling

    def stream(self, path: str, query: t.Mapping[str, t.Any], read_timeout: float) -> t.Any:
        """One try of a watch: the raw response, to be read line by line and closed by the caller."""
        try:
            return self.connection.send("GET", f"{path}?{urlencode(query)}", self._headers, None, self.limits.connect, read_timeout)
        except TRANSPORT_ERRORS:
            self._troubled = self.deadline.clock()
            raise


@dataclass(frozen=True)
class _Answer:
    status: int
    body: t.Any
    warnings: tuple[str, ...]
    retry_after: str | None
