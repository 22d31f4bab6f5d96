# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Stands in for AWX's REST API on 127.0.0.1: `PYTHONPATH=tests python -m awx_api.server --folder F`.

It writes its address to F/address, and a line of JSON for each request to F/requests. It ends when F/address
is removed.
"""

from __future__ import annotations

import argparse
import http.server
import json
import threading
import typing as t
import urllib.parse
from pathlib import Path

from awx_api.checks import RefusalError
from awx_api.fields import ENDPOINTS
from awx_api.store import API, Store

Data = dict[str, t.Any]

VERSION: t.Final = "24.6.1"
ROOT: t.Final = Path(__file__).resolve().parents[2]
TOKEN: t.Final = "the-token-of-a-test"
_WRITES: t.Final = ("POST", "PATCH", "DELETE")


class Awx:
    """A running stand-in. requests: method, path and status of each request, in their order."""

    def __init__(self, folder: Path) -> None:
        """folder: gets the files `address` and `requests`."""
        playbooks = sorted((ROOT / "playbooks").glob("*.yml"))
        self.store = Store(path.relative_to(ROOT).as_posix() for path in playbooks)
        self.requests: list[tuple[str, str, int]] = []
        self._log, self._place = folder / "requests", folder / "address"
        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self.address = f"http://127.0.0.1:{self._server.server_address[1]}"
        self._log.touch()
        self._place.write_text(self.address)

    @property
    def writes(self) -> list[tuple[str, str, int]]:
        """Return the requests that change something."""
        return [one for one in self.requests if one[0] in _WRITES]

    def note(self, method: str, path: str, status: int) -> None:
        """Keep a request."""
        self.requests.append((method, path, status))
        with self._log.open("a") as log:
            log.write(json.dumps([method, path, status]) + "\n")

    def serve(self) -> None:
        """Answer requests until the file `address` is removed."""
        self._server.timeout = 0.5
        while self._place.exists():
            self._server.handle_request()

    def start(self) -> Awx:
        """Answer requests in a thread of this process, until `stop`."""
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def stop(self) -> None:
        """Answer no more."""
        self._server.shutdown()
        self._server.server_close()

    def answer(self, method: str, url: str, body: Data) -> tuple[int, Data | None]:
        """Return the status and the body of an answer."""
        parts = urllib.parse.urlsplit(url)
        collection, *rest = parts.path.removeprefix(API).strip("/").split("/")
        if collection == "project_updates":
            return 200, {"status": "successful", "finished": "now", "failed": False, "scm_revision": "1"}
        if collection not in ENDPOINTS and collection != "unified_job_templates":
            return 404, {"detail": "Not found."}
        if not rest:
            return self._collection(method, collection, dict(urllib.parse.parse_qsl(parts.query)), body)
        number = int(rest[0])
        if not self.store.has(collection, number):
            return 404, {"detail": "Not found."}
        if len(rest) == 1:
            return self._one(method, collection, number, body)
        return self._below(method, collection, number, rest[1], body)

    def _collection(self, method: str, name: str, query: Data, body: Data) -> tuple[int, Data | None]:
        if method == "GET":
            found = self.store.find(name, query)
            return 200, {"count": len(found), "next": None, "previous": None, "results": found}
        return (201, self.store.create(name, body)) if method == "POST" else (405, {"detail": method})

    def _one(self, method: str, name: str, number: int, body: Data) -> tuple[int, Data | None]:
        if method == "GET":
            return 200, self.store.show(name, number)
        return (
            (200, self.store.change(name, number, body)) if method == "PATCH" else (405, {"detail": method})
        )

    def _below(self, method: str, name: str, number: int, what: str, body: Data) -> tuple[int, Data | None]:
        if what == "survey_spec":
            if method == "GET":
                return 200, self.store.survey(number)
            self.store.set_survey(number, body if method == "POST" else {})
            return 200, {}
        if what == "create_approval_template" and method == "POST":
            return 201, self.store.approval(number, body)
        if what == "launch" and method == "POST":
            return 201, self.store.launch(name, number, body)
        if what not in ENDPOINTS[name].lists:
            return 404, {"detail": "Not found."}
        if method == "POST":
            self.store.associate(name, number, what, body)
            return 204, None
        ids = self.store.listed(name, number, what)
        other = ENDPOINTS[name].lists[what]
        found = [self.store.show(other, one) for one in ids]
        return 200, {"count": len(found), "next": None, "previous": None, "results": found}


def _handler(awx: Awx) -> type[http.server.BaseHTTPRequestHandler]:
    lock = threading.Lock()

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _serve(self) -> None:
            size = int(self.headers.get("Content-Length") or 0)
            body = json.loads(self.rfile.read(size) or b"{}") if size else {}
            with lock:
                status, answer = self._answer(body)
                awx.note(self.command, self.path, status)
            text = b"" if answer is None else json.dumps(answer).encode()
            self.send_response(status)
            self.send_header("X-API-Product-Name", "AWX")
            self.send_header("X-API-Product-Version", VERSION)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        def _answer(self, body: Data) -> tuple[int, Data | None]:
            if self.headers.get("Authorization") != f"Bearer {TOKEN}":
                return 401, {"detail": "Authentication credentials were not provided."}
            try:
                return awx.answer(self.command, self.path, body)
            except RefusalError as exc:
                return 400, exc.body

        do_GET = do_POST = do_PATCH = do_DELETE = _serve

        def log_message(self, *_: t.Any) -> None:
            """Print nothing."""

    return Handler


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, required=True)
    Awx(parser.parse_args().folder).serve()
