# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Many API servers in one process: `simulated.py FOLDER COUNT`.

Each has its own port, and the objects of a cluster as its installer leaves it. It answers from memory, as in
the unit tests: lists, pages, dry runs; no schemas, no admission. FOLDER/ports gets the ports, one a line. The
process ends with its standard input; FOLDER/requests then has the number of requests of each server.
"""

from __future__ import annotations

import copy
import http.server
import json
import sys
import threading
import typing as t
from pathlib import Path

from unit.fake_server import FakeServer

from ansible_collections.accelerators.openshift.plugins.module_utils._kube import kinds
from openshift_sandbox import scenario
from openshift_sandbox.client import Client
from openshift_sandbox.seed import installer

Object = dict[str, t.Any]

SCENARIO: t.Final = "aws"
_ALL: t.Final = ["*"]
_ALLOWED: t.Final = {
    "allowed": True,
    "resourceRules": [{"verbs": _ALL, "apiGroups": _ALL, "resources": _ALL}],
    "nonResourceRules": [],
    "incomplete": False,
}


class Seeded:
    """Takes the place of the installer's client, and keeps the objects whose kinds the collection knows."""

    def __init__(self, server: FakeServer) -> None:
        self._server = server
        self._known = {(kind.api_version, kind.kind) for kind in server.served.values()}

    def plural(self, _api_version: str, kind: str) -> str:
        """Return anything: only real servers have paths."""
        return kind

    def create(self, obj: Object) -> Object:
        """Keep the object, and return it as a server would."""
        if (obj["apiVersion"], obj["kind"]) in self._known:
            return self._server.put(obj)
        return {**obj, "metadata": {"uid": obj["metadata"]["name"], **obj["metadata"]}}

    def checked(self, _method: str, _path: str, body: Object) -> Object:
        """Keep the object with its status."""
        return self.create(body)


def cluster() -> FakeServer:
    """Return a server with the objects of the scenario."""
    server = FakeServer()
    server.served = {(kind.api_version, kind.plural): kind for kind in kinds.KINDS.values()}
    installer.seed(t.cast(Client, Seeded(server)), scenario.load(SCENARIO))
    return server


def twin(server: FakeServer) -> FakeServer:
    """Return another server with the same objects; dry runs change none of them."""
    other = copy.copy(server)
    other.requests, other.request = [], other.answer
    return other


def serve(server: FakeServer) -> int:
    """Answer requests in threads, and return the port."""
    lock = threading.Lock()

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        # One packet for each answer: a second would wait until the first is acknowledged.
        wbufsize = -1

        def answer(self) -> None:
            size = int(self.headers.get("Content-Length") or 0)
            body = self.rfile.read(size) if size else None
            with lock:
                code, kind, data = _answer(server, self.command, self.path, body, dict(self.headers))
            self.send_response(code)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        do_GET = do_POST = do_PATCH = do_PUT = do_DELETE = answer

        def log_message(self, *_: t.Any) -> None:
            """Print nothing."""

    listener = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=listener.serve_forever, daemon=True).start()
    return int(listener.server_address[1])


def _answer(
    server: FakeServer, method: str, url: str, body: bytes | None, headers: t.Mapping[str, str]
) -> tuple[int, str, bytes]:
    if "/selfsubject" in url:
        server.requests.append((method, url, {}))
        return 201, "application/json", json.dumps({**json.loads(body or b"{}"), "status": _ALLOWED}).encode()
    found = server.answer(method, url, body, headers)
    return found.status, found.headers["Content-Type"], found.read()


def main() -> None:
    folder, first = Path(sys.argv[1]), cluster()
    servers = [first, *(twin(first) for _number in range(int(sys.argv[2]) - 1))]
    (folder / "ports").write_text("".join(f"{serve(one)}\n" for one in servers))
    print("ready", flush=True)
    sys.stdin.read()
    (folder / "requests").write_text(json.dumps([len(one.requests) for one in servers]))


if __name__ == "__main__":
    main()
