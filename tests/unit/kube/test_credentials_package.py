# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the kubernetes package reads from a kubeconfig, when it reads it again, and who loads it."""

from __future__ import annotations

import base64
import os
import subprocess
import sys
import typing as t
import warnings
from pathlib import Path

import pytest
import yaml

from ansible_collections.accelerators.openshift.plugins.module_utils._core import secrets
from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import CredentialsError
from ansible_collections.accelerators.openshift.plugins.module_utils._kube import (
    credentials,
    credentials_package,
)
from ansible_collections.accelerators.openshift.plugins.plugin_utils import _preload

Fields = dict[str, t.Any]
DEFAULT_KUBECONFIG = "kubernetes.config.kube_config.KUBE_CONFIG_DEFAULT_LOCATION"
SERVER = "https://api.example:6443/prefix/"
FILES = ("ssl_ca_cert", "cert_file", "key_file")


@pytest.fixture(autouse=True)
def _own_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(secrets, "_seen", set())
    for name in [
        name for name in os.environ if name.lower().endswith("_proxy") or name.startswith("K8S_AUTH_")
    ]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "none"))
    monkeypatch.setattr(DEFAULT_KUBECONFIG, str(tmp_path / "none"))
    for name in ("ca.crt", "client.crt", "client.key", "token"):
        (tmp_path / "pki").mkdir(exist_ok=True)
        (tmp_path / "pki" / name).write_text(f"content of {name}")


def data(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def kubeconfig(cluster: Fields | None = None, user: Fields | None = None) -> Fields:
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [
            {"name": "other", "cluster": {"server": "https://other"}},
            {"name": "c", "cluster": {"server": SERVER, **(cluster or {})}},
        ],
        "users": [
            {"name": "u", "user": user or {}},
            {"name": "other", "user": {"exec": {"command": "/bin/false"}}},
        ],
        "contexts": [
            {"name": "x", "context": {"cluster": "c", "user": "u", "namespace": "n"}},
            {"name": "y", "context": {"cluster": "other", "user": "other"}},
        ],
        "current-context": "x",
        "preferences": {},
    }


def meaning(configuration: t.Any) -> Fields:
    """Return the content of each file that the configuration names, and the value of its header."""
    files = {name: Path(path).read_text() for name in FILES if (path := getattr(configuration, name))}
    headers = [(setting["key"], setting["value"]) for setting in configuration.auth_settings().values()]
    return {**files, "headers": headers}


def bearer(token: str) -> Fields:
    return {"headers": [("authorization", f"Bearer {token}")]}


OF_FILES = {
    "ssl_ca_cert": "content of ca.crt",
    "cert_file": "content of client.crt",
    "key_file": "content of client.key",
}
CERTIFICATES = {"client-certificate": "pki/client.crt", "client-key": "pki/client.key"}
CERTIFICATE_DATA = {"client-certificate-data": data("certificate"), "client-key-data": data("key")}
OF_DATA = {"ssl_ca_cert": "ca", "cert_file": "certificate", "key_file": "key", "headers": []}
USUAL: list[tuple[Fields, Fields, Fields]] = [
    ({}, {"token": "of-user"}, bearer("of-user")),
    ({}, {"tokenFile": "pki/token"}, bearer("content of token")),
    ({}, {"token": "of-user", "tokenFile": "pki/none"}, bearer("of-user")),
    ({}, {}, {"headers": []}),
    ({"certificate-authority": "pki/ca.crt"}, CERTIFICATES, {**OF_FILES, "headers": []}),
    ({"certificate-authority-data": data("ca")}, CERTIFICATE_DATA, OF_DATA),
    (
        {"certificate-authority-data": data("ca"), "certificate-authority": "pki/none"},
        {**CERTIFICATE_DATA, **CERTIFICATES},
        OF_DATA,
    ),
    (
        {"server": "http://api.example", "certificate-authority": "pki/none"},
        {"token": "of-user"},
        bearer("of-user"),
    ),
]


