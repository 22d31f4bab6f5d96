# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The faults that a request can meet, by name, and the scripts that choose which request meets one."""

from __future__ import annotations

import json
import random
import threading
import time
import typing as t

from faults.proxy import Answer, Call, Exchange, Fault

REASONS: t.Final = {
    408: "Timeout",
    429: "TooManyRequests",
    500: "InternalError",
    502: "BadGateway",
    503: "ServiceUnavailable",
    504: "Timeout",
}
HALF_AN_EVENT: t.Final = b'{"type":"MODIFIED","object":{"kind":"Conf'


def named(name: str, act: t.Callable[[Exchange], None]) -> Fault:
    """Return the function as a fault with this name."""
    fault = t.cast(Fault, act)
    fault.__name__ = name
    return fault


def answered(status: int, retry_after: str | None = None, late: bool = False) -> Fault:
    """Return the fault that answers with an error status.

    late: first let the real server do the work, then send the error.
    """

    def act(exchange: Exchange) -> None:
        if late and not exchange.is_watch:
            exchange.forward()
        exchange.say(
            status, REASONS[status], "injected", *([("Retry-After", retry_after)] if retry_after else [])
        )

    return named(
        f"{status}{'' if retry_after is None else f'-retry-after-{retry_after}'}{'-late' if late else ''}",
        act,
    )


def web_page(exchange: Exchange) -> None:
    """Answer with a gateway's HTML error page instead of a Status object."""
    exchange.reply(Answer(502, [("Content-Type", "text/html")], b"<html><body>Bad Gateway</body></html>"))


def reset_before(exchange: Exchange) -> None:
    """Reset the connection before the real server gets the request."""
    exchange.reset()


def reset_after(exchange: Exchange) -> None:
    """Reset the connection after the real server has done the work."""
    if exchange.is_watch:
        exchange.begin(200, [("Transfer-Encoding", "chunked")])
    else:
        exchange.forward()
    exchange.reset()


def hung_up_after(exchange: Exchange) -> None:
    """Close the connection in an orderly way before the first byte of the answer."""
    if not exchange.is_watch:
        exchange.forward()
    exchange.hang_up()


