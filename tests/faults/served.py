# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The unit tests' in-memory API server behind a real socket, and an HTTP proxy that tunnels.

The server stands in for what is between a client and kube-apiserver: TLS, IPv6, path prefixes, and answers
that are compressed, huge or slow. Unlike it, the real server also speaks HTTP/2, compresses only answers
over 128 KiB, ends watches by time and stores its objects. The proxy stands in for a company's proxy: it
supports CONNECT only.
"""

from __future__ import annotations

import base64
import contextlib
import gzip
import socket
import ssl
import threading
import typing as t
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from unit.fake_server import Answer, FakeServer

from openshift_sandbox.pki import Authority

# What a test does instead of the usual answer; it may call `answer` and `reply` of the exchange.
Act = t.Callable[["Exchange"], None]


@dataclass(frozen=True)
class Seen:
    """A request as the server received it. peer: the client's port, which identifies its connection."""

    peer: int
    method: str
    path: str
    headers: dict[str, str]


@dataclass
class Served:
    """An in-memory API server behind a socket.

    url: the server's address without a trailing slash. state: the objects. seen: every request.
    act: handles each request in place of the usual answer. compressed: send long answers as gzip to clients
    that accept it.
    """

    address: str = "127.0.0.1"
    port: int = 0
    prefix: str = ""
    certificate: tuple[Path, Path] | None = None
    state: FakeServer = field(default_factory=FakeServer)
    seen: list[Seen] = field(default_factory=list)
    act: Act | None = None
    compressed: bool = True

    def __post_init__(self) -> None:
        self._server = _Server(self)
        self.port = self._server.server_address[1]
        host = f"[{self.address}]" if ":" in self.address else self.address
        self.url = f"{'https' if self.certificate else 'http'}://{host}:{self.port}{self.prefix}"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)
        self._thread.start()

    def __enter__(self) -> Served:
        return self

    def __exit__(self, *_exc: object) -> None:
        self.close()

    def close(self) -> None:
        """Stop the server and close its open connections."""
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()
        for one in list(self._server.open):
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def __init__(self, served: Served) -> None:
        self.served, self.lock, self.open = served, threading.Lock(), set[t.Any]()
        self.address_family = socket.AF_INET6 if ":" in served.address else socket.AF_INET
        self.context: ssl.SSLContext | None = None
        if served.certificate:
            self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            self.context.load_cert_chain(*served.certificate)
        super().__init__((served.address, served.port), Exchange)

    def get_request(self) -> tuple[t.Any, t.Any]:
        raw, address = self.socket.accept()
        wrapped = (
            self.context.wrap_socket(raw, server_side=True, do_handshake_on_connect=False)
            if self.context
            else raw
        )
        self.open.add(wrapped)
        return wrapped, address

    def shutdown_request(self, request: t.Any) -> None:
        self.open.discard(request)
        super().shutdown_request(request)

    def handle_error(self, request: t.Any, client_address: t.Any) -> None:
        """Print nothing: a client that hangs up is no error."""


class Exchange(BaseHTTPRequestHandler):
    """A request in progress."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: _Server

    def log_message(self, format: str, *args: t.Any) -> None:
        return

    def serve(self) -> None:
        served = self.server.served
        self.body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        seen = Seen(
            self.client_address[1],
            self.command,
            self.path,
            {name.lower(): value for name, value in self.headers.items()},
        )
        with self.server.lock:
            served.seen.append(seen)
        if not self.path.startswith(served.prefix + "/"):
            self.reply(404, b"no cluster is behind this path\n", ("Content-Type", "text/plain"))
        elif served.act is not None:
            served.act(self)
        else:
            self.answer()

    do_GET = do_POST = do_PATCH = do_PUT = do_DELETE = serve

    def state(self) -> Answer:
        """Return the in-memory server's answer to this request."""
        served = self.server.served
        with self.server.lock:
            return served.state.request(
                self.command,
                self.path.removeprefix(served.prefix),
                self.body or None,
                headers=dict(self.headers.items()),
            )

    def answer(self) -> None:
        """Send the in-memory server's answer, as gzip if it is long and the client accepts that."""
        answer = self.state()
        data, headers = answer.read(), list(answer.headers.items())
        if (
            self.server.served.compressed
            and len(data) > 128 << 10
            and "gzip" in self.headers.get("Accept-Encoding", "")
        ):
            data = gzip.compress(data, 1)
            headers.append(("Content-Encoding", "gzip"))
        self.reply(answer.status, data, *headers)

    def reply(self, status: int, data: bytes, *headers: tuple[str, str]) -> None:
        self.begin(status, ("Content-Length", str(len(data))), *headers)
        self.wfile.write(data)

    def begin(self, status: int, *headers: tuple[str, str]) -> None:
        self.send_response_only(status)
        for name, value in headers:
            self.send_header(name, value)
        self.end_headers()


class Tunnel(threading.Thread):
    """An HTTP proxy that supports CONNECT only.

    url: the proxy's address. asked: the host of each CONNECT, with the credentials that the client sent.
    allowed: the `user:password` that the proxy requires; empty if it requires none.
    """

    def __init__(self, allowed: str = "") -> None:
        super().__init__(daemon=True)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._wanted = f"Basic {base64.b64encode(allowed.encode()).decode()}" if allowed else ""
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        self.asked: list[str] = []
        self.start()

    def close(self) -> None:
        self._listener.close()

    def run(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _address = self._listener.accept()
                threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        head = b""
        while b"\r\n\r\n" not in head:
            head += client.recv(4096)
        lines = head.decode().split("\r\n")
        given = dict(line.lower().split(": ", 1) for line in lines[1:] if ": " in line)
        method, target = lines[0].split()[:2]
        self.asked.append(f"{method} {target}")
        if self._wanted and given.get("proxy-authorization") != self._wanted.lower():
            client.sendall(b"HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n")
            client.close()
            return
        host, _colon, port = target.rpartition(":")
        with socket.create_connection((host.strip("[]"), int(port))) as upstream:
            client.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
            back = threading.Thread(target=_pass_on, args=(upstream, client), daemon=True)
            back.start()
            _pass_on(client, upstream)
            back.join()


def _pass_on(source: socket.socket, target: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while data := source.recv(1 << 16):
            target.sendall(data)
        target.shutdown(socket.SHUT_WR)


def authority(folder: Path) -> tuple[Path, tuple[Path, Path]]:
    """Create an authority and a server certificate; return the authority's file and the server's two."""
    made = Authority(folder)
    return made.certificate, made.server("api")
