# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""An answer's end in time: a socket's timeout is for the next byte, so a peer that drips, in headers or body, would be listened to for ever."""

from __future__ import annotations

import functools
import http.client
import io
import math
import threading
import time
import typing as t


class _Patience(threading.local):
    """Until when the answer to this thread's request must have ended, in monotonic seconds."""

    until = math.inf


_PATIENCE: t.Final = _Patience()


def limit(seconds: float | None) -> None:
    """For the answer to the next request of this thread, to its last byte; None: none."""
    _PATIENCE.until = math.inf if seconds is None else time.monotonic() + seconds


class _Answer(http.client.HTTPResponse):
    def __init__(self, sock: t.Any, *args: t.Any, **more: t.Any) -> None:
        super().__init__(sock, *args, **more)
        self.fp = io.BufferedReader(_Bounded(t.cast(t.Any, self.fp).detach(), sock))


class _Bounded(io.RawIOBase):
    def __init__(self, raw: io.RawIOBase, sock: t.Any) -> None:
        self._raw, self._sock, self._read, self._until = raw, sock, sock.gettimeout(), _PATIENCE.until

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: t.Any) -> int | None:
        if self._until < math.inf:
            left = self._until - time.monotonic()
            if left <= 0:
                raise TimeoutError("timed out")
            self._sock.settimeout(min(self._read or left, left))
        return self._raw.readinto(buffer)

    def close(self) -> None:
        self._raw.close()
        super().close()


@functools.cache
def bounded(pool: t.Any) -> t.Any:
    """A urllib3 pool class whose answers end in time."""
    connection = type("Connection", (pool.ConnectionCls,), {"response_class": _Answer})
    return type("Pool", (pool,), {"ConnectionCls": connection})
