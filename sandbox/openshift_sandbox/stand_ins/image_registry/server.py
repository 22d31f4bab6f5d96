# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Stand in for what a company's registry has around its storage: TLS, tokens, limits and losses.

The storage behind it is a real registry, which checks the tokens. The real thing gives each user own rights;
here the one user may do everything, and a request without login nothing.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import json
import re
import ssl
import typing as t
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import urllib3

from openshift_sandbox.catalogue import images
from openshift_sandbox.programs import registry
from openshift_sandbox.sandbox import Sandbox
from openshift_sandbox.scenario import LiveScenario, Scenario
from openshift_sandbox.seed.image_mirrors import mirror_of
from openshift_sandbox.stand_ins.image_registry import tokens

PATH: t.Final = re.compile(r"/v2/(?P<repository>.+)/(?P<kind>manifests|blobs)/(?P<reference>[^/]+)")
TEXTS: t.Final = {
    "UNAUTHORIZED": "authentication required",
    "DENIED": "requested access to the resource is denied",
    "TOOMANYREQUESTS": "too many requests",
    "MANIFEST_UNKNOWN": "manifest unknown",
    "BLOB_UNKNOWN": "blob unknown to registry",
}


class Request(t.NamedTuple):
    """What a request asks for: manifests or blobs of a repository, by tag or digest."""

    repository: str
    kind: str
    reference: str


class Troubles:
    """What the scripted troubles do to requests. held: the images of the registry."""

    def __init__(self, held: t.Iterable[registry.Held]) -> None:
        self._held = list(held)

    def answer(self, asked: Request, scenario: Scenario) -> tuple[int, str] | None:
        """Return status and code of a refusal; None if the registry itself answers."""
        for kind, refusal in (("rate_limited", (429, "TOOMANYREQUESTS")), ("forbidden", (403, "DENIED"))):
            if any(self._names(one, asked, scenario) for one in scenario.troubles_of(kind)):
                return refusal
        if asked.kind == "blobs":
            lost = [one for one in scenario.troubles_of("no_blob") if self._names(one, asked, scenario)]
            is_layer = any(asked.reference == one.image.layer for one in self._held)
            return (404, "BLOB_UNKNOWN") if lost and is_layer else None
        gone = [*scenario.troubles_of("image_missing"), *scenario.troubles_of("registry_image_missing")]
        if any("image" in one and self._names(one, asked, scenario) for one in gone):
            return 404, "MANIFEST_UNKNOWN"
        lacking = self.lacking(asked, scenario)
        is_lost = any(
            one.image.manifests.get(name) == asked.reference for one in self._held for name in lacking
        )
        return (404, "MANIFEST_UNKNOWN") if is_lost else None

    def lacking(self, asked: Request, scenario: Scenario) -> set[str]:
        """Return the architectures that the image lacks."""
        found = scenario.troubles_of("architecture_missing")
        return {str(one.get("architecture", "arm64")) for one in found if self._names(one, asked, scenario)}

    def _names(self, trouble: t.Mapping[str, t.Any], asked: Request, scenario: Scenario) -> bool:
        """Return whether a trouble is for this image: its source's name, or all images without one."""
        if "image" not in trouble:
            return True
        name = str(trouble["image"])
        repository, tag, digest = images.split(name)
        mirror = mirror_of(repository, scenario.cluster.get("image_mirrors") or {})
        if mirror.partition("/")[2] != asked.repository:
            return False
        if asked.kind == "blobs" or (not digest and ":" not in name.rpartition("/")[2]):
            return True
        same = [one for one in self._held if (one.repository, one.image.digest) == (asked.repository, digest)]
        same += [one for one in self._held if tag and (one.repository, one.tag) == (asked.repository, tag)]
        parts = {part for one in same for part in (one.image.digest, *one.image.manifests.values())}
        return asked.reference in {tag, digest, *parts} - {""}


def without(index: bytes, architectures: t.Collection[str]) -> bytes:
    """Return an index without these architectures."""
    content = json.loads(index)
    kept = [one for one in content["manifests"] if one["platform"]["architecture"] not in architectures]
    return json.dumps(content | {"manifests": kept}).encode()


