# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Kubeconfigs whose tokens an OIDC issuer renews: a stand-in for the issuer, and the new tokens."""

from __future__ import annotations

import base64
import json
import ssl
import threading
import time
import typing as t
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs

import pytest
import yaml
from integration.patience import at_best

from ansible_collections.accelerators.openshift.plugins.module_utils._core import secrets
from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import CredentialsError
from ansible_collections.accelerators.openshift.plugins.module_utils._frame import module
from ansible_collections.accelerators.openshift.plugins.module_utils._kube import (
    credentials,
    credentials_kubeconfig,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.kinds import known
from openshift_sandbox.pki import Authority


def jwt(seconds: float, name: str = "") -> str:
    claims = (
        base64.urlsafe_b64encode(json.dumps({"exp": time.time() + seconds, "sub": name}).encode())
        .decode()
        .rstrip("=")
    )
    return f"aGVhZA.{claims}.c2ln"


class Issuer(ThreadingHTTPServer):
    """A stand-in for an OIDC issuer.

    It renews the same refresh token any number of times; a real issuer signs its tokens and drops the old
    refresh token.
    """

    def __init__(self, folder: Path) -> None:
        authority = Authority(folder)
        certificate, key = authority.server("issuer")
        super().__init__(("127.0.0.1", 0), _Handler)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
        self.socket = context.wrap_socket(self.socket, server_side=True, do_handshake_on_connect=False)
        self.authority, self.url = authority.certificate, f"https://127.0.0.1:{self.server_port}"
        self.renewed = jwt(3600, "renewed")
        self.is_rotating, self.is_silent, self.refuses = True, False, False
        self.asked: list[tuple[str, dict[str, list[str]]]] = []
        self.ended = threading.Event()

    def handle_error(self, request: t.Any, client_address: t.Any) -> None:
        """Print nothing: a client that does not trust the certificate hangs up."""


class _Handler(BaseHTTPRequestHandler):
    server: Issuer

    def do_GET(self) -> None:
        if self.server.is_silent:
            self.server.ended.wait(20)
        self._answer(200, {"token_endpoint": f"{self.server.url}/token"})

    def do_POST(self) -> None:
        form = parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode())
        self.server.asked.append((self.headers.get("Authorization", ""), form))
        if self.server.refuses or form["refresh_token"] != ["refresh-one"]:
            self._answer(400, {"error": "invalid_grant", "error_description": "the session is over"})
            return
        rotated = {"refresh_token": "refresh-two"} if self.server.is_rotating else {}
        self._answer(
            200,
            {"access_token": "access", "token_type": "Bearer", "id_token": self.server.renewed, **rotated},
        )

    def _answer(self, status: int, body: dict[str, t.Any]) -> None:
        content = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: t.Any) -> None:
        """Print nothing: requests do not belong in the tests' output."""


@pytest.fixture
def issuer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> t.Iterator[Issuer]:
    monkeypatch.setattr(secrets, "_seen", set())
    server = Issuer(tmp_path / "pki")
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield server
    server.ended.set()
    server.shutdown()
    thread.join()
    server.server_close()


def kubeconfig(issuer: Issuer, id_token: str, **provider: str) -> dict[str, t.Any]:
    settings = {
        "client-id": "me",
        "id-token": id_token,
        "refresh-token": "refresh-one",
        "idp-issuer-url": issuer.url,
        **provider,
    }
    return {
        "clusters": [{"name": "c", "cluster": {"server": "https://a"}}],
        "users": [{"name": "u", "user": {"auth-provider": {"name": "oidc", "config": settings}}}],
        "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"}}],
        "current-context": "x",
    }


def connected(fields: dict[str, t.Any] | str, **more: t.Any) -> str:
    connection = credentials.connect({"kubeconfig": fields, **more}, {})
    assert connection.expiry is None
    return dict(connection.headers())["authorization"]


def trusted(issuer: Issuer) -> dict[str, str]:
    return {"idp-certificate-authority": str(issuer.authority)}


