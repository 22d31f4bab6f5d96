# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Credentials that need no package: what is read without it is what it reads, and what is unusual is left to it."""

from __future__ import annotations

import base64
import os
import subprocess
import sys
import tempfile
import typing as t
from pathlib import Path

import pytest
import yaml

from ansible_collections.accelerators.openshift.plugins.module_utils._core import secrets
from ansible_collections.accelerators.openshift.plugins.module_utils._kube import (
    credentials,
    credentials_package,
    credentials_plain,
)

Fields = dict[str, t.Any]
DEFAULT_KUBECONFIG = "kubernetes.config.kube_config.KUBE_CONFIG_DEFAULT_LOCATION"
SERVER = "https://api.example:6443/prefix/"
COMPARED = ("host", "verify_ssl", "tls_server_name")
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


def kubeconfig(cluster: Fields | None = None, user: Fields | None = None, **more: t.Any) -> Fields:
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
        **more,
    }


def meaning(configuration: t.Any) -> Fields:
    """Its values, with the content of files in place of their names."""
    files = {
        name: Path(path).read_bytes() if (path := getattr(configuration, name)) else None for name in FILES
    }
    headers = [(setting["key"], setting["value"]) for setting in configuration.auth_settings().values()]
    return {**{name: getattr(configuration, name) for name in COMPARED}, **files, "headers": headers}


CERTIFICATES = {"client-certificate": "pki/client.crt", "client-key": "pki/client.key"}
CERTIFICATE_DATA = {"client-certificate-data": data("certificate"), "client-key-data": data("key")}
PLAIN = [
    ({}, {"token": "of-user"}),
    ({}, {"tokenFile": "pki/token"}),
    ({}, {"token": "of-user", "tokenFile": "pki/none"}),
    ({}, {"token": "", "tokenFile": "pki/token"}),
    ({}, {}),
    ({"certificate-authority": "pki/ca.crt"}, CERTIFICATES),
    ({"certificate-authority-data": data("ca")}, CERTIFICATE_DATA),
    (
        {"certificate-authority-data": data("ca"), "certificate-authority": "pki/none"},
        {**CERTIFICATE_DATA, **CERTIFICATES},
    ),
    (
        {"certificate-authority-data": "", "certificate-authority": "pki/ca.crt"},
        {"token": "of-user", **CERTIFICATES},
    ),
    ({"insecure-skip-tls-verify": True}, {"token": "of-user"}),
    ({"insecure-skip-tls-verify": False, "tls-server-name": "kubernetes"}, {"token": "of-user"}),
    ({"server": "http://api.example", "certificate-authority": "pki/none"}, {"token": "of-user"}),
]


@pytest.mark.parametrize("way", ["path", "default", "dict"])
@pytest.mark.parametrize(("cluster", "user"), PLAIN)
def test_the_package_reads_the_same(
    way: str, cluster: Fields, user: Fields, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "config").write_text(yaml.safe_dump(kubeconfig(cluster, user)))
    ways: dict[str, Fields] = {
        "path": {"kubeconfig": str(tmp_path / "config")},
        "default": {},
        "dict": {"kubeconfig": kubeconfig(cluster, user)},
    }
    wanted = ways[way]
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "config"))
    monkeypatch.setattr(DEFAULT_KUBECONFIG, str(tmp_path / "config"))
    if way == "dict":
        monkeypatch.chdir(tmp_path)
    ours, theirs = credentials_plain.configuration(wanted), credentials_package.configuration(wanted)
    try:
        assert ours is not None
        assert meaning(ours) == meaning(theirs)
    finally:
        credentials_package.forget(theirs)


@pytest.mark.parametrize("pool", [credentials_plain.pool, credentials_package.pool])
def test_the_name_of_the_certificate_reaches_the_pool(pool: t.Callable[[t.Any], t.Any]) -> None:
    wanted = {"kubeconfig": kubeconfig({"tls-server-name": "kubernetes"}, {"token": "of-user"})}
    source = credentials_plain if pool is credentials_plain.pool else credentials_package
    assert pool(source.configuration(wanted)).connection_pool_kw["server_hostname"] == "kubernetes"


