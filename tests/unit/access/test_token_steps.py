# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Steps of access_token on an API server in memory: the file, its mode, second runs, and refusals."""

from __future__ import annotations

import base64
import json
import os
import stat
import time
import typing as t
from pathlib import Path

import pytest
from unit.access.test_token import jwt
from unit.engine import api_on
from unit.fake_server import Answer, FakeServer

from ansible_collections.accelerators.openshift.plugins.module_utils._access import token_steps
from ansible_collections.accelerators.openshift.plugins.module_utils._core import redact
from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import (
    AcceleratorError,
    CredentialsError,
)

Data = dict[str, t.Any]
NAME: t.Final = "accelerators-openshift-resize-pool"
PEM: t.Final = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"
HOST: t.Final = {"host": "https://api.example:6443", "api_key": "secret"}


class World:
    """A cluster with the account of resize_pool. given: the tokens that the server gave."""

    def __init__(self, path: Path, seconds: int = 3600) -> None:
        self.path, self.seconds = path, seconds
        self.server = FakeServer("ServiceAccount")
        metadata = {"name": NAME, "namespace": "home", "uid": "uid-1"}
        self.server.put({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": metadata})
        self.server.request = self.answer
        self.given: list[str] = []

    def answer(self, method: str, url: str, body: bytes | None = None, **more: t.Any) -> Answer:
        if not url.endswith(f"/serviceaccounts/{NAME}/token"):
            return self.server.answer(method, url, body, **more)
        assert json.loads(body or b"")["spec"]["expirationSeconds"] >= 600
        self.given.append(jwt(exp=time.time() + self.seconds, jti=len(self.given)))
        return Answer(201, {"status": {"token": self.given[-1]}})

    def run(self, check_mode: bool = False, **given: t.Any) -> Data:
        options: Data = {
            "playbook": "resize_pool",
            "namespace": "home",
            "path": str(self.path),
            "seconds": 3600,
            "format": "kubeconfig",
            "host": "https://api.example:6443",
            "api_key": "of-admin",
        }
        self.api = api_on(self.server, check_mode=check_mode)
        return token_steps.ensure(self.api, t.cast(token_steps.AccessTokenParams, {**options, **given}))


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path / "resize.kubeconfig")


@pytest.mark.parametrize("form", ["kubeconfig", "awx"])
def test_only_the_owner_can_read_the_file_and_nothing_else_has_the_token(world: World, form: str) -> None:
    found = world.run(format=form)
    (given,) = world.given
    assert given in world.path.read_text()
    assert stat.S_IMODE(world.path.stat().st_mode) == 0o600
    assert [one.name for one in world.path.parent.iterdir()] == [world.path.name]
    assert found["account"] == f"system:serviceaccount:home:{NAME}"
    assert found["expires"]
    assert given not in str(found)
    assert given not in str(world.api.changes)
    assert len(world.api.changes) == 1
    assert given not in str(redact.result({"msg": f"token {given}"}))


def test_a_file_that_is_good_is_kept(world: World) -> None:
    world.run()
    before = world.path.read_text()
    world.run()
    assert (len(world.given), world.path.read_text(), world.api.changes) == (1, before, [])


def test_a_token_past_half_of_its_time_is_replaced(world: World) -> None:
    world.seconds = 1000
    world.run()
    world.run()
    assert len(world.given) == 2
    assert world.given[1] in world.path.read_text()
    assert stat.S_IMODE(world.path.stat().st_mode) == 0o600


def test_another_format_is_another_file_content(world: World) -> None:
    world.run()
    world.run(format="awx")
    assert json.loads(world.path.read_text())["bearer_token"] == world.given[1]


def test_check_mode_asks_for_no_token_and_needs_no_account(world: World) -> None:
    world.run(check_mode=True)
    assert (world.given, world.path.exists(), len(world.api.changes)) == ([], False, 1)
    world.run(check_mode=True, playbook="remove_pool")
    assert world.given == []


def refused(world: World, code: str, **given: t.Any) -> str:
    with pytest.raises(AcceleratorError) as caught:
        world.run(**given)
    assert caught.value.code == code
    assert caught.value.remedy
    assert world.given == []
    return caught.value.message


@pytest.mark.parametrize("text", ["", "apiVersion: v1\nkind: Config\n", '{"bearer_token": "of-eva"}'])
def test_a_file_with_anything_else_stays(world: World, text: str) -> None:
    world.path.write_text(text)
    told = refused(world, "INPUT-VALUE")
    assert told.startswith(
        f"gpu_rbac_token_file: {world.path} cannot be written: it exists, and holds no token"
    )
    assert world.path.read_text() == text


def test_a_link_a_folder_and_a_missing_folder_are_refused(world: World, tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "elsewhere")
    assert "not an ordinary file" in refused(world, "INPUT-VALUE", path=str(link))
    assert "not an ordinary file" in refused(world, "INPUT-VALUE", path=str(tmp_path))
    assert "its folder does not exist" in refused(world, "INPUT-VALUE", path=str(tmp_path / "no/file"))


@pytest.mark.parametrize("seconds", [0, 599, 86401])
def test_a_time_out_of_range_is_refused_by_its_path(world: World, seconds: int) -> None:
    assert refused(world, "INPUT-VALUE", seconds=seconds).startswith(f"gpu_rbac_token_seconds: {seconds}")


def test_an_unknown_playbook_is_refused_by_its_path(world: World) -> None:
    assert refused(world, "INPUT-VALUE", playbook="resize").startswith("gpu_rbac_token_playbook: 'resize'")


def test_without_the_account_the_remedy_is_to_make_it(world: World) -> None:
    assert "no ServiceAccount accelerators-openshift-remove-pool" in refused(
        world, "API-NOT-FOUND", playbook="remove_pool"
    )


def test_a_write_that_fails_leaves_no_part_of_a_file(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_source: str, _target: str) -> t.NoReturn:
        raise OSError("disk full")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(OSError, match="disk full"):
        world.run()
    assert list(world.path.parent.iterdir()) == []


def test_a_file_of_the_task_is_read(tmp_path: Path) -> None:
    path = tmp_path / "ca.crt"
    path.write_text(PEM)
    assert token_steps.authority({**HOST, "ca_cert": str(path)}) == PEM


def test_what_is_inside_a_kubeconfig_is_read() -> None:
    cluster = {
        "server": HOST["host"],
        "certificate-authority-data": base64.b64encode(PEM.encode()).decode(),
    }
    kubeconfig = {
        "clusters": [{"name": "c", "cluster": cluster}],
        "users": [{"name": "u", "user": {"token": "secret"}}],
        "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"}}],
        "current-context": "x",
    }
    assert token_steps.authority({"kubeconfig": kubeconfig}) == PEM


def test_without_any_the_system_s_are_trusted() -> None:
    assert token_steps.authority(HOST) == ""


def test_a_file_that_is_not_there_is_an_error() -> None:
    with pytest.raises(CredentialsError):
        token_steps.authority({**HOST, "ca_cert": "/does/not/exist"})
