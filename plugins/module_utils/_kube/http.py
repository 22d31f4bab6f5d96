# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""One request with its retries: what is worth another try, how long to wait, and what each failure is called.

Retried until the deadline (at most Limits.outage seconds in a row): broken connections, cut-off bodies, 408, 429, 500, 502, 503 and 504;
a server's Retry-After is honoured up to Limits.longest_pause and the deadline. A write is also sent again after a 409 of an optimistic lock inside the
server; a 401 and a certificate that is not trusted once, with credentials that are read again; and a server that has just come back is not believed its
first 401 and 403. Nothing else is.
"""

from __future__ import annotations

import functools
import json
import re
import typing as t
from dataclasses import replace
from urllib.parse import urlencode

from ansible_collections.accelerators.openshift.plugins.module_utils._kube import (
    answer as kube_answer,
    http_errors,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.answer import Answer
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.connection import (
    TRANSPORT_ERRORS,
    Connection,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.deadline import Deadline
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.retry import (
    LOOK,
    USUAL,
    Limits,
    Pause,
    Trouble,
)

# How often a write is sent again after the server's own optimistic lock failed.
RACES = 10
_SAY_AFTER = 5.0
_GRACE = 0.9
_NOT_IN_YAML = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff\ud800-\udfff]")


class Response(t.NamedTuple):
    """status: HTTP status. body: the decoded JSON object, or text. warnings: texts of Warning headers. repeated: an earlier try may have reached the server."""

    status: int
    body: t.Any
    warnings: tuple[str, ...] = ()
    repeated: bool = False


class Http:
    """connect: called for the first request, so that wrong input is told first.

    agent: the User-Agent of every request. progress: shows a line while the server cannot be reached.
    """

    def __init__(
        self,
        connect: t.Callable[[], Connection],
        deadline: Deadline,
        agent: str,
        progress: t.Callable[[str], None],
        limits: Limits = USUAL,
    ) -> None:
        self._connect = connect
        self.deadline = deadline
        self.limits = limits
        self._headers = {"User-Agent": agent, "Accept": "application/json"}
        self._progress = progress
        self.trouble = Trouble(deadline.clock, limits)

    @functools.cached_property
    def connection(self) -> Connection:
        return self._connect()

    def tokens(self) -> list[str]:
        """Those that were issued for the requests so far: without one there is no connection, and none is to be opened for this."""
        connection: Connection | None = self.__dict__.get("connection")
        return connection.tokens() if connection else []

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
        payload = None if body is None else _encoded(body)
        headers = {**self._headers, "Accept": accept}
        if payload is not None:
            headers["Content-Type"] = content_type
        target = path + ("?" + urlencode(query) if query else "")
        pause, read, races, renewed, repeated = Pause(self.limits), self.limits.first_read, 0, False, False
        started = said = self.deadline.clock()
        patience = self.limits.outage
        while True:
            asked = 0.0
            try:
                answer = self._once(method, target, headers, payload, read)
                if answer.status == 401 and not renewed:
                    renewed = True
                    self.connection.renew()
                    continue
                races += answer.status == 409
                self._notice(method, answer)
                if races > RACES or not self._is_passing(method, answer):
                    self.trouble.is_over()
                    return Response(answer.status, answer.body, answer.warnings, repeated)
                problem, asked = (
                    http_errors.describe(answer.status, answer.body),
                    self.limits.asked(answer.retry_after),
                )
                repeated = repeated or answer.status not in (409, 429)
            except TRANSPORT_ERRORS as exc:
                if refusal := http_errors.proxy_problem(exc):
                    raise http_errors.no_way(self.connection.host, refusal) from exc
                cause = http_errors.certificate_problem(exc)
                if cause is not None and renewed:
                    raise http_errors.untrusted(self.connection.host, cause) from exc
                if cause is not None:
                    # The cluster's authority may have been replaced, and the files here as well.
                    renewed = True
                    self.reconnect()
                    continue
                problem, repeated = http_errors.describe_transport(exc), True
                read = min(self.limits.read, read * 2) if problem == http_errors.NO_ANSWER else read
                self.trouble.notice()
            now = self.deadline.clock()
            if self.deadline.passed or now - started > patience:
                raise http_errors.unreachable(self.connection.host, method, path, problem, now - started)
            if now - said >= _SAY_AFTER:
                self._progress(f"waiting for {self.connection.host}: {problem}, {now - started:.0f} s")
                said = now
            # A server that names a time is there: what it asked for is no part of an outage.
            patience += asked
            self._rest(pause.next(), asked)

    def _is_ready(self) -> bool:
        """Asked without credentials, since a server that starts may not know them; one that does not talk to strangers counts as ready."""
        most = min(self.limits.first_read, self.deadline.remaining() + _GRACE)
        try:
            answer = self.connection.send(
                "GET", "/readyz", self._headers, None, self.limits.connect, most, most, anonymous=True
            )
        except TRANSPORT_ERRORS:
            return False
        answer.close()
        return answer.status in (200, 401)

    def _rest(self, seconds: float, asked: float) -> None:
        is_early = self.trouble.turn(seconds)
        self.deadline.sleep(seconds + asked)
        while is_early() and not self.deadline.passed:
            self.deadline.sleep(LOOK)

    def reconnect(self) -> None:
        """Reads the credentials and opens a connection anew; what was logged in for before is still to be revoked."""
        former, connection = self.connection, self._connect()
        self.__dict__["connection"] = replace(
            connection, tokens=lambda: [*former.tokens(), *connection.tokens()]
        )

    def _once(
        self,
        method: str,
        target: str,
        headers: t.Mapping[str, str],
        payload: bytes | None,
        read: float,
    ) -> Answer:
        # A try may end a moment past the deadline, so that the last answer is not thrown away.
        most = min(self.limits.answer, self.deadline.remaining() + _GRACE)
        until = self.deadline.clock() + most
        raw = self.connection.send(method, target, headers, payload, self.limits.connect, read, most)
        answer = kube_answer.read(raw, lambda: until - self.deadline.clock())
        if isinstance(answer.body, str) and answer.status < 300 and "json" in headers["Accept"]:
            raise http_errors.not_json(self.connection.host, method, target, answer.kind)
        return answer

    def _notice(self, method: str, answer: Answer) -> None:
        is_busy = answer.status != 409 and http_errors.is_passing(method, answer.status, answer.body)
        is_doubtful = not self.trouble.is_known and http_errors.is_unsettled(answer.status, answer.body)
        if is_busy or (is_doubtful and not self._is_ready()):
            self.trouble.notice()

    def _is_passing(self, method: str, answer: Answer) -> bool:
        """Whether the same request may be answered otherwise in a moment."""
        is_early = self.trouble.is_recent and http_errors.is_unsettled(answer.status, answer.body)
        return is_early or http_errors.is_passing(method, answer.status, answer.body)

    def stream(self, path: str, query: t.Mapping[str, t.Any], read_timeout: float) -> t.Any:
        """One try of a watch: the raw response, to be read line by line and closed by the caller."""
        try:
            response = self.connection.send(
                "GET", f"{path}?{urlencode(query)}", self._headers, None, self.limits.connect, read_timeout
            )
        except TRANSPORT_ERRORS:
            self.trouble.notice()
            raise
        if response.status == 200:
            self.trouble.is_over()
        return response


def _encoded(body: t.Any) -> bytes:
    """JSON that is YAML as well, as which an apply is read: there, pairs of surrogates mean nothing, and some characters end a line or may not be."""
    return _NOT_IN_YAML.sub(
        lambda found: f"\\u{ord(found[0]):04x}", json.dumps(body, ensure_ascii=False)
    ).encode()
