# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The file with a token: what it has, and when it is good for another run."""

from __future__ import annotations

import base64
import json
import typing as t

import pytest

from ansible_collections.accelerators.openshift.plugins.module_utils._access import token
from ansible_collections.accelerators.openshift.plugins.module_utils._access.token import Account, Server

NOW: t.Final = 1_800_000_000.0
ACCOUNT: t.Final = Account("accelerators-openshift-resize-pool", "home", "uid-1")
SERVER: t.Final = Server("https://api.example:6443", "-----BEGIN CERTIFICATE-----\n")


def jwt(**claims: t.Any) -> str:
    whole = {
        "sub": "system:serviceaccount:home:accelerators-openshift-resize-pool",
        "exp": NOW + 3600,
        "kubernetes.io": {"serviceaccount": {"uid": "uid-1"}},
        **claims,
    }
    body = base64.urlsafe_b64encode(json.dumps(whole).encode()).decode().rstrip("=")
    return f"eyJhbGciOiJub25lIn0.{body}.sig"


def is_good(text: str, form: str = "kubeconfig", until: float = NOW) -> bool:
    return token.is_good(text, SERVER, ACCOUNT, form, until)


def test_the_kubeconfig_names_server_authority_and_token() -> None:
    found = json.loads(token.content(SERVER, ACCOUNT, "secret", "kubeconfig"))
    (cluster,), (user,), (context,) = found["clusters"], found["users"], found["contexts"]
    assert cluster["cluster"]["server"] == SERVER.host
    assert base64.b64decode(cluster["cluster"]["certificate-authority-data"]).decode() == SERVER.authority
    assert user["user"] == {"token": "secret"}
    assert context["context"]["user"] == user["name"]
    assert found["current-context"] == context["name"]


def test_the_inputs_of_awx_are_those_of_its_credential_type() -> None:
    found = json.loads(token.content(SERVER, ACCOUNT, "secret", "awx"))
    assert found == {
        "host": SERVER.host,
        "bearer_token": "secret",
        "verify_ssl": True,
        "ssl_ca_cert": SERVER.authority,
    }


def test_without_authorities_of_its_own_the_file_trusts_the_system() -> None:
    server = SERVER._replace(authority="")
    assert "certificate-authority" not in token.content(server, ACCOUNT, "a", "kubeconfig")
    assert "ssl_ca_cert" not in token.content(server, ACCOUNT, "a", "awx")


@pytest.mark.parametrize("form", ["kubeconfig", "awx"])
def test_a_file_with_a_valid_token_is_good(form: str) -> None:
    text = token.content(SERVER, ACCOUNT, jwt(), form)
    assert token.read(text) == jwt()
    assert is_good(text, form)
    assert token.is_of(text, ACCOUNT)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "apiVersion: v1",
        "[]",
        "{}",
        '{"users": []}',
        token.content(SERVER, ACCOUNT, "no-jwt", "kubeconfig"),
        token.content(SERVER, ACCOUNT, jwt(exp=NOW - 1), "kubeconfig"),
        token.content(SERVER, ACCOUNT, jwt(exp="soon"), "kubeconfig"),
        token.content(SERVER, ACCOUNT, jwt(sub="system:serviceaccount:home:other"), "kubeconfig"),
        token.content(SERVER, ACCOUNT, jwt(**{"kubernetes.io": {"serviceaccount": {}}}), "kubeconfig"),
        token.content(SERVER, ACCOUNT, jwt(), "awx"),
        token.content(SERVER._replace(host="https://other:6443"), ACCOUNT, jwt(), "kubeconfig"),
        token.content(SERVER._replace(authority=""), ACCOUNT, jwt(), "kubeconfig"),
    ],
)
def test_any_other_file_is_not_good(text: str) -> None:
    assert not is_good(text)


def test_a_file_of_another_account_is_not_ours_to_replace() -> None:
    other = jwt(sub="system:serviceaccount:home:other")
    assert not token.is_of(token.content(SERVER, ACCOUNT, other, "awx"), ACCOUNT)


def test_the_request_asks_for_its_seconds() -> None:
    assert token.request(600)["spec"] == {"expirationSeconds": 600}