UNUSUAL = {
    "exec": {"kubeconfig": kubeconfig(user={"exec": {"command": "/bin/false"}})},
    "provider": {"kubeconfig": kubeconfig(user={"auth-provider": {"name": "oidc"}})},
    "basic": {"kubeconfig": kubeconfig(user={"username": "joe", "password": "of-joe"})},
    "other context": {"kubeconfig": kubeconfig(user={"token": "of-user"}), "context": "y"},
    "no context": {"kubeconfig": kubeconfig(), "context": "nowhere"},
    "proxy of the cluster": {"kubeconfig": kubeconfig({"proxy-url": "http://proxy"})},
    "two of a name": {"kubeconfig": kubeconfig(users=[{"name": "u", "user": {}}, {"name": "u", "user": {}}])},
    "no user": {"kubeconfig": kubeconfig(users=None)},
    "number": {"kubeconfig": kubeconfig(user={"token": 5})},
    "not base64": {"kubeconfig": kubeconfig({"certificate-authority-data": "x"})},
    "no such file": {"kubeconfig": kubeconfig({"certificate-authority": "/none"})},
    "no kubeconfig": {"kubeconfig": "/none"},
    "several": {"kubeconfig": f"/none{os.pathsep}/dev/null"},
    "nothing": {},
    "login": {"host": "https://a", "username": "joe", "password": "of-joe"},
    "proxy": {"host": "https://a", "api_key": "key", "proxy": "http://proxy"},
}


@pytest.mark.parametrize("wanted", UNUSUAL.values(), ids=UNUSUAL)
def test_what_is_unusual_is_left_to_the_package(wanted: Fields) -> None:
    assert credentials_plain.configuration(wanted) is None


@pytest.mark.parametrize(
    ("name", "host"), [("https_proxy", "https://a"), ("HTTP_PROXY", "http://a"), ("All_Proxy", "https://a")]
)
def test_a_proxy_of_the_environment_is_left_to_the_package(
    name: str, host: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted = {"host": host, "api_key": "key"}
    assert credentials_plain.configuration(wanted) is not None
    monkeypatch.setenv(name, "http://proxy:3128")
    assert credentials_plain.configuration(wanted) is None
    assert credentials.connect(wanted, {}).pool.proxy.host == "proxy"


def test_keys_are_never_on_a_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "mkstemp", lambda *_args, **_kwargs: pytest.fail("a temporary file"))
    before = set(os.listdir("/proc/self/fd"))
    plain = credentials_plain.configuration(
        {"kubeconfig": kubeconfig({"certificate-authority-data": data("ca")}, CERTIFICATE_DATA)}
    )
    assert plain is not None
    assert os.readlink(f"/proc/self/fd/{plain.held[-1]}").startswith("/memfd:")
    credentials_plain.forget(plain)
    assert set(os.listdir("/proc/self/fd")) == before


@pytest.mark.parametrize(
    ("user", "imported"), [({"token": "of-user"}, "False"), ({"exec": {"command": "/bin/false"}}, "True")]
)
def test_the_package_is_imported_ahead_when_the_environment_asks_for_it(
    user: Fields, imported: str, tmp_path: Path
) -> None:
    (tmp_path / "config").write_text(yaml.safe_dump(kubeconfig(user=user)))
    script = (
        "import sys; from ansible_collections.accelerators.openshift.plugins.module_utils._kube import credentials as one; "
        "print(repr(one.preload()), 'kubernetes' in sys.modules)"
    )
    environment = {
        **os.environ,
        "K8S_AUTH_KUBECONFIG": str(tmp_path / "config"),
        "PYTHONPATH": os.pathsep.join(sys.path),
    }
    done = subprocess.run(
        [sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=False
    )
    assert done.stdout.split() == ["''", imported], done.stderr