def test_a_token_that_is_good_is_used(issuer: Issuer) -> None:
    token = jwt(3600)
    assert connected(kubeconfig(issuer, token, **trusted(issuer))) == f"Bearer {token}"
    assert issuer.asked == []


@pytest.mark.parametrize("authority", ["file", "data"])
@pytest.mark.parametrize("secret", ["secret-of-client", None])
@pytest.mark.parametrize("rotating", [True, False])
def test_a_token_that_has_expired_is_renewed(
    issuer: Issuer, authority: str, secret: str | None, rotating: bool
) -> None:
    issuer.is_rotating = rotating
    trust = (
        trusted(issuer)
        if authority == "file"
        else {"idp-certificate-authority-data": base64.b64encode(issuer.authority.read_bytes()).decode()}
    )
    fields = kubeconfig(issuer, jwt(-60), **trust, **({"client-secret": secret} if secret else {}))
    assert connected(fields) == f"Bearer {issuer.renewed}"
    ((header, form),) = issuer.asked
    assert base64.b64decode(header.removeprefix("Basic ")).decode() == f"me:{secret or ''}"
    assert (form["grant_type"], form["refresh_token"]) == (["refresh_token"], ["refresh-one"])
    assert "refresh-one" not in secrets.censor_text("x refresh-one")
    assert issuer.renewed not in secrets.censor_text(f"x {issuer.renewed}")


@pytest.mark.parametrize("persist", [True, False, None])
def test_what_was_renewed_is_kept_only_when_asked_for(
    issuer: Issuer, tmp_path: Path, persist: bool | None
) -> None:
    path = tmp_path / "config"
    before = yaml.safe_dump(kubeconfig(issuer, jwt(-60), **trusted(issuer)))
    path.write_text(before)
    path.chmod(0o600)
    assert connected(str(path), persist_config=persist) == f"Bearer {issuer.renewed}"
    assert path.stat().st_mode & 0o777 == 0o600
    if persist:
        kept = yaml.safe_load(path.read_text())
        assert kept == kubeconfig(
            issuer, issuer.renewed, **trusted(issuer), **{"refresh-token": "refresh-two"}
        )
    else:
        assert path.read_text() == before


def refused(issuer: Issuer, **provider: str) -> CredentialsError:
    with pytest.raises(CredentialsError) as caught:
        credentials.connect({"kubeconfig": kubeconfig(issuer, jwt(-60), **provider)}, {})
    assert caught.value.code == "CRED-OIDC"
    assert issuer.url in caught.value.message
    assert "refresh-one" not in caught.value.message
    return caught.value


def test_an_issuer_that_refuses(issuer: Issuer) -> None:
    issuer.refuses = True
    assert "the session is over" in refused(issuer, **trusted(issuer)).message


def test_an_issuer_that_gives_the_same_again(issuer: Issuer) -> None:
    fields = kubeconfig(issuer, jwt(-60), **trusted(issuer))
    issuer.renewed = fields["users"][0]["user"]["auth-provider"]["config"]["id-token"]
    with pytest.raises(CredentialsError, match="no new token"):
        credentials.connect({"kubeconfig": fields}, {})


def test_an_issuer_that_the_system_does_not_know_gets_no_token(issuer: Issuer) -> None:
    assert "CERTIFICATE_VERIFY_FAILED" in refused(issuer).message
    assert issuer.asked == []


def test_an_issuer_that_is_silent(issuer: Issuer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(credentials_kubeconfig, "_ISSUER_SECONDS", 0.5)
    issuer.is_silent = True
    assert "timed out after" in refused(issuer, **trusted(issuer)).message


def test_an_issuer_that_is_silent_does_not_keep_us_past_the_deadline(issuer: Issuer) -> None:
    issuer.is_silent = True

    def taken() -> float:
        started = time.monotonic()
        with pytest.raises(CredentialsError, match="timed out after 1 s"):
            module.connect(
                {"kubeconfig": kubeconfig(issuer, jwt(-60), **trusted(issuer)), "wait_timeout": 1}, "oidc"
            ).list(known("Node"))
        return time.monotonic() - started

    assert at_best(taken, 2) <= 2
