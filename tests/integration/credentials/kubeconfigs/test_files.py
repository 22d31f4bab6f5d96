# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which kubeconfig the collection reads, errors in kubeconfigs, and a pod's service account."""

from __future__ import annotations

import json
import os
import typing as t
from pathlib import Path

import pytest
from integration.credentials.kubeconfigs.files import (
    V1,
    Fields,
    Pair,
    bearer,
    config,
    reached,
    refused,
    write,
)

from ansible_collections.accelerators.openshift.plugins.module_utils._core import secrets
from ansible_collections.accelerators.openshift.plugins.module_utils._kube import credentials


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
    write(tmp_path / "none-is-current", config("zero") | {"current-context": ""})
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
            "has no current context, and the task does not set one; it has a.",
        ),
        (config("a", contexts=None), "CRED-CONTEXT", "has no context a; it has none."),
        (config("a", clusters=[]), "CRED-INVALID", "object with name a in"),
        (
            config("a", users=[{"name": "a", "token": "token-at-the-wrong-place"}]),
            "CRED-INVALID",
            "Expected key user in",
        ),
        ({"users": "x", "contexts": 5}, "CRED-INVALID", "cannot be used"),
        ({"kind": "Config"}, "CRED-CONTEXT", "has no current context"),
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


@pytest.fixture
def pod(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pair: t.Callable[..., Pair]) -> Path:
    """Create what a kubelet mounts into a pod; return the path of the token."""
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
    assert (connection.host, connection.expiry) == ("https://[fd00::1]:443", None)
    assert connection.headers() == [("authorization", "bearer token-of-pod")]
    pod.write_text("token-of-later")
    connection.renew()
    assert connection.headers() == [("authorization", "bearer token-of-later")]
    assert "token-of-later" not in secrets.censor_text("x token-of-later")


def test_no_credentials_at_all_says_where_was_looked(tmp_path: Path) -> None:
    error = refused()
    assert error.code == "CRED-NONE"
    assert f"{tmp_path}/.kube/config does not exist" in error.message
