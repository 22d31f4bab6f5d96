# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Stand in for OpenShift's OAuth server and OAuth API.

The real API server answers the well-known path, and the real OAuth server has another address and CA; here
one server does both. It passes every other request on to the sandbox's API server, so that its address is the
`host` of a cluster with OAuth. Client certificates and upgraded connections (exec, port-forward) do not pass;
use the API server's own address for them.
"""

from __future__ import annotations

import argparse
import base64
import json
import ssl
import typing as t
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, urlencode, urlsplit

import urllib3

from openshift_sandbox.programs import oauth
from openshift_sandbox.sandbox import Sandbox
from openshift_sandbox.stand_ins.oauth.tokens import LIFETIME, Tokens

CLIENT: t.Final = "openshift-challenging-client"
REALM: t.Final = 'Basic realm="openshift"'
RESOURCES: t.Final = ("useroauthaccesstokens", "oauthaccesstokens")
HOP_BY_HOP: t.Final = frozenset(
    (
        "connection",
        "keep-alive",
        "transfer-encoding",
        "te",
        "trailer",
        "upgrade",
        "proxy-authorization",
        "proxy-authenticate",
        "content-length",
    )
)
PIECE: t.Final = 1 << 16

Query = dict[str, str]


class Server(ThreadingHTTPServer):
    """The server. `tokens` is what it remembers; `api` is the API server behind it."""

    daemon_threads = True

    def __init__(self, sandbox: Sandbox, tokens: Tokens) -> None:
        super().__init__(("127.0.0.1", sandbox.port(oauth.NAME)), Handler)
        self.tokens, self.url, self.api = tokens, oauth.url(sandbox), sandbox.url
        pki = sandbox.run / "pki"
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(pki / f"{oauth.NAME}.crt", pki / f"{oauth.NAME}.key")
        # Each connection does its handshake in its own thread: a slow client delays no other.
        self.socket = context.wrap_socket(self.socket, server_side=True, do_handshake_on_connect=False)
        self.pool = urllib3.PoolManager(
            maxsize=32,
            ca_certs=str(pki / "ca.crt"),
            retries=False,
            timeout=urllib3.Timeout(connect=5.0, read=None),
        )

    def handle_error(self, request: t.Any, client_address: t.Any) -> None:
        """Ignore clients that close the connection."""


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: Server

    def handle_any(self) -> None:
        parts = urlsplit(self.path)
        query = {name: values[0] for name, values in parse_qs(parts.query).items()}
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        path = parts.path.rstrip("/")
        if path == "/.well-known/oauth-authorization-server":
            self._answer(200, self._metadata())
        elif path == "/oauth/authorize":
            self._authorize(query)
        elif path == "/oauth/token" and self.command == "POST":
            self._token({name: values[0] for name, values in parse_qs(body.decode()).items()})
        elif path == "/tokenreview":
            self._review(json.loads(body))
        elif path.startswith("/apis/oauth.openshift.io/v1/"):
            self._access_token(path.split("/")[4:])
        else:
            self._pass_on(body)

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = do_HEAD = do_OPTIONS = handle_any

    def log_message(self, format: str, *args: t.Any) -> None:
        """Log nothing: the audit log has the paths of requests, and no log may have codes."""

    def _metadata(self) -> dict[str, t.Any]:
        return {
            "issuer": self.server.url,
            "authorization_endpoint": f"{self.server.url}/oauth/authorize",
            "token_endpoint": f"{self.server.url}/oauth/token",
            "scopes_supported": [
                "user:check-access",
                "user:full",
                "user:info",
                "user:list-projects",
                "user:list-scoped-projects",
            ],
            "response_types_supported": ["code", "token"],
            "grant_types_supported": ["authorization_code", "implicit"],
            "code_challenge_methods_supported": ["plain", "S256"],
        }

    def _authorize(self, query: Query) -> None:
        """Serve the challenging client.

        It sends Basic credentials and a CSRF header, and gets a redirect with a code or a token.
        """
        login, password = _basic(self.headers.get("Authorization", ""))
        if query.get("client_id") != CLIENT:
            self._answer(400, {"error": "unauthorized_client"})
        elif not self.headers.get("X-Csrf-Token"):
            self._answer(
                401,
                {},
                {
                    "Warning": (
                        '199 OpenShift "A non-empty X-CSRF-Token header is required to receive basic-auth '
                        'challenges"'
                    )
                },
            )
        elif not self.server.tokens.is_known(login, password):
            self._answer(401, {}, {"Www-Authenticate": REALM})
        else:
            target, state = (
                f"{self.server.url}/oauth/token/implicit",
                {"state": query["state"]} if "state" in query else {},
            )
            if query.get("response_type") == "token":
                target += "#" + urlencode(_grant(self.server.tokens.issue(login)) | state)
            else:
                target += "?" + urlencode({"code": self.server.tokens.code(login)} | state)
            self._answer(302, {}, {"Location": target})

    def _token(self, form: Query) -> None:
        allowed = (
            _basic(self.headers.get("Authorization", ""))[0] == CLIENT
            and form.get("grant_type") == "authorization_code"
        )
        token = self.server.tokens.redeem(form.get("code", "")) if allowed else None
        if token is None:
            self._answer(
                400,
                {
                    "error": "unauthorized_client",
                    "error_description": "The client is not authorized to request a token using this method.",
                },
            )
        else:
            self._answer(200, _grant(token))

    def _review(self, review: dict[str, t.Any]) -> None:
        user = self.server.tokens.user(str(review.get("spec", {}).get("token", "")))
        status = {"authenticated": True, "user": user} if user else {"authenticated": False}
        self._answer(200, {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenReview", "status": status})

    def _access_token(self, path: list[str]) -> None:
        """Serve a user's own tokens.

        The real API has more verbs, and gives administrators access to those of others.
        """
        resource, name = path[0], path[1] if len(path) == 2 else ""
        caller = self.server.tokens.user(self.headers.get("Authorization", "").removeprefix("Bearer "))
        if caller is None:
            self._status(401, "Unauthorized", "Unauthorized")
        elif self.command == "GET" and resource in RESOURCES and not name:
            items = [
                {"metadata": {"name": one}, "userName": caller["username"]}
                for one in self.server.tokens.of(caller["uid"])
            ]
            self._answer(
                200,
                {
                    "apiVersion": "oauth.openshift.io/v1",
                    "kind": "UserOAuthAccessTokenList",
                    "metadata": {},
                    "items": items,
                },
            )
        elif self.command != "DELETE" or resource not in RESOURCES or not name:
            self._status(
                405, "MethodNotAllowed", "the server does not allow this method on the requested resource"
            )
        elif not self.server.tokens.revoke(name):
            self._status(404, "NotFound", f'{resource}.oauth.openshift.io "{name}" not found')
        else:
            self._answer(
                200,
                {
                    "apiVersion": "v1",
                    "kind": "Status",
                    "status": "Success",
                    "details": {"name": name, "kind": resource},
                },
            )

    def _pass_on(self, body: bytes) -> None:
        """Pass a request on and its answer back, piece by piece: a watch stays a watch."""
        headers = {
            name: value for name, value in self.headers.items() if name.lower() not in HOP_BY_HOP | {"host"}
        }
        try:
            answer = self.server.pool.request(
                self.command,
                self.server.api + self.path,
                body=body or None,
                headers=headers,
                preload_content=False,
                decode_content=False,
                redirect=False,
            )
        except urllib3.exceptions.HTTPError as error:
            self._status(503, "ServiceUnavailable", f"the API server does not answer: {type(error).__name__}")
            return
        self.send_response(answer.status)
        for name, value in answer.headers.items():
            if name.lower() not in HOP_BY_HOP:
                self.send_header(name, value)
        bare = self.command == "HEAD" or answer.status in (204, 304)
        if not bare:
            self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        try:
            while piece := answer.read1(PIECE, decode_content=False):
                self.wfile.write(b"%x\r\n%b\r\n" % (len(piece), piece))
            self.wfile.write(b"" if bare else b"0\r\n\r\n")
        except (urllib3.exceptions.HTTPError, OSError):
            self.close_connection = True  # one side closed the connection, so close the other
        finally:
            answer.close() if self.close_connection else answer.release_conn()

    def _status(self, code: int, reason: str, message: str) -> None:
        self._answer(
            code,
            {
                "apiVersion": "v1",
                "kind": "Status",
                "status": "Failure",
                "code": code,
                "reason": reason,
                "message": message,
            },
        )

    def _answer(
        self, status: int, body: dict[str, t.Any], headers: t.Mapping[str, str] | None = None
    ) -> None:
        data = json.dumps(body).encode()
        self.send_response(status)
        for name, value in {
            "Content-Type": "application/json",
            "Content-Length": str(len(data)),
            "Cache-Control": "no-store",
            **(headers or {}),
        }.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)


def _grant(token: str) -> dict[str, t.Any]:
    return {"access_token": token, "expires_in": LIFETIME, "scope": "user:full", "token_type": "Bearer"}


def _basic(header: str) -> tuple[str, str]:
    try:
        login, _colon, password = base64.b64decode(header.removeprefix("Basic ")).decode().partition(":")
    except ValueError:
        return "", ""
    return login, password


def main() -> None:
    """Serve until SIGTERM."""
    parser = argparse.ArgumentParser(
        prog="python -m openshift_sandbox.stand_ins.oauth.server", description=__doc__
    )
    parser.add_argument("--dir", type=Path, required=True, help="directory of the sandbox")
    sandbox = Sandbox(parser.parse_args().dir)
    Server(sandbox, Tokens(oauth.users(sandbox))).serve_forever()


if __name__ == "__main__":
    main()
