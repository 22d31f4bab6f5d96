# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Read an answer to its end. One that was cut off is a broken connection, whatever its first half said."""

from __future__ import annotations

import functools
import gc
import json
import re
import typing as t
import zlib

_PIECE = 1 << 18
_LONG = 1 << 19
_ROOM = 1 << 24
_NO_BODY = frozenset((204, 304))
# zlib's code for "with a gzip header".
_GZIP_FORMAT = 31
_WARNING = re.compile(r'^\d{3} \S+ "(.*)"( "[^"]*")?$', re.DOTALL)


class Answer(t.NamedTuple):
    """A complete answer of the server.

    status: HTTP status. body: the decoded JSON value, or text. kind: its content type. warnings: texts of
    Warning headers. retry_after: the header of that name.
    """

    status: int
    body: t.Any
    kind: str
    warnings: tuple[str, ...]
    retry_after: str | None


def read(raw: t.Any, remaining: t.Callable[[], float]) -> Answer:
    """Return the answer; its connection goes back to the pool, or is closed.

    raw: a urllib3 response whose body has not been read yet. remaining: seconds that are left for the body.
    Raises ConnectionError if the answer was cut off, TimeoutError if it does not end in time, and what
    urllib3 raises when the connection breaks.
    """
    try:
        data = _body(raw, remaining)
    except BaseException:
        raw.close()
        raise
    raw.release_conn()
    if (
        not data
        and raw.status not in _NO_BODY
        and not ("Content-Length" in raw.headers or "Transfer-Encoding" in raw.headers)
    ):
        # With the end of the headers missing, their absence says nothing.
        raise ConnectionError("the answer was cut off before its body")
    if "gzip" in raw.headers.get("Content-Encoding", ""):
        data = _unpacked(data)
    kind = raw.headers.get("Content-Type", "")
    body: t.Any
    if "json" in kind:
        try:
            body = _decoded(data)
        except ValueError as exc:
            raise ConnectionError(f"the answer was cut off after {len(data)} bytes") from exc
    else:
        body = data.decode("utf-8", "replace")
    warnings = tuple(_warning_text(value) for value in raw.headers.getlist("Warning"))
    return Answer(raw.status, body, kind, warnings, raw.headers.get("Retry-After"))


def _warning_text(header: str) -> str:
    match = _WARNING.match(header.strip())
    return match.group(1).replace('\\"', '"') if match else header


def _body(raw: t.Any, remaining: t.Callable[[], float]) -> bytes:
    """Return the bytes of the body as they were sent.

    A socket's timeout covers only the next byte, so the deadline is checked after each piece that arrived,
    and the wait for the next piece never goes beyond it.
    """
    parts = []
    while part := _piece(raw):
        parts.append(part)
        left = remaining()
        if left <= 0:
            raise TimeoutError("the answer did not end: timed out")
        sock = getattr(getattr(raw, "connection", None), "sock", None)
        if sock is not None and left < (sock.gettimeout() or left + 1):
            sock.settimeout(left)
    return b"".join(parts)


def _piece(raw: t.Any) -> bytes:
    """Return what has arrived, at most 256 KiB. urllib3 1 has no read1 and waits for a full, small piece."""
    if hasattr(raw, "read1"):
        return t.cast(bytes, raw.read1(_PIECE, decode_content=False))
    return t.cast(bytes, raw.read(1 << 12, decode_content=False))


def _unpacked(data: bytes) -> bytes:
    # urllib3 would go on reading until it has something unpacked, past any deadline.
    unpacker = zlib.decompressobj(_GZIP_FORMAT)
    try:
        unpacked = unpacker.decompress(data)
    except zlib.error as exc:
        raise ConnectionError(f"the answer's compression is broken: {exc}") from exc
    if not unpacker.eof:
        raise ConnectionError(f"the answer was cut off after {len(data)} bytes")
    return unpacked


def _decoded(data: bytes) -> t.Any:
    if len(data) < _LONG or not gc.isenabled():
        return json.loads(data)
    _keep_room()
    # Before Python 3.12 the collector would search the new value for circles, again and again; JSON has none.
    gc.disable()
    try:
        return json.loads(data)
    finally:
        gc.enable()


@functools.cache
def _keep_room() -> None:
    """Make glibc keep freed memory for the next page of a list.

    Until a block this big has come and gone, glibc gives freed memory back and has it mapped anew each time.
    """
    bytes(_ROOM)
