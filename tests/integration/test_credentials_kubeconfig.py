# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Kubeconfigs of all kinds, as files in a home of its own: whom they name, and that they are read again after a refusal."""

from __future__ import annotations

import base64
import datetime
import json
import os
import time
import typing as t
from pathlib import Path

import pytest
import yaml
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from integration.patience import at_best

from ansible_collections.accelerators.openshift.plugins.module_utils._core import secrets
from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import CredentialsError
from ansible_collections.accelerators.openshift.plugins.module_utils._frame import module
from ansible_collections.accelerators.openshift.plugins.module_utils._kube import (
    credentials,
    credentials_exec,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.kinds import known

Fields = dict[str, t.Any]
NOW: t.Final = datetime.datetime.now(datetime.UTC).replace(microsecond=0)
V1: t.Final = "client.authentication.k8s.io/v1"


@pytest.fixture(autouse=True)
def _own_home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(secrets, "_seen", set())
    for name in [
        name
        for name in os.environ
        if name.lower().endswith("_proxy") or name.startswith(("K8S_AUTH_", "KUBERNETES_SERVICE"))
    ]:
        monkeypatch.delenv(name)
    monkeypatch.delenv("KUBECONFIG", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))


def config(name: str, user: Fields | None = None, cluster: Fields | None = None, **more: t.Any) -> Fields:
    """A kubeconfig of one cluster, user and context, all of that name."""
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": name, "cluster": {"server": f"https://{name}:6443", **(cluster or {})}}],
        "users": [{"name": name, "user": {"token": f"token-of-{name}"} if user is None else user}],
        "contexts": [{"name": name, "context": {"cluster": name, "user": name}}],
        "current-context": name,
        **more,
    }


def write(path: Path, fields: Fields) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(yaml.safe_dump(fields))
    return str(path)


def reached(**params: t.Any) -> tuple[str, list[tuple[str, str]]]:
    connection = credentials.connect(params, {})
    return connection.host, connection.headers()


def bearer(token: str) -> list[tuple[str, str]]:
    return [("authorization", f"Bearer {token}")]


def refused(**params: t.Any) -> CredentialsError:
    with pytest.raises(CredentialsError) as caught:
        credentials.connect(params, {})
    return caught.value


class Pair(t.NamedTuple):
    certificate: str
    key: str


@pytest.fixture
def pair(tmp_path: Path) -> t.Callable[..., Pair]:
    """A client certificate that is its own authority, good for so many seconds."""

    def make(seconds: float = 3600.0, password: str = "") -> Pair:
        key = ec.generate_private_key(ec.SECP256R1())
        name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "joe")])
        builder = (
            x509.CertificateBuilder()
            .subject_name(name)
            .issuer_name(name)
            .public_key(key.public_key())
            .serial_number(1)
        )
        end = NOW + datetime.timedelta(seconds=seconds)
        builder = builder.add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        made = (
            builder.not_valid_before(NOW - datetime.timedelta(days=2))
            .not_valid_after(end)
            .sign(key, hashes.SHA256())
        )
        lock = (
            serialization.BestAvailableEncryption(password.encode())
            if password
            else serialization.NoEncryption()
        )
        (tmp_path / "joe.crt").write_bytes(made.public_bytes(serialization.Encoding.PEM))
        (tmp_path / "joe.key").write_bytes(
            key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, lock)
        )
        return Pair(str(tmp_path / "joe.crt"), str(tmp_path / "joe.key"))

    return make


def data(path: str) -> str:
    return base64.b64encode(Path(path).read_bytes()).decode()


# Which file


def test_the_file_at_home(tmp_path: Path) -> None:
    write(tmp_path / ".kube" / "config", config("home"))
    assert reached() == ("https://home:6443", bearer("token-of-home"))


def test_an_empty_variable_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path / ".kube" / "config", config("home"))
    monkeypatch.setenv("KUBECONFIG", "")
    assert reached()[0] == "https://home:6443"


def test_a_path_under_home_and_one_beside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path / "own", config("own"))
    monkeypatch.chdir(tmp_path)
    assert (
        reached(kubeconfig="~/own")
        == reached(kubeconfig="own")
        == ("https://own:6443", bearer("token-of-own"))
    )


