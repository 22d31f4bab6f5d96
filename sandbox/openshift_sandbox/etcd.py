# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Read what etcd holds, and replace it, through etcd's JSON gateway.

A running API server notices each change, as if another API server had written it. So each change needs a
revision of its own, as an API server gives it: a watch that ends goes on after the last revision that it has
seen, and would miss the other changes of that revision.
"""

from __future__ import annotations

import base64
import json
import typing as t
from concurrent.futures import ThreadPoolExecutor

import urllib3

Content = dict[bytes, bytes]
Operation = dict[str, t.Any]

PREFIX: t.Final = b"/registry/"
PAGE: t.Final = 500
THREADS: t.Final = 4
# These go first: a webhook or a policy without its server would refuse what comes next.
FIRST: t.Final = b"/registry/admissionregistration.k8s.io/"


class EtcdError(Exception):
    """etcd does not answer, or refuses a request."""


class Etcd:
    """The etcd of a sandbox, by the port of its clients."""

    def __init__(self, port: int) -> None:
        self._url = f"http://127.0.0.1:{port}/v3/kv"
        timeout = urllib3.Timeout(connect=3.0, read=30.0)
        self._pool = urllib3.PoolManager(maxsize=THREADS, retries=False, timeout=timeout)

    def read(self) -> Content:
        """Return all keys of the API server with their values. Raises EtcdError."""
        found: Content = {}
        start, end = PREFIX, PREFIX[:-1] + bytes([PREFIX[-1] + 1])
        while True:
            answer = self._post("range", {"key": _text(start), "range_end": _text(end), "limit": PAGE})
            pairs = [(_bytes(one["key"]), _bytes(one.get("value", ""))) for one in answer.get("kvs", [])]
            found |= dict(pairs)
            if not answer.get("more"):
                return found
            start = pairs[-1][0] + b"\0"

    def replace(self, wanted: Content) -> None:
        """Write and delete keys until etcd holds what is wanted and nothing else. Raises EtcdError."""
        now = self.read()
        gone = sorted(now.keys() - wanted.keys(), key=lambda key: (not key.startswith(FIRST), key))
        new = [(key, value) for key, value in wanted.items() if now.get(key) != value]
        with ThreadPoolExecutor(THREADS) as threads:
            list(threads.map(lambda key: self._post("deleterange", {"key": _text(key)}), gone))
            list(threads.map(lambda one: self._post("put", _pair(*one)), new))

    def _post(self, what: str, body: Operation) -> Operation:
        try:
            answer = self._pool.request("POST", f"{self._url}/{what}", body=json.dumps(body).encode())
        except urllib3.exceptions.HTTPError as error:
            raise EtcdError(f"etcd does not answer: {error}") from error
        if answer.status != 200:
            raise EtcdError(f"etcd refuses {what}: {answer.data.decode(errors='replace')}")
        found: Operation = json.loads(answer.data)
        return found


def _pair(key: bytes, value: bytes) -> Operation:
    return {"key": _text(key), "value": _text(value)}


def _text(value: bytes) -> str:
    return base64.b64encode(value).decode()


def _bytes(value: str) -> bytes:
    return base64.b64decode(value)
