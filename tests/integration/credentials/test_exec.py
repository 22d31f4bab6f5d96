# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Exec plugins of kubeconfigs, run as real programs."""

from __future__ import annotations

import json
import sys
import typing as t
from pathlib import Path

import pytest
from integration.patience import until

from ansible_collections.accelerators.openshift.plugins.module_utils._core import secrets
from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import CredentialsError
from ansible_collections.accelerators.openshift.plugins.module_utils._kube import credentials_kubeconfig

V1: t.Final = "client.authentication.k8s.io/v1"


@pytest.fixture(autouse=True)
def _forget_secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(secrets, "_seen", set())


def plugin(code: str, **more: t.Any) -> dict[str, t.Any]:
    return {"apiVersion": V1, "command": sys.executable, "args": ["-c", code], **more}


def answer(**status: t.Any) -> str:
    return json.dumps({"apiVersion": V1, "kind": "ExecCredential", "status": status})


def failure(spec: dict[str, t.Any], folder: str = "") -> CredentialsError:
    with pytest.raises(CredentialsError) as caught:
        credentials_kubeconfig.run_plugin(spec, folder, None)
    assert caught.value.code == "CRED-EXEC"
    return caught.value


def has_ended(pid: int) -> bool:
    """Return whether a process is gone or a zombie; the kernel ends a killed process a moment later."""
    try:
        return Path("/proc", str(pid), "stat").read_text().rpartition(")")[2].split()[0] in "ZX"
    except FileNotFoundError:
        return True


def test_a_token_which_is_a_secret_from_then_on() -> None:
    status = credentials_kubeconfig.run_plugin(
        plugin(f"print({answer(token='token-of-plugin')!r})"), "", None
    )
    assert status == {"token": "token-of-plugin"}
    assert "token-of-plugin" not in secrets.censor_text("x token-of-plugin")


def test_what_the_plugin_is_told(tmp_path: Path) -> None:
    code = (
        "import json, os, sys; info = json.loads(os.environ['KUBERNETES_EXEC_INFO']);"
        f"print(json.dumps(dict(apiVersion={V1!r}, status=dict(token='t', info=info, where=os.getcwd(), "
        "own=os.environ['OWN'], read=sys.stdin.read()))))"
    )
    extensions = [
        {"name": "other", "extension": 1},
        {"name": "client.authentication.k8s.io/exec", "extension": {"audience": "a"}},
    ]
    cluster = {"server": "https://a", "extensions": extensions}
    status = credentials_kubeconfig.run_plugin(
        plugin(code, env=[{"name": "OWN", "value": 1}], provideClusterInfo=True), str(tmp_path), cluster
    )
    assert (status["where"], status["own"], status["read"]) == (str(tmp_path), "1", "")
    assert status["info"]["spec"] == {
        "interactive": False,
        "cluster": {"server": "https://a", "config": {"audience": "a"}},
    }
    assert (
        "cluster"
        not in credentials_kubeconfig.run_plugin(
            plugin(code, env=[{"name": "OWN", "value": ""}]), "", cluster
        )["info"]["spec"]
    )


def test_a_relative_command_starts_beside_the_kubeconfig(tmp_path: Path) -> None:
    script = tmp_path / "helper"
    script.write_text(f"#!{sys.executable}\nprint({answer(token='t')!r})\n")
    script.chmod(0o700)
    assert credentials_kubeconfig.run_plugin(
        {"apiVersion": V1, "command": "./helper"}, str(tmp_path), None
    ) == {"token": "t"}


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        (plugin("import sys; sys.exit('session is over: log in')"), "ended with status 1"),
        (plugin("print('hello')"), "no ExecCredential"),
        (plugin("print('[]')"), "no ExecCredential"),
        (plugin("print('{\"status\": null}')"), "no ExecCredential"),
        (plugin(f"print({answer()!r})"), "neither a token nor a certificate"),
        (plugin(f"print({answer(clientCertificateData='c')!r})"), "neither a token nor a certificate"),
        (
            plugin(f"print({answer(token='t')!r})", apiVersion="client.authentication.k8s.io/v1beta1"),
            "wants client.authentication.k8s.io/v1beta1",
        ),
        (
            {"apiVersion": V1, "command": "/no/such/plugin"},
            "/no/such/plugin gives no credentials: it cannot be started: No such file",
        ),
        ({"apiVersion": V1}, "no command"),
        ({"command": "x"}, "no apiVersion"),
    ],
)
def test_failures_are_told(spec: dict[str, t.Any], words: str) -> None:
    assert words in failure(spec).message


def test_the_plugins_own_words_are_in_the_message_and_evidence() -> None:
    found = failure(plugin("import sys; sys.exit('session is over: log in')"))
    assert found.evidence == ["session is over: log in"]
    assert found.message.endswith("it ended with status 1. session is over: log in")


def test_a_plugin_that_is_not_installed_shows_its_hint() -> None:
    hint = "Install it with:\n  brew install example-login"
    found = failure({"apiVersion": V1, "command": "/no/such/plugin", "installHint": hint})
    assert found.message.endswith("No such file or directory. Install it with: brew install example-login")


@pytest.mark.parametrize(
    "said",
    [
        "bad token=s3cr3t-value",
        "Authorization: Bearer s3cr3t-value",
        'got {"password": "s3cr3t-value"}',
        "answer eyJhbGciOiJSUzI1NiJ9.s3cr3t-value.s3cr3t-value",
        "used sha256~s3cr3t-value",
    ],
)
def test_what_looks_like_a_secret_in_the_plugins_words_is_masked(said: str) -> None:
    found = failure(plugin(f"import sys; sys.exit({said!r})"))
    assert "s3cr3t" not in found.message + str(found.evidence)
    assert "VALUE_SPECIFIED_IN_NO_LOG_PARAMETER" in found.message


def test_a_plugin_that_hangs_is_ended_with_its_children(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(credentials_kubeconfig, "EXEC_SECONDS", 2.0)
    # A shell starts faster than Python on a busy machine.
    spec = {
        "apiVersion": V1,
        "command": "sh",
        "args": ["-c", f"sleep 1000 & echo $! > {tmp_path / 'pid'}; wait"],
    }
    assert "has not ended after 2 s" in failure(spec).message
    assert until(lambda: has_ended(int((tmp_path / "pid").read_text())), "the plugin's child has ended")
