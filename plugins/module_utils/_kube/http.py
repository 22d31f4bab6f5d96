# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Send one request with its retries: what is worth another try, how long to wait, and the error of a failure.

Until the deadline, and for at most Limits.outage seconds in a row, the client retries broken connections,
cut-off bodies, 408, 429, 500, 502, 503 and 504. It follows a server's Retry-After up to Limits.longest_pause
and the deadline. It also repeats a write after a 409 of an optimistic lock inside the server; and once, with
credentials that it reads again, a request after a 401 or a certificate that is not trusted. It does not
believe the first 401 and 403 of a server that has just come back, nor a 403 for want of built-in roles. It
retries nothing else. A write whose status 500 says nothing about the server is tried for Limits.stubborn
seconds.
"""

from __future__ import annotations

import functools
import json
import re
import typing as t
from dataclasses import replace
from urllib.parse import urlencode

from .._core.errors import ApiError
from .._core.ownership import MANAGER
from . import answer as kube_answer, http_errors
from .answer import Answer
from .connection import TRANSPORT_ERRORS, Connection
from .deadline import Deadline
from .retry import LOOK, USUAL, AllMet, Contacts, Limits, Patience, Pause, Trouble

# How often a write is sent again after the server's own optimistic lock failed.
RACES = 10
_SAY_AFTER = 5.0
_GRACE = 0.9
_NOT_IN_YAML = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff\ud800-\udfff]")


class Response(t.NamedTuple):
    """An answer of the server, of any status.

    status: HTTP status. body: the decoded JSON value, or text. warnings: texts of Warning headers.
    repeated: an earlier try may have reached the server.
    """

    status: int
    body: t.Any
    warnings: tuple[str, ...] = ()
    repeated: bool = False


class Http:
    """All requests of one task.

    connect: called for the first request, so that wrong input fails before credentials are read.
    agent: the User-Agent of every request. progress: shows a line while the server cannot be reached.
    contacts: the servers that have answered the run.
    """

    def __init__(
        self,
        connect: t.Callable[[], Connection],
        deadline: Deadline,
        agent: str,
        progress: t.Callable[[str], None],
        limits: Limits = USUAL,
        contacts: Contacts | None = None,
    ) -> None:
        self._connect = connect
        self.deadline = deadline
        self.limits = limits
        self._headers = {"User-Agent": agent, "Accept": "application/json"}
        # The server's time at its last answer, as the header Date has it.
        self.date = ""
        self.progress = progress
        self.trouble = Trouble(deadline.clock, limits)
        self.patience = Patience(limits, contacts or AllMet(), lambda: self.connection.host)

    @functools.cached_property
    def connection(self) -> Connection:
        return self._connect()

    def tokens(self) -> list[str]:
        """Return the tokens that were issued for the requests so far. This never opens a connection."""
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
        outage: float | None = None,
    ) -> Response:
        """Return the server's answer, of any status that is not worth another try.

        outage: for how many seconds it is tried, if not for as long as usual. Raises ApiError if there is
        none in time, and CredentialsError.
        """
        payload = None if body is None else _encoded(body)
        headers = {**self._headers, "Accept": accept}
        if payload is not None:
            headers["Content-Type"] = content_type
        target = path + ("?" + urlencode(query) if query else "")
        tries = _Tries(
            self, method, path, lambda read: self._once(method, target, headers, payload, read), outage
        )
        while (response := tries.next()) is None:
            pass
        return response

    def once(self, method: str, path: str, body: t.Any = None) -> Response | None:
        """Send a request in one try. Return None if no answer came."""
        payload = None if body is None else _encoded(body)
        headers = {**self._headers, "Content-Type": "application/json"}
        target = path if body is None else f"{path}?{urlencode({'fieldManager': MANAGER})}"
        try:
            answer = self._once(method, target, headers, payload, self.limits.first_read)
        except TRANSPORT_ERRORS:
            return None
        return Response(answer.status, answer.body, answer.warnings)

    def _is_ready(self) -> bool:
        """Ask /readyz without credentials: a starting server may not know them. A 401 counts as ready."""
        most = min(self.limits.first_read, self.deadline.remaining() + _GRACE)
        try:
            answer = self.connection.send(
                "GET", "/readyz", self._headers, None, self.limits.connect, most, most, anonymous=True
            )
        except TRANSPORT_ERRORS:
            return False
        answer.close()
        return answer.status in (200, 401)

    def rest(self, seconds: float, asked: float) -> None:
        """Sleep until the next turn; asked: seconds that the server asked for."""
        is_early = self.trouble.turn(seconds)
        self.deadline.sleep(seconds + asked)
        while is_early() and not self.deadline.passed:
            self.deadline.sleep(LOOK)

    def reconnect(self) -> None:
        """Read the credentials and open a connection again; tokens of the old one are still to be revoked."""
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
        self.date = str(raw.headers.get("Date", ""))
        if isinstance(answer.body, str) and answer.status < 300 and "json" in headers["Accept"]:
            raise self.not_kubernetes(method, target, answer)
        return answer

    def not_kubernetes(self, method: str, target: str, answer: Answer) -> ApiError:
        """Return the error for an answer that no API server gives."""
        connection, what = self.connection, (answer.status, answer.kind)
        return http_errors.not_kubernetes(connection.host, connection.proxy, method, target, what)

    def notice(self, method: str, answer: Answer, path: str) -> None:
        """Note a trouble of the server, if the answer is the sign of one."""
        is_busy = answer.status != 409 and http_errors.is_passing(method, answer.status, answer.body, path)
        is_doubtful = not self.trouble.is_known and http_errors.is_unsettled(answer.status, answer.body)
        if is_busy or (is_doubtful and not self._is_ready()):
            self.trouble.notice()

    def is_passing(self, method: str, answer: Answer, path: str) -> bool:
        """Return True if the same request may get another answer in a moment."""
        is_early = self.trouble.is_recent and http_errors.is_unsettled(answer.status, answer.body)
        return is_early or http_errors.is_passing(method, answer.status, answer.body, path)

    def stream(self, path: str, query: t.Mapping[str, t.Any], read_timeout: float) -> t.Any:
        """Open a watch, in one try. Return the raw response, which the caller reads line by line and closes.

        Raises one of TRANSPORT_ERRORS.
        """
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
    """Return JSON that is also YAML, since the server reads an apply as YAML.

    In YAML, pairs of surrogates mean nothing, and some characters end a line or are not allowed.
    """
    return _NOT_IN_YAML.sub(
        lambda found: f"\\u{ord(found[0]):04x}", json.dumps(body, ensure_ascii=False)
    ).encode()


class _Tries:
    """The tries of one request. once: sends it, with a timeout in seconds for the next byte."""

    def __init__(
        self,
        http: Http,
        method: str,
        path: str,
        once: t.Callable[[float], Answer],
        outage: float | None = None,
    ) -> None:
        self._http, self._method, self._path, self._once = http, method, path, once
        self._pause, self._read = Pause(http.limits), http.limits.first_read
        self._started = self._said = http.deadline.clock()
        self._outage = http.limits.outage if outage is None else outage
        self._races = 0
        self._firm_since: float | None = None
        self._renewed = self._repeated = False

    def next(self) -> Response | None:
        """Try once. Return the response, or None to try again; the pause in between is over then."""
        try:
            answer = self._once(self._read)
        except TRANSPORT_ERRORS as exc:
            problem, asked = self._broken(exc), 0.0
        else:
            self._http.patience.note_answer()
            if answer.status == 401 and not self._renewed:
                self._renewed = True
                self._http.connection.renew()
                return None
            self._races += answer.status == 409
            self._http.notice(self._method, answer, self._path)
            is_passing = self._http.is_passing(self._method, answer, self._path)
            if self._races > RACES or self._stays(answer) or not is_passing:
                self._http.trouble.is_over()
                if http_errors.is_foreign(answer.status, answer.body):
                    raise self._http.not_kubernetes(self._method, self._path, answer)
                self._http.connection.check_identity(answer.status, http_errors.text_of(answer.body))
                return Response(answer.status, answer.body, answer.warnings, self._repeated)
            problem = http_errors.describe(answer.status, answer.body)
            asked = self._http.limits.asked(answer.retry_after)
            self._repeated = self._repeated or answer.status not in (409, 429)
        if problem:
            self._rest(problem, asked)
        return None

    def _stays(self, answer: Answer) -> bool:
        """Return True if the server has given answers for a while that no further try will change."""
        if not http_errors.may_stay(self._method, answer.status, answer.body):
            self._firm_since = None
            return False
        now = self._http.deadline.clock()
        self._firm_since = now if self._firm_since is None else self._firm_since
        return now - self._firm_since >= self._http.limits.stubborn

    def _broken(self, exc: Exception) -> str:
        """Return what broke the connection, or "" to try again at once. Raises ApiError if no try helps."""
        host = self._http.connection.host
        if refusal := http_errors.proxy_problem(exc):
            proxy = self._http.connection.proxy
            raise ApiError("API-PROXY", proxy=proxy, host=host, problem=refusal) from exc
        if "alert" in str(exc).lower():  # the other end refused the handshake, for example our certificate
            self._http.connection.check_identity(0, str(exc))
        cause = http_errors.certificate_problem(exc)
        if cause is not None and self._renewed:
            raise ApiError("API-TLS", host=host, answer=cause) from exc
        if cause is not None:
            # The cluster's authority may have been replaced, and the files here as well.
            self._renewed = True
            self._http.reconnect()
            return ""
        problem, self._repeated = http_errors.describe_transport(exc), True
        if problem == http_errors.NO_ANSWER:
            self._read = min(self._http.limits.read, self._read * 2)
        self._http.trouble.notice()
        return problem

    def _rest(self, problem: str, asked: float) -> None:
        """Wait for the next try. Raises ApiError if there is no time for one."""
        host, deadline = self._http.connection.host, self._http.deadline
        now = deadline.clock()
        seconds = now - self._started
        if deadline.passed or seconds > self._http.patience.seconds(problem, self._outage):
            proxy = self._http.connection.proxy
            raise http_errors.unreachable(host, proxy, self._method, self._path, problem, seconds)
        if now - self._said >= _SAY_AFTER:
            self._http.progress(f"waiting for {host}: {problem}, {seconds:.0f} s")
            self._said = now
        # A server that names a time is there: what it asked for is no part of an outage.
        self._outage += asked
        self._http.rest(self._pause.next(), asked)
