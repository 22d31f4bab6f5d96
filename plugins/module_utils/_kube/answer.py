# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""An answer, read to its end: one that was cut off is a broken connection, whatever its first half said."""

from __future__ import annotations

import functools
import gc
import json
import typing as t

from ansible_collections.accelerators.openshift.plugins.module_utils._kube import http_errors

_LONG = 1 << 19
_ROOM = 1 << 24
_NO_BODY = frozenset((204, 304))


class Answer(t.NamedTuple):
    """status: HTTP status. body: the decoded JSON object, or text. kind: its content type. warnings: texts of Warning headers."""

    status: int
    body: t.Any
    kind: str
    warnings: tuple[str, ...]
    retry_after: str | None


def read(raw: t.Any, is_late: t.Callable[[], bool], trim: t.Callable[[bytes], bytes] | None = None) -> Answer:
    """The response whose body has not been read yet; its connection goes back to the pool, or is closed.

    trim: takes out of a long JSON text what nobody wants, before it is parsed.
    """
    try:
        data = _body(raw, is_late)
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
    kind = raw.headers.get("Content-Type", "")
    body: t.Any
    if "json" in kind:
        try:
            body = _decoded(trim(data) if trim and len(data) >= _LONG else data)
        except ValueError as exc:
            raise ConnectionError(f"the answer was cut off after {len(data)} bytes") from exc
    else:
        body = data.decode("utf-8", "replace")
    warnings = tuple(http_errors.warning_text(value) for value in raw.headers.getlist("Warning"))
    return Answer(raw.status, body, kind, warnings, raw.headers.get("Retry-After"))


def _decoded(data: bytes) -> t.Any:
    if len(data) < _LONG or not gc.isenabled():
        return json.loads(data)
    _keep_room()
    # Before Python 3.12 it would be searched for circles, which JSON has none of, again and again.
    gc.disable()
    try:
        return json.loads(data)
    finally:
        gc.enable()


@functools.cache
def _keep_room() -> None:
    """glibc gives back what was freed, and has it mapped anew for the next page of a list, until a block this big has come and gone; nobody writes to it."""
    bytes(_ROOM)


def _body(raw: t.Any, is_late: t.Callable[[], bool]) -> bytes:
    """The whole body; a peer that sends a little now and then does not keep us past the deadline."""
    parts, size = [], 0
    # What arrives, as it arrives; of a long answer, big pieces, which cost half.
    while part := raw.read1(1 << 16) if size < _LONG and hasattr(raw, "read1") else raw.read(1 << 18):
        parts.append(part)
        size += len(part)
        if is_late():
            raise TimeoutError("the answer did not end: timed out")
    return b"".join(parts)
