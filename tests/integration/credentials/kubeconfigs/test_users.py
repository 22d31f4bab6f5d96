# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Users in kubeconfigs: the identity an entry gives, and the second read after the server refuses it."""

from __future__ import annotations

import base64
import datetime
import json
import time
import typing as t
from pathlib import Path

import pytest
from integration.credentials.kubeconfigs.files import (
    NOW,
    V1,
    Fields,
    Pair,
    bearer,
    config,
    data,
    reached,
    refused,
    write,
)
from integration.patience import at_best

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import CredentialsError
from ansible_collections.accelerators.openshift.plugins.module_utils._frame import module
from ansible_collections.accelerators.openshift.plugins.module_utils._kube import (
    credentials,
    credentials_kubeconfig,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.kinds import known


def test_a_token_file_is_read_again(tmp_path: Path) -> None:
    path = write(tmp_path / "k", config("a", {"tokenFile": "token"}))
    (tmp_path / "token").write_text("token-one\n")
    connection = credentials.connect({"kubeconfig": path}, {})
    assert connection.headers() == bearer("token-one")
    (tmp_path / "token").write_text("token-two\n")
    connection.renew()
    assert connection.headers() == bearer("token-two")


@pytest.mark.parametrize("way", ["option", "path", "data"])
def test_client_certificates(tmp_path: Path, pair: t.Callable[..., Pair], way: str) -> None:
    certificate, key = pair(60)
    users = {
        "path": {"client-certificate": "joe.crt", "client-key": "joe.key"},
        "data": {"client-certificate-data": data(certificate), "client-key-data": data(key)},
    }
    if way == "option":
        params: Fields = {
            "host": "https://a",
            "client_cert": "~/joe.crt",
            "client_key": "~/joe.key",
            "ca_cert": "~/joe.crt",
        }
    else:
        params = {
            "kubeconfig": write(
                tmp_path / "k", config("a", users[way], {"certificate-authority-data": data(certificate)})
            )
        }
    connection = credentials.connect(params, {})
    assert connection.headers() == []
    assert connection.expiry == ("The client certificate", NOW + datetime.timedelta(seconds=60))
    context = connection.pool.connection_pool_kw["ssl_context"]
    assert context.get_ca_certs()[0]["subject"] == ((("commonName", "joe"),),)


def test_a_key_with_a_password_asks_nobody_for_it(pair: t.Callable[..., Pair]) -> None:
    certificate, key = pair(password="pass-of-key")
    assert refused(host="https://a", client_cert=certificate, client_key=key).code == "CRED-INVALID"


def test_the_end_of_a_token_that_nothing_renews(tmp_path: Path) -> None:
    token = jwt(NOW)
    assert credentials.connect({"host": "https://a", "api_key": token}, {}).expiry == ("The token", NOW)
    assert credentials.connect({"kubeconfig": config("a", {"token": token})}, {}).expiry == ("The token", NOW)
    (tmp_path / "token").write_text(token)
    assert (
        credentials.connect({"kubeconfig": config("a", {"tokenFile": str(tmp_path / "token")})}, {}).expiry
        is None
    )
    assert credentials.connect({"host": "https://a", "api_key": "sha256~abc"}, {}).expiry is None


def jwt(end: datetime.datetime) -> str:
    return (
        f"h.{base64.urlsafe_b64encode(json.dumps({'exp': end.timestamp()}).encode()).decode().rstrip('=')}.s"
    )


AS: t.Final = {"as": "jim", "as-uid": "7", "as-groups": ["a", "b"], "as-user-extra": {"reason": ["x", "y"]}}


def test_a_user_entry_that_acts_as_somebody() -> None:
    own = [
        ("Impersonate-User", "jim"),
        ("Impersonate-Uid", "7"),
        ("Impersonate-Group", "a"),
        ("Impersonate-Group", "b"),
    ]
    extra = [("Impersonate-Extra-reason", "x"), ("Impersonate-Extra-reason", "y")]
    kubeconfig = config("a", {"token": "token-of-a", **AS})
    assert reached(kubeconfig=kubeconfig)[1] == [*bearer("token-of-a"), *own, *extra]
    assert reached(kubeconfig=kubeconfig, impersonate_user="joe")[1] == [
        *bearer("token-of-a"),
        ("Impersonate-User", "joe"),
    ]


def test_the_name_in_the_certificate() -> None:
    connection = credentials.connect(
        {"kubeconfig": config("a", {"token": "t" * 9, "as": "x"}, {"tls-server-name": "kubernetes"})}, {}
    )
    assert connection.pool.connection_pool_kw["server_hostname"] == "kubernetes"


def test_an_exec_plugin_is_asked_again_after_a_refusal(tmp_path: Path, pair: t.Callable[..., Pair]) -> None:
    count = tmp_path / "count"
    count.write_text("0")
    script = tmp_path / "plugin"
    end = (NOW + datetime.timedelta(seconds=5)).isoformat().replace("+00:00", "Z")
    answer = {
        "apiVersion": V1,
        "kind": "ExecCredential",
        "status": {"token": "token-NUMBER", "expirationTimestamp": end},
    }
    script.write_text(
        f"#!/bin/sh\nn=$(($(cat {count}) + 1)); echo $n > {count}\n"
        f"sed s/NUMBER/$n/ <<END\n{json.dumps(answer)}\nEND\n"
    )
    script.chmod(0o700)
    connection = credentials.connect(
        {
            "kubeconfig": write(
                tmp_path / "k", config("a", {"exec": {"apiVersion": V1, "command": "./plugin"}})
            )
        },
        {},
    )
    assert (connection.headers(), connection.headers(), connection.expiry) == (
        bearer("token-1"),
        bearer("token-1"),
        None,
    )
    connection.renew()
    assert connection.headers() == bearer("token-2")
    assert count.read_text() == "2\n"


def test_an_exec_plugin_that_gives_a_certificate(tmp_path: Path, pair: t.Callable[..., Pair]) -> None:
    certificate, key = (Path(path).read_text() for path in pair(60))
    answer = {
        "apiVersion": V1,
        "kind": "ExecCredential",
        "status": {"clientCertificateData": certificate, "clientKeyData": key},
    }
    (tmp_path / "answer").write_text(json.dumps(answer))
    plugin = {"exec": {"apiVersion": V1, "command": "cat", "args": [str(tmp_path / "answer")]}}
    connection = credentials.connect({"kubeconfig": config("a", plugin)}, {})
    assert (connection.headers(), connection.expiry) == (
        [],
        ("The client certificate", NOW + datetime.timedelta(seconds=60)),
    )


@pytest.mark.parametrize(
    "plugin", [{"command": "false"}, {"command": "cat"}, {"command": "sleep", "args": ["60"]}]
)
def test_an_exec_plugin_that_fails_or_hangs_is_never_nobody(
    monkeypatch: pytest.MonkeyPatch, plugin: Fields
) -> None:
    monkeypatch.setattr(credentials_kubeconfig, "EXEC_SECONDS", 0.5)
    assert refused(kubeconfig=config("a", {"exec": {"apiVersion": V1, **plugin}})).code == "CRED-EXEC"


def test_an_exec_plugin_that_hangs_does_not_keep_us_past_the_deadline() -> None:
    plugin = {"apiVersion": V1, "command": "sleep", "args": ["60"]}

    def taken() -> float:
        started = time.monotonic()
        with pytest.raises(CredentialsError, match="has not ended after 1 s"):
            module.connect({"kubeconfig": config("a", {"exec": plugin}), "wait_timeout": 1}, "exec").list(
                known("Node")
            )
        return time.monotonic() - started

    assert at_best(taken, 2) <= 2