@pytest.mark.parametrize("way", ["path", "default", "dict"])
@pytest.mark.parametrize(("cluster", "user", "wanted"), USUAL)
def test_a_usual_kubeconfig_is_read_from_everywhere(
    way: str, cluster: Fields, user: Fields, wanted: Fields, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "config").write_text(yaml.safe_dump(kubeconfig(cluster, user)))
    ways: dict[str, Fields] = {
        "path": {"kubeconfig": str(tmp_path / "config")},
        "default": {},
        "dict": {"kubeconfig": kubeconfig(cluster, user)},
    }
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "config"))
    if way == "dict":
        monkeypatch.chdir(tmp_path)
    configuration = credentials_package.configuration(ways[way])
    try:
        assert meaning(configuration) == wanted
        assert configuration.host == cluster.get("server", SERVER).rstrip("/")
        assert configuration.verify_ssl
    finally:
        credentials_package.forget()


def test_the_name_of_the_certificate_reaches_the_pool() -> None:
    wanted = {"kubeconfig": kubeconfig({"tls-server-name": "kubernetes"}, {"token": "of-user"})}
    pool = credentials_package.pool(credentials_package.configuration(wanted))
    assert pool.connection_pool_kw["server_hostname"] == "kubernetes"


@pytest.mark.parametrize(
    ("name", "host"), [("https_proxy", "https://a"), ("HTTP_PROXY", "http://a"), ("HTTPS_PROXY", "https://a")]
)
def test_a_proxy_of_the_environment_counts(name: str, host: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(name, "http://proxy:3128")
    assert credentials.connect({"host": host, "api_key": "key"}, {}).pool.proxy.host == "proxy"


@pytest.fixture(name="path")
def fixture_path(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Return a kubeconfig that the environment names."""
    path = tmp_path / "config"
    write(path)
    monkeypatch.setenv("K8S_AUTH_KUBECONFIG", str(path))
    return path


def write(path: Path, token: str = "token-of-a", cluster: Fields | None = None) -> None:
    path.write_text(yaml.safe_dump(kubeconfig(cluster, {"token": token})))


def test_not_accepted_means_read_again(path: Path) -> None:
    connection = credentials.connect({})
    assert connection.headers() == [("authorization", "Bearer token-of-a")]
    write(path, "token-of-b")
    connection.renew()
    assert connection.headers() == [("authorization", "Bearer token-of-b")]
    assert {"token-of-a", "token-of-b"} <= secrets._seen


def test_every_task_reads_its_files_anew(path: Path) -> None:
    before = credentials.connect({})
    write(path, "token-of-b")
    assert credentials.connect({}).headers() == [("authorization", "Bearer token-of-b")]
    assert before.headers() == [("authorization", "Bearer token-of-a")]
    path.unlink()
    with pytest.raises(CredentialsError, match="does not exist"):
        credentials.connect({})


def test_the_task_reports_broken_credentials_and_not_who_loads_the_package(path: Path) -> None:
    write(path, cluster={"server": "https://127.0.0.1:1", "certificate-authority-data": "bm9uZQ=="})
    assert _preload.preload() == ""
    with pytest.raises(CredentialsError, match="cannot be used"):
        credentials.connect({})


def test_an_unchecked_certificate_is_no_matter_of_other_plugins(path: Path) -> None:
    """The process that loads the package ahead hands its warning filters on to everybody's workers."""
    write(path, cluster={"server": "https://127.0.0.1:1", "insecure-skip-tls-verify": True})
    with warnings.catch_warnings():
        before = list(warnings.filters)
        _preload.preload()
        assert list(warnings.filters) == before
        assert not credentials.connect({}).verified
        assert list(warnings.filters) != before


@pytest.mark.parametrize(("act", "imported"), [("one.preload()", True), ("''", False)])
def test_the_package_is_imported_ahead_and_not_by_an_import_of_ours(act: str, imported: bool) -> None:
    script = (
        f"import sys; import {credentials.__name__}, {_preload.__name__} as one; "
        f"print(repr({act}), 'kubernetes' in sys.modules, 'ssl' in sys.modules)"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=False
    )
    assert done.stdout.split() == ["''", str(imported), "True"], done.stderr
