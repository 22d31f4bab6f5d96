# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A proxy between an Api and the sandbox's real API server, with TLS on both sides.

A script decides what the proxy does to each request. The User-Agent selects the script, so many tests share
one proxy. The proxy passes credentials on in headers.
"""

from __future__ import annotations

import http.client
import json
import select
import socket
import ssl
import struct
import threading
import time
import typing as t
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, urlencode, urlsplit

from openshift_sandbox.pki import Authority

# The longest time in seconds that a silent connection stays open; a client that hangs up ends it at once.
SILENCE: t.Final = 60.0
# The API server ends a watch after this time, so that the watch of a client that is gone does not stay.
WATCH_SECONDS: t.Final = 45
_RESET_ON_CLOSE: t.Final = struct.pack("ii", 1, 0)
_NOT_PASSED_ON: t.Final = {"transfer-encoding", "content-length", "connection"}


@dataclass(frozen=True)
class Call:
    """A request as the proxy received it.

    verb: get, list, page, watch, create, apply, dry-run, patch or delete. at: monotonic seconds.
    fault: what the proxy did to the request.
    """

    agent: str
    verb: str
    path: str
    at: float
    fault: str = ""


@dataclass(frozen=True)
class Answer:
    status: int
    headers: list[tuple[str, str]]
    body: bytes


class Fault(t.Protocol):
    __name__: str

    def __call__(self, exchange: Exchange) -> None: ...


class Script(t.Protocol):
    """A rule that gives each call a fault, or None to pass the call on.

    watches: how many watches a client opens before the awaited change may happen.
    """

    @property
    def watches(self) -> int: ...

    def __call__(self, call: Call, /) -> Fault | None: ...


class Proxy:
    """The running proxy.

    url, authority: what a client needs to connect. page: the size in objects of a list's pages.
    """

    def __init__(self, upstream: str, upstream_authority: Path, folder: Path, page: int = 500) -> None:
        address = urlsplit(upstream)
        self.host, self.port = str(address.hostname), int(address.port or 443)
        self.trust = ssl.create_default_context(cafile=str(upstream_authority))
        self.page = page
        authority = Authority(folder)
        certificate, key = authority.server("proxy")
        self.authority = authority.certificate
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.load_cert_chain(certificate, key)
        self.scripts: dict[str, Script] = {}
        self._by_agent: dict[str, list[Call]] = {}
        self._news = threading.Condition()
        self._server = _Server(("127.0.0.1", 0), Exchange, bind_and_activate=True)
        self._server.proxy = self
        self.url = f"https://127.0.0.1:{self._server.server_address[1]}"
        threading.Thread(target=self._server.serve_forever, name="fault-proxy", daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def calls(self, agent: str) -> list[Call]:
        with self._news:
            return list(self._by_agent.get(agent, ()))

    def note(self, call: Call) -> None:
        with self._news:
            self._by_agent.setdefault(call.agent, []).append(call)
            self._news.notify_all()

    def wait_for(self, agent: str, verb: str, times: int = 1, seconds: float = 30.0) -> bool:
        """Wait until a client has sent `times` requests of a verb; return False if `seconds` pass first."""
        with self._news:
            return self._news.wait_for(
                lambda: sum(call.verb == verb for call in self._by_agent.get(agent, ())) >= times, seconds
            )


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128
    proxy: Proxy

    def get_request(self) -> tuple[t.Any, t.Any]:
        raw, address = self.socket.accept()
        # The thread of the connection does the handshake, so that a slow client does not block accept().
        return self.proxy.context.wrap_socket(raw, server_side=True, do_handshake_on_connect=False), address

    def handle_error(self, request: t.Any, client_address: t.Any) -> None:
        """Print nothing: connections break here on purpose."""


class Exchange(BaseHTTPRequestHandler):
    """A request in progress, with the actions that a fault may take on it."""

    protocol_version = "HTTP/1.1"
    server: _Server

    def setup(self) -> None:
        super().setup()
        self.connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._upstream: http.client.HTTPSConnection | None = None

    def finish(self) -> None:
        if self._upstream is not None:
            self._upstream.close()
        self.rfile.close()

    def log_message(self, format: str, *args: t.Any) -> None:
        return

    def serve(self) -> None:
        self.body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        parts = urlsplit(self.path)
        query = {key: values[0] for key, values in parse_qs(parts.query, keep_blank_values=True).items()}
        kind = verb(self.command, query, self.headers.get("Content-Type", ""))
        call = Call(self.headers.get("User-Agent", ""), kind, parts.path, time.monotonic())
        if "limit" in query:
            query["limit"] = str(self.server.proxy.page)
        if "watch" in query:
            query["timeoutSeconds"] = str(WATCH_SECONDS)
        self.target = parts.path + (f"?{urlencode(query)}" if query else "")
        self.is_watch = "watch" in query
        script = self.server.proxy.scripts.get(call.agent)
        fault = script(call) if script else None
        self.server.proxy.note(
            Call(call.agent, call.verb, call.path, call.at, fault.__name__ if fault else "")
        )
        (fault or Exchange.passed)(self)

    do_GET = do_POST = do_PATCH = do_PUT = do_DELETE = serve

    def passed(self) -> None:
        if self.is_watch:
            self.watched()
        else:
            self.reply(self.forward())

    def forward(self) -> Answer:
        """Return the real server's whole answer; raise OSError or HTTPException if the connection fails."""
        if self._upstream is None:
            self._upstream = http.client.HTTPSConnection(
                self.server.proxy.host, self.server.proxy.port, timeout=60, context=self.server.proxy.trust
            )
        try:
            self._upstream.request(
                self.command, self.target, body=self.body or None, headers=self._passed_on()
            )
            response = self._upstream.getresponse()
            return Answer(response.status, response.getheaders(), response.read())
        except (OSError, http.client.HTTPException):
            self._upstream.close()
            raise

    def watched(self, copies: int = 1, pieces: int = 1) -> None:
        """Pass the events of a watch on, line by line.

        copies: how often each event is sent. pieces: in how many parts each event is sent.
        """
        upstream = http.client.HTTPSConnection(
            self.server.proxy.host,
            self.server.proxy.port,
            timeout=WATCH_SECONDS + 15,
            context=self.server.proxy.trust,
        )
        try:
            upstream.request("GET", self.target, headers=self._passed_on())
            response = upstream.getresponse()
            if response.status != 200:
                self.reply(Answer(response.status, response.getheaders(), response.read()))
                return
            self.begin(200, [("Transfer-Encoding", "chunked")])
            for line in response:
                size = max(1, -(-len(line) // pieces))
                for start in range(0, len(line), size) if pieces > 1 else (0,):
                    piece = line[start : start + size] if pieces > 1 else line * copies
                    self.send(b"%x\r\n%s\r\n" % (len(piece), piece))
            self.send(b"0\r\n\r\n")
        finally:
            upstream.close()

    def _passed_on(self) -> dict[str, str]:
        return {
            name: value
            for name, value in self.headers.items()
            if name.lower() not in ("host", "content-length", "accept-encoding", "connection")
        }

    def reply(self, answer: Answer) -> None:
        self.begin(answer.status, [*answer.headers, ("Content-Length", str(len(answer.body)))])
        self.send(answer.body)

    def say(self, status: int, reason: str, message: str, *headers: tuple[str, str]) -> None:
        """Answer with a Status object as the API server does."""
        body = {
            "kind": "Status",
            "apiVersion": "v1",
            "status": "Failure",
            "code": status,
            "reason": reason,
            "message": message,
        }
        self.reply(
            Answer(status, [("Content-Type", "application/json"), *headers], json.dumps(body).encode())
        )

    def begin(self, status: int, headers: t.Iterable[tuple[str, str]]) -> None:
        """Send the status line and the headers; add no length that `headers` does not hold."""
        self.send_response_only(status)
        kept: dict[str, tuple[str, str]] = {}
        for name, value in headers:
            # A later header replaces what the real server said about the length of the body.
            kept[name.lower() if name.lower() in _NOT_PASSED_ON else f"{name.lower()} {value}"] = (
                name,
                value,
            )
        if "content-length" in kept:
            kept.pop("transfer-encoding", None)
        for name, value in kept.values():
            self.send_header(name, value)
        self.end_headers()

    def send(self, data: bytes) -> None:
        self.wfile.write(data)
        self.wfile.flush()

    def hold(self, seconds: float = SILENCE) -> None:
        """Send nothing until the client hangs up or `seconds` have passed."""
        select.select([self.connection], [], [], seconds)
        self.hang_up()

    def hang_up(self) -> None:
        """Close the connection in an orderly way, at any point of the answer."""
        self.close_connection = True
        self.connection.shutdown(socket.SHUT_RDWR)

    def reset(self) -> None:
        self.close_connection = True
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET_ON_CLOSE)
        # The socket is closed only after its file objects are closed.
        self.rfile.close()
        self.connection.close()


def verb(method: str, query: t.Mapping[str, str], content_type: str) -> str:
    """Return the verb of a request as `Call` names it."""
    if method == "GET":
        if "watch" in query:
            return "watch"
        return "page" if "continue" in query else "list" if "limit" in query else "get"
    if "dryRun" in query:
        return "dry-run"
    if method == "PATCH":
        return "apply" if "apply-patch" in content_type else "patch"
    return {"POST": "create", "DELETE": "delete", "PUT": "update"}[method]
