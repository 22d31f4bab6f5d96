# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The sandbox's OAuth endpoint: log in and out, and list a user's tokens."""

from __future__ import annotations

import typing as t
from dataclasses import dataclass
from urllib.parse import parse_qs, urlsplit

import urllib3

from openshift_sandbox.programs import oauth
from openshift_sandbox.sandbox import Sandbox
from openshift_sandbox.stand_ins.oauth.tokens import object_name

AUTHORIZE: t.Final = "/oauth/authorize?response_type=token&client_id=openshift-challenging-client"
TOKENS: t.Final = "/apis/oauth.openshift.io/v1/useroauthaccesstokens"


@dataclass
class OAuth:
    sandbox: Sandbox

    def __post_init__(self) -> None:
        self.url = oauth.url(self.sandbox)
        self.authority = str(self.sandbox.run / "pki" / "ca.crt")
        self._pool = urllib3.PoolManager(ca_certs=self.authority, retries=False, timeout=10.0)

    def password(self, login: str = "kubeadmin") -> str:
        return str(oauth.users(self.sandbox)[login]["password"])

    def options(self, login: str = "kubeadmin") -> dict[str, str]:
        return {
            "host": self.url,
            "ca_cert": self.authority,
            "username": login,
            "password": self.password(login),
        }

    def request(
        self, method: str, path: str, token: str, server: str | None = None
    ) -> urllib3.BaseHTTPResponse:
        return self._pool.request(
            method, (server or self.url) + path, headers={"Authorization": f"Bearer {token}"}
        )

    def log_in(self, login: str = "kubeadmin", password: str | None = None) -> str | int:
        """Return a token, or the HTTP status of the refusal."""
        pair = f"{login}:{self.password(login) if password is None else password}".encode().decode(
            "latin-1"
        )  # urllib3 encodes the text as latin-1
        headers = urllib3.make_headers(basic_auth=pair) | {"X-Csrf-Token": "1"}
        answer = self._pool.request("GET", self.url + AUTHORIZE, headers=headers, redirect=False)
        fragment = parse_qs(urlsplit(answer.headers.get("Location", "")).fragment)
        return fragment["access_token"][0] if answer.status == 302 else answer.status

    def log_out(self, token: str) -> int:
        return self.request("DELETE", f"{TOKENS}/{object_name(token)}", token).status

    def others(self, login: str = "kubeadmin") -> list[str]:
        """Return the names of the user's tokens, without the token that this look-up needs."""
        token = str(self.log_in(login))
        items = self.request("GET", TOKENS, token).json()["items"]
        assert self.log_out(token) == 200
        return [item["metadata"]["name"] for item in items if item["metadata"]["name"] != object_name(token)]