class Server(ThreadingHTTPServer):
    """The server of the registry."""

    daemon_threads = True

    def __init__(self, sandbox: Sandbox) -> None:
        super().__init__(("127.0.0.1", sandbox.port(registry.NAME)), Handler)
        pki = sandbox.run / "pki"
        self.pair = (pki / f"{registry.NAME}.crt", pki / f"{registry.NAME}.key")
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*self.pair)
        # Each connection does its handshake in its own thread: a slow client delays no other.
        self.socket = context.wrap_socket(self.socket, server_side=True, do_handshake_on_connect=False)
        self.store = f"http://127.0.0.1:{sandbox.port(registry.STORE)}"
        self.service = registry.address(sandbox)
        self.login = f"{registry.USER}:{registry.password(sandbox)}"
        self.scenario = LiveScenario(sandbox.directory)
        self.troubles = Troubles(registry.held(self.scenario.now))
        self.pool = urllib3.PoolManager(maxsize=32, retries=urllib3.Retry(3, redirect=False))
        # Indexes without an architecture, which the registry behind this server does not have.
        self.changed: dict[str, bytes] = {}

    def handle_error(self, request: t.Any, client_address: t.Any) -> None:
        """Ignore clients that close the connection."""


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: Server

    def handle_any(self) -> None:
        parts, scenario = urlsplit(self.path), self.server.scenario.now
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        headers = {name: value for name, value in self.headers.items() if name.lower() != "content-length"}
        if parts.path == "/token":
            self._token(parse_qs(parts.query), scenario)
            return
        found = PATH.fullmatch(parts.path)
        asked = Request(**found.groupdict()) if found else None
        if scenario.trouble("token_expired"):
            headers = {name: value for name, value in headers.items() if name.lower() != "authorization"}
        elif asked and "Authorization" in self.headers:
            if refusal := self.server.troubles.answer(asked, scenario):
                self._refuse(*refusal)
                return
            if asked.reference in self.server.changed:
                self._index(self.server.changed[asked.reference])
                return
        answer = self.server.pool.request(
            self.command, self.server.store + self.path, body=body or None, headers=headers, redirect=False
        )
        lacking = self.server.troubles.lacking(asked, scenario) if asked and answer.status == 200 else set()
        is_tag = asked is not None and asked.kind == "manifests" and ":" not in asked.reference
        if lacking and is_tag and answer.headers.get("Content-Type") == images.INDEX:
            whole = self.server.pool.request("GET", self.server.store + self.path, headers=headers)
            self._index(without(whole.data, lacking))
            return
        self._send(answer.status, dict(answer.headers), answer.data)

    do_GET = do_HEAD = do_POST = do_PUT = do_PATCH = do_DELETE = handle_any

    def log_message(self, format: str, *args: t.Any) -> None:
        """Log nothing: no log may have tokens."""

    def _token(self, query: t.Mapping[str, list[str]], scenario: Scenario) -> None:
        scheme, _space, value = self.headers.get("Authorization", "").partition(" ")
        login = base64.b64decode(value).decode() if scheme.lower() == "basic" else ""
        if scenario.trouble("token_expired") or login not in ("", self.server.login):
            self._refuse(401, "UNAUTHORIZED")
            return
        scopes = [one for text in query.get("scope", []) for one in text.split()] if login else []
        claims = {"iss": registry.ISSUER, "aud": self.server.service, "sub": login.partition(":")[0]}
        made = tokens.token(self.server.pair, claims | {"access": tokens.access(scopes)})
        content = {"token": made, "access_token": made, "expires_in": tokens.LIFETIME}
        self._send(200, {"Content-Type": "application/json"}, json.dumps(content).encode())

    def _index(self, body: bytes) -> None:
        digest = f"sha256:{hashlib.sha256(body).hexdigest()}"
        self.server.changed[digest] = body
        self._send(200, {"Content-Type": images.INDEX, "Docker-Content-Digest": digest}, body)

    def _refuse(self, status: int, code: str) -> None:
        more = {"Retry-After": "60"} if status == 429 else {}
        content = {"errors": [{"code": code, "message": TEXTS[code], "detail": None}]}
        self._send(status, {"Content-Type": "application/json", **more}, json.dumps(content).encode())

    def _send(self, status: int, headers: t.Mapping[str, str], body: bytes) -> None:
        self.send_response(status)
        for name, value in headers.items():
            if name.lower() not in ("transfer-encoding", "connection", "content-length", "date"):
                self.send_header(name, value)
        length = headers.get("Content-Length") if self.command == "HEAD" and not body else None
        self.send_header("Content-Length", length or str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)


def main() -> None:
    """Serve the registry until SIGTERM."""
    parser = argparse.ArgumentParser(
        prog="python -m openshift_sandbox.stand_ins.image_registry.server", description=__doc__
    )
    parser.add_argument("--dir", type=Path, required=True, help="directory of the sandbox")
    Server(Sandbox(parser.parse_args().dir)).serve_forever()


if __name__ == "__main__":
    main()
