# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Stand in for OpenShift's own build of nfd-master up to 4.18, with the API group nfd.openshift.io.

It lets upstream's nfd-master read that group under upstream's name. The real build knows only the older name.
"""

from __future__ import annotations

import http.client
import secrets
import ssl
import threading
import typing as t
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urlsplit

import yaml

from openshift_sandbox.client import connection

OURS: t.Final = b"nfd.openshift.io"
THEIRS: t.Final = b"nfd.k8s-sigs.io"
_HOP_BY_HOP: t.Final = {"authorization", "connection", "content-length", "host", "transfer-encoding"}


class Renaming(ThreadingHTTPServer):
    """A proxy to the API server that renames the group in both directions, for whoever has its kubeconfig."""

    daemon_threads = True

    def __init__(self, port: int, kubeconfig: Path) -> None:
        super().__init__(("127.0.0.1", port), _Handler)
        server, self.context, _token = connection(kubeconfig)
        self.api = urlsplit(server)
        # The secret is in the path, since clients send no credentials without TLS.
        self.key = f"/{secrets.token_urlsafe(32)}"

    def start(self) -> None:
        """Start the proxy."""
        threading.Thread(target=self.serve_forever, name="nfd.openshift.io", daemon=True).start()

    def write_kubeconfig(self, path: Path) -> Path:
        """Write a kubeconfig for the proxy; return its path."""
        config = {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [
                {"name": "renaming", "cluster": {"server": f"http://127.0.0.1:{self.server_port}{self.key}"}}
            ],
            "users": [{"name": "nfd-master", "user": {}}],
            "contexts": [{"name": "renaming", "context": {"cluster": "renaming", "user": "nfd-master"}}],
            "current-context": "renaming",
        }
        path.touch(mode=0o600)
        path.write_text(yaml.safe_dump(config))
        return path


class _Handler(BaseHTTPRequestHandler):
    server: Renaming

    def do_GET(self) -> None:
        if not self.path.startswith(f"{self.server.key}/"):
            self.send_error(403)
            return
        path = self.path.removeprefix(self.server.key)
        is_renamed = path.startswith(f"/apis/{THEIRS.decode()}/")
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        headers = {name: value for name, value in self.headers.items() if name.lower() not in _HOP_BY_HOP} | {
            "Accept-Encoding": "identity"
        }
        if is_renamed:
            headers["Accept"] = headers.get("Accept", "").replace(
                "application/vnd.kubernetes.protobuf", "application/json"
            )
            body = body.replace(THEIRS, OURS)
        api = http.client.HTTPSConnection(
            str(self.server.api.hostname), self.server.api.port, context=self.server.context
        )
        try:
            api.request(self.command, path.replace(THEIRS.decode(), OURS.decode()), body or None, headers)
            self._answer(api.getresponse(), is_renamed)
        except (OSError, http.client.HTTPException, ssl.SSLError):
            self.close_connection = True  # one side closed the connection, so close the other
        finally:
            api.close()

    do_POST = do_PUT = do_PATCH = do_DELETE = do_GET

    def _answer(self, answer: http.client.HTTPResponse, is_renamed: bool) -> None:
        """Copy the answer until the connection ends, so that a watch stays a watch; an event is one line."""
        self.send_response(answer.status)
        for name, value in answer.getheaders():
            if name.lower() not in _HOP_BY_HOP:
                self.send_header(name, value)
        self.end_headers()
        while piece := answer.readline() if is_renamed else answer.read1(65536):
            self.wfile.write(piece.replace(OURS, THEIRS) if is_renamed else piece)
            self.wfile.flush()

    def log_message(self, *_args: t.Any) -> None:
        """Log nothing: the audit log has every request."""
