# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is read before a fork is used after it: by the same options, for as long as its files are the same."""

from __future__ import annotations

import os
import typing as t
import warnings
from pathlib import Path

import pytest
import yaml

from ansible_collections.accelerators.openshift.plugins.module_utils._core import secrets
from ansible_collections.accelerators.openshift.plugins.module_utils._kube import (
    credentials,
    credentials_kept,
)


def write(path: Path, token: str = "token-of-a") -> None:
    path.write_text(
        yaml.safe_dump(
            {
                "clusters": [{"name": "c", "cluster": {"server": "http://127.0.0.1:1"}}],
                "users": [{"name": "u", "user": {"token": token}}],
                "contexts": [
                    {"name": "x", "context": {"cluster": "c", "user": "u"}},
                    {"name": "y", "context": {"cluster": "c", "user": "u"}},
                ],
                "current-context": "x",
            }
        )
    )


@pytest.fixture(name="path")
def fixture_path(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A kubeconfig that the environment names, read ahead."""
    for name in [
        name for name in os.environ if name.lower().endswith("_proxy") or name.startswith("K8S_AUTH_")
    ]:
        monkeypatch.delenv(name)
    monkeypatch.setattr(secrets, "_seen", set())
    monkeypatch.setattr(credentials_kept, "_kept", [])
    path = tmp_path / "config"
    write(path)
    monkeypatch.setenv("K8S_AUTH_KUBECONFIG", str(path))
    assert credentials.preload() == ""
    return path


def opened(**options: t.Any) -> t.Any:
    return credentials.connect(options)


def test_every_connection_has_what_was_read_ahead(path: Path) -> None:
    assert opened().pool is opened().pool


def test_its_secrets_are_remembered_where_they_are_used(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(secrets, "_seen", set())
    assert opened().headers() == [("authorization", "Bearer token-of-a")]
    assert "token-of-a" not in secrets.censor_text("x token-of-a")


@pytest.mark.parametrize(
    "options", [{"context": "y"}, {"validate_certs": False}, {"impersonate_user": "joe"}]
)
def test_other_options_are_read_anew(path: Path, options: dict[str, t.Any]) -> None:
    assert opened(**options).pool is not opened().pool


def test_a_replaced_file_is_read_anew_whatever_its_times(path: Path) -> None:
    before, facts = opened(), path.stat()
    other = path.with_name("other")
    write(other, "token-of-b")
    os.utime(other, ns=(facts.st_atime_ns, facts.st_mtime_ns))
    assert other.stat().st_size == facts.st_size
    other.replace(path)
    after = opened()
    assert after.pool is not before.pool
    assert after.headers() == [("authorization", "Bearer token-of-b")]


def test_a_file_written_to_is_read_anew(path: Path) -> None:
    before = path.stat().st_ctime_ns
    while path.stat().st_ctime_ns == before:
        write(path, "token-of-b")
    assert opened().headers() == [("authorization", "Bearer token-of-b")]


def test_a_missing_file_is_an_error(path: Path) -> None:
    path.unlink()
    with pytest.raises(credentials.CredentialsError, match="does not exist"):
        opened()


def test_not_accepted_means_read_again(path: Path) -> None:
    connection = opened()
    write(path, "token-of-c")
    connection.renew()
    assert connection.headers() == [("authorization", "Bearer token-of-c")]


def test_files_that_a_kubeconfig_names_count(path: Path, tmp_path: Path) -> None:
    (tmp_path / "token").write_text("token-of-file")
    config = yaml.safe_load(path.read_text())
    config["users"][0]["user"] = {"tokenFile": "token"}
    path.write_text(yaml.safe_dump(config))
    credentials.preload()
    kept = opened()
    assert opened().pool is kept.pool
    (tmp_path / "new").write_text("token-of-file, renewed")
    (tmp_path / "new").replace(tmp_path / "token")
    assert opened().pool is not kept.pool


def test_what_changes_while_it_is_read_is_not_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(credentials_kept, "_kept", [])
    path = tmp_path / "file"
    path.write_text("0")

    def opening() -> str:
        path.write_text(path.read_text() + "+")
        return path.read_text()

    credentials_kept.keep({}, [str(path)], opening)
    assert credentials_kept.kept({}) is None


def test_broken_credentials_are_the_tasks_to_tell(path: Path) -> None:
    config = yaml.safe_load(path.read_text())
    config["clusters"][0]["cluster"] = {
        "server": "https://127.0.0.1:1",
        "certificate-authority-data": "bm9uZQ==",
    }
    path.write_text(yaml.safe_dump(config))
    assert credentials.preload() == ""
    with pytest.raises(credentials.CredentialsError, match="cannot be used"):
        opened()


def test_an_unchecked_certificate_is_no_matter_of_other_plugins(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Reading ahead happens in a process whose settings everybody's workers inherit."""
    config = yaml.safe_load(path.read_text())
    config["clusters"][0]["cluster"] = {"server": "https://127.0.0.1:1", "insecure-skip-tls-verify": True}
    path.write_text(yaml.safe_dump(config))
    with warnings.catch_warnings():
        before = list(warnings.filters)
        credentials.preload()
        assert list(warnings.filters) == before
        assert opened().pool is opened().pool
        assert list(warnings.filters) != before