def _begin(exchange: Exchange, *length: tuple[str, str]) -> bytes:
    """Send the real answer's headers; return the first half of its body, which the caller may send."""
    if exchange.is_watch:
        exchange.begin(
            200,
            [("Content-Type", "application/json"), *([("Transfer-Encoding", "chunked")] if length else [])],
        )
        return b"%x\r\n%s" % (len(HALF_AN_EVENT) + 50, HALF_AN_EVENT) if length else HALF_AN_EVENT
    answer = exchange.forward()
    if length and length[0][0] == "Transfer-Encoding":
        exchange.begin(answer.status, [*_without_length(answer), *length])
        return b"%x\r\n%s" % (len(answer.body), answer.body[: len(answer.body) // 2])
    exchange.begin(
        answer.status,
        [*_without_length(answer), *([("Content-Length", str(len(answer.body)))] if length else [])],
    )
    return answer.body[: len(answer.body) // 2]


def _without_length(answer: Answer) -> list[tuple[str, str]]:
    return [
        (name, value)
        for name, value in answer.headers
        if name.lower() not in ("content-length", "transfer-encoding")
    ]


def cut_off(exchange: Exchange) -> None:
    """Send half of the body that Content-Length promised, then close the connection."""
    exchange.send(_begin(exchange, ("Content-Length", "")))
    exchange.hang_up()


def cut_off_chunk(exchange: Exchange) -> None:
    exchange.send(_begin(exchange, ("Transfer-Encoding", "chunked")))
    exchange.hang_up()


def cut_off_unannounced(exchange: Exchange) -> None:
    """Send half of a body whose length only the end of the connection tells, then close the connection."""
    exchange.send(_begin(exchange))
    exchange.hang_up()


def cut_off_empty(exchange: Exchange) -> None:
    """Send no byte of a body whose length only the end of the connection tells, then close the connection."""
    _begin(exchange)
    exchange.hang_up()


def cut_off_headers(exchange: Exchange) -> None:
    """Close the connection in the middle of the headers."""
    status = 200 if exchange.is_watch else exchange.forward().status
    exchange.send(b"HTTP/1.1 %d OK\r\nAudit-Id: 4b6e8" % status)
    exchange.hang_up()


def stalled(exchange: Exchange) -> None:
    """Send half of the body, then keep the connection open and send nothing."""
    exchange.send(_begin(exchange, ("Content-Length", "")))
    exchange.hold()


def silent_before(exchange: Exchange) -> None:
    """Send nothing; the real server does not get the request."""
    exchange.hold()


def silent_after(exchange: Exchange) -> None:
    """Send nothing after the real server has done the work."""
    if exchange.is_watch:
        exchange.begin(200, [("Transfer-Encoding", "chunked")])
    else:
        exchange.forward()
    exchange.hold()


def dripping(exchange: Exchange) -> None:
    """Send the whole answer, a few bytes at a time."""
    if exchange.is_watch:
        exchange.watched(pieces=20)
        return
    answer = exchange.forward()
    exchange.begin(answer.status, [*_without_length(answer), ("Content-Length", str(len(answer.body)))])
    size = len(answer.body) // 20 + 1
    for start in range(0, len(answer.body), size):
        exchange.send(answer.body[start : start + size])
        time.sleep(0.01)


def dripping_for_ever(exchange: Exchange) -> None:
    """Send a byte every tenth of a second and never end."""
    exchange.begin(200, [("Content-Type", "application/json"), ("Content-Length", "1000000")])
    while True:
        exchange.send(b" ")
        time.sleep(0.1)


def unauthorized(exchange: Exchange) -> None:
    exchange.say(401, "Unauthorized", "Unauthorized")


def conflict(exchange: Exchange) -> None:
    """Answer with the 409 of an optimistic lock inside the server, for example on a quota."""
    exchange.say(
        409,
        "Conflict",
        'Operation cannot be fulfilled on resourcequotas "q": the object has been modified; '
        "please apply your changes",
    )


def gone(exchange: Exchange) -> None:
    exchange.say(
        410, "Expired", "The provided continue parameter is too old to display a consistent list result."
    )


def gone_event(exchange: Exchange) -> None:
    """Open a watch, then send the event that says that its resourceVersion is too old."""
    status = {
        "kind": "Status",
        "apiVersion": "v1",
        "status": "Failure",
        "code": 410,
        "reason": "Expired",
        "message": "too old resource version: 1 (2)",
    }
    line = json.dumps({"type": "ERROR", "object": status}).encode() + b"\n"
    exchange.begin(200, [("Content-Type", "application/json"), ("Transfer-Encoding", "chunked")])
    exchange.send(b"%x\r\n%s\r\n0\r\n\r\n" % (len(line), line))


def ended_at_once(exchange: Exchange) -> None:
    exchange.begin(200, [("Content-Type", "application/json"), ("Transfer-Encoding", "chunked")])
    exchange.send(b"0\r\n\r\n")


def doubled_events(exchange: Exchange) -> None:
    exchange.watched(copies=2)


def _faults(*faults: Fault) -> tuple[Fault, ...]:
    """Return the faults unchanged; the signature tells the type checker that each function is a Fault."""
    return faults


ANY_REQUEST: t.Final[dict[str, Fault]] = {
    fault.__name__: fault
    for fault in _faults(
        *(answered(status) for status in (408, 429, 500, 502, 503, 504)),
        *(answered(status, retry_after="1") for status in (429, 503)),
        *(answered(status, retry_after="3600") for status in (429, 503)),
        *(answered(status, late=True) for status in (500, 503, 504)),
        *(web_page, reset_before, reset_after, hung_up_after),
        *(cut_off, cut_off_chunk, cut_off_unannounced, cut_off_empty, cut_off_headers),
        *(stalled, silent_before, silent_after, dripping, unauthorized),
    )
}
WRITES_ONLY: t.Final[dict[str, Fault]] = {"conflict": conflict}
PAGE_ONLY: t.Final[dict[str, Fault]] = {"gone": gone}
WATCH_ONLY: t.Final[dict[str, Fault]] = {
    fault.__name__: fault for fault in (gone, gone_event, ended_at_once, doubled_events)
}


class Each:
    """A script in which each distinct request of a client meets the fault `times` times, then passes.

    watches: how many watches break.
    """

    def __init__(
        self, fault: Fault, times: int, only: t.Container[str] | None = None, watches: int = 1
    ) -> None:
        self._fault, self._times, self._only, self.watches = fault, times, only, watches
        self._had: dict[tuple[str, str], int] = {}
        self._lock = threading.Lock()

    def __call__(self, call: Call) -> Fault | None:
        if self._only is not None and call.verb not in self._only:
            return None
        with self._lock:
            had = self._had[call.verb, call.path] = self._had.get((call.verb, call.path), 0) + 1
        return self._fault if had <= self._times else None


class Dice:
    """A script in which a share of the requests meets a fault, at most `in_a_row` times in succession.

    The seed decides everything.
    """

    watches = 1

    def __init__(self, seed: int, share: float = 0.25, in_a_row: int = 10) -> None:
        self._random, self._share, self._most, self._row = random.Random(seed), share, in_a_row, 0

    def __call__(self, call: Call) -> Fault | None:
        if self._row >= self._most or self._random.random() >= self._share:
            self._row = 0
            return None
        self._row += 1
        return self._random.choice(fitting(call))


def fitting(call: Call) -> list[Fault]:
    """Return the faults that a request of this verb must survive, without those that cost a second."""
    found = [
        fault
        for name, fault in ANY_REQUEST.items()
        if "retry-after" not in name and fault is not unauthorized
    ]
    more = {"page": PAGE_ONLY, "watch": WATCH_ONLY, "get": {}, "list": {}}.get(call.verb, WRITES_ONLY)
    return [*found, *more.values()]