@pytest.mark.parametrize("way", ["option", "KUBECONFIG"])
def test_of_several_files_the_first_says_what_is_current(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    write(tmp_path / "none-is-current", config("zero", **{"current-context": ""}))
    write(tmp_path / "a", config("a"))
    write(tmp_path / "b", config("b"))
    paths = os.pathsep.join(["~/missing", "", "~/none-is-current", str(tmp_path / "a"), str(tmp_path / "b")])
    monkeypatch.setenv("KUBECONFIG", paths if way == "KUBECONFIG" else "")
    params = {"kubeconfig": paths} if way == "option" else {}
    assert reached(**params) == ("https://a:6443", bearer("token-of-a"))
    assert reached(**params, context="b") == ("https://b:6443", bearer("token-of-b"))
    assert reached(**params, context="zero")[0] == "https://zero:6443"
    assert "has no context nowhere; it has zero, a, b." in refused(**params, context="nowhere").message


def test_files_that_are_completed_by_another(tmp_path: Path) -> None:
    write(tmp_path / "who", config("a", clusters=[]))
    write(
        tmp_path / "elsewhere" / "where",
        {"clusters": config("a", cluster={"certificate-authority": "ca.crt"})["clusters"]},
    )
    assert refused(kubeconfig=f"{tmp_path}/who:{tmp_path}/elsewhere/where").message.endswith(
        f"File does not exist: {tmp_path}/elsewhere/ca.crt"
    )


def test_a_dictionary_is_left_as_it_is() -> None:
    given = config("a", {"exec": {"apiVersion": V1, "command": "true"}, "token": "token-of-a"})
    before = json.dumps(given)
    assert reached(kubeconfig=given)[1] == bearer("token-of-a")
    assert json.dumps(given) == before


@pytest.mark.parametrize(
    ("fields", "code", "words"),
    [
        (
            config("a", **{"current-context": None}),
            "CRED-CONTEXT",
            "names no current context, and the task none either; it has a.",
        ),
        (config("a", contexts=None), "CRED-CONTEXT", "has no context a; it has none."),
        (config("a", clusters=[]), "CRED-INVALID", "object with name a in"),
        (
            config("a", users=[{"name": "a", "token": "token-at-the-wrong-place"}]),
            "CRED-INVALID",
            "Expected key user in",
        ),
        ({"users": "x", "contexts": 5}, "CRED-INVALID", "cannot be used"),
        ({"kind": "Config"}, "CRED-CONTEXT", "names no current context"),
    ],
)
@pytest.mark.parametrize("way", ["file", "dict"])
def test_what_is_wrong_with_a_kubeconfig(
    tmp_path: Path, fields: Fields, code: str, words: str, way: str
) -> None:
    error = refused(kubeconfig=write(tmp_path / "k", fields) if way == "file" else fields)
    assert (error.code, words in error.message) == (code, True), error.message
    assert "token-at-the-wrong-place" not in error.message


@pytest.mark.parametrize(
    "text", ["", "- a", "a: [", "\x00", "just words", "users:\n- user: {token: !!python/name:os.system }"]
)
def test_what_is_no_kubeconfig(tmp_path: Path, text: str) -> None:
    (tmp_path / "k").write_text(text)
    error = refused(kubeconfig=str(tmp_path / "k"))
    assert error.code == "CRED-INVALID"


def test_a_broken_kubeconfig_is_never_replaced_by_the_account_of_a_pod(tmp_path: Path, pod: Path) -> None:
    write(tmp_path / ".kube" / "config", config("home"))
    assert pod.exists()
    assert refused(context="nowhere").code == "CRED-CONTEXT"


# The account of a pod


@pytest.fixture
def pod(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pair: t.Callable[..., Pair]) -> Path:
    """What a kubelet puts into a pod."""
    from kubernetes.config import incluster_config

    token = tmp_path / "serviceaccount" / "token"
    token.parent.mkdir()
    token.write_text("token-of-pod\n")
    authority = Path(pair().certificate)
    monkeypatch.setattr(incluster_config, "SERVICE_TOKEN_FILENAME", str(token))
    monkeypatch.setattr(incluster_config, "SERVICE_CERT_FILENAME", str(authority))
    monkeypatch.setenv("KUBERNETES_SERVICE_HOST", "fd00::1")
    monkeypatch.setenv("KUBERNETES_SERVICE_PORT", "443")
    return token


def test_the_account_of_a_pod_is_read_again(pod: Path) -> None:
    connection = credentials.connect({}, {})
    assert (connection.host, connection.ends) == ("https://[fd00::1]:443", None)
    assert connection.headers() == [("authorization", "bearer token-of-pod")]
    pod.write_text("token-of-later")
    connection.renew()
    assert connection.headers() == [("authorization", "bearer token-of-later")]
    assert "token-of-later" not in secrets.censor_text("x token-of-later")


def test_no_credentials_at_all_says_where_was_looked(tmp_path: Path) -> None:
    error = refused()
    assert error.code == "CRED-NONE"
    assert f"{tmp_path}/.kube/config does not exist" in error.message


# Who


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
    assert connection.ends == ("The client certificate", NOW + datetime.timedelta(seconds=60))
    context = connection.pool.connection_pool_kw["ssl_context"]
    assert context.get_ca_certs()[0]["subject"] == ((("commonName", "joe"),),)


def test_a_key_with_a_password_asks_nobody_for_it(pair: t.Callable[..., Pair]) -> None:
    certificate, key = pair(password="pass-of-key")
    assert refused(host="https://a", client_cert=certificate, client_key=key).code == "CRED-INVALID"


def test_the_end_of_a_token_that_nothing_renews(tmp_path: Path) -> None:
    token = jwt(NOW)
    assert credentials.connect({"host": "https://a", "api_key": token}, {}).ends == ("The token", NOW)
    assert credentials.connect({"kubeconfig": config("a", {"token": token})}, {}).ends == ("The token", NOW)
    (tmp_path / "token").write_text(token)
    assert (
        credentials.connect({"kubeconfig": config("a", {"tokenFile": str(tmp_path / "token")})}, {}).ends
        is None
    )
    assert credentials.connect({"host": "https://a", "api_key": "sha256~abc"}, {}).ends is None


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


# Exec plugins


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
        f"#!/bin/sh\nn=$(($(cat {count}) + 1)); echo $n > {count}\nsed s/NUMBER/$n/ <<END\n{json.dumps(answer)}\nEND\n"
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
    assert (connection.headers(), connection.headers(), connection.ends) == (
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
    assert (connection.headers(), connection.ends) == (
        [],
        ("The client certificate", NOW + datetime.timedelta(seconds=60)),
    )


@pytest.mark.parametrize(
    "plugin", [{"command": "false"}, {"command": "cat"}, {"command": "sleep", "args": ["60"]}]
)
def test_an_exec_plugin_that_fails_or_hangs_is_never_nobody(
    monkeypatch: pytest.MonkeyPatch, plugin: Fields
) -> None:
    monkeypatch.setattr(credentials_exec, "SECONDS", 0.5)
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
