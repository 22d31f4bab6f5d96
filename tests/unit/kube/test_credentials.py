"""Credentials: one source at a time, kubernetes.core's names, secrets remembered, no file left behind."""

from __future__ import annotations

import pathlib
import tempfile
import typing as t

import pytest

from ansible_collections.accelerators.openshift.plugins.module_utils._core import secrets
from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import CredentialsError
from ansible_collections.accelerators.openshift.plugins.module_utils._kube import (
    credentials,
    credentials_package,
)

DEFAULT_KUBECONFIG = "kubernetes.config.kube_config.KUBE_CONFIG_DEFAULT_LOCATION"
KUBECONFIG = {
    "apiVersion": "v1",
    "kind": "Config",
    "clusters": [{"name": "c", "cluster": {"server": "https://api.example:6443/prefix/"}}],
    "users": [{"name": "u", "user": {"token": "token-in-kubeconfig"}}],
    "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"}}],
    "current-context": "x",
}


@pytest.fixture(autouse=True)
def _forget_secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(secrets, "_seen", set())


def test_a_kubeconfig_as_a_dictionary() -> None:
    connection = credentials.connect(
        {"kubeconfig": KUBECONFIG, "impersonate_user": "joe", "impersonate_groups": ["a", "b"]}, {}
    )
    assert connection.host == "https://api.example:6443/prefix"
    assert ("authorization", "Bearer token-in-kubeconfig") in connection.headers()
    assert [value for name, value in connection.headers() if name == "Impersonate-Group"] == ["a", "b"]
    assert secrets.censor({"msg": "Config got token-in-kubeconfig"}) == {
        "msg": "Config got VALUE_SPECIFIED_IN_NO_LOG_PARAMETER"
    }


def test_host_and_token() -> None:
    connection = credentials.connect(
        {"host": "https://[::1]:6443/", "api_key": "token-of-option", "validate_certs": False}, {}
    )
    assert (connection.host, connection.verified) == ("https://[::1]:6443", False)
    assert connection.headers() == [("authorization", "Bearer token-of-option")]


@pytest.mark.parametrize(
    ("params", "code", "words"),
    [
        ({"kubeconfig": "/does/not/exist"}, "CRED-KUBECONFIG", "/does/not/exist"),
        (
            {"kubeconfig": KUBECONFIG, "context": "nowhere"},
            "CRED-CONTEXT",
            "has no context nowhere; it has x.",
        ),
        ({"host": "https://a", "ca_cert": "/no/such/ca"}, "CRED-INVALID", "cannot be used"),
    ],
)
def test_unusable_credentials_say_which(params: dict[str, t.Any], code: str, words: str) -> None:
    with pytest.raises(CredentialsError) as caught:
        credentials.connect(params, {})
    assert caught.value.code == code
    assert words in caught.value.message


def test_no_credentials_at_all(monkeypatch: pytest.MonkeyPatch, tmp_path: pathlib.Path) -> None:
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "none"))
    monkeypatch.setattr(DEFAULT_KUBECONFIG, str(tmp_path / "none"))
    with pytest.raises(CredentialsError) as caught:
        credentials.connect({}, {})
    assert caught.value.code == "CRED-NONE"


def test_a_missing_package_names_interpreter_and_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KUBECONFIG", "/does/not/exist")
    monkeypatch.setattr(credentials_package, "MISSING", "ModuleNotFoundError: No module named 'kubernetes'")
    with pytest.raises(CredentialsError, match="kubernetes") as caught:
        credentials.connect({}, {})
    assert "pip install kubernetes" in caught.value.remedy


def test_keys_of_a_kubeconfig_leave_no_file_behind(
    monkeypatch: pytest.MonkeyPatch, tmp_path: pathlib.Path
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    broken = {
        **KUBECONFIG,
        "users": [
            {"name": "u", "user": {"client-certificate-data": "Y2VydA==", "client-key-data": "a2V5LWRhdGE="}}
        ],
    }
    with pytest.raises(CredentialsError, match="cannot be used"):
        credentials.connect({"kubeconfig": broken}, {})
    assert list(tmp_path.iterdir()) == []


def test_a_user_name_and_password_log_in_once(monkeypatch: pytest.MonkeyPatch) -> None:
    from openshift.helper import userpassauth

    def get_token(self: t.Any) -> None:
        assert (self.host, self.ocp_username, self.ocp_password) == ("https://a", "joe", "pass-of-joe")
        self.token = {"access_token": "token-of-login"}

    monkeypatch.setattr(userpassauth.OCPLoginConfiguration, "get_token", get_token)
    connection = credentials.connect({"host": "https://a", "username": "joe", "password": "pass-of-joe"}, {})
    assert connection.headers() == [("authorization", "Bearer token-of-login")]
    assert "token-of-login" not in secrets.censor_text("x token-of-login pass-of-joe")
