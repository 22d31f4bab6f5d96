# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The login that the keyring chooses for an image."""

from __future__ import annotations

import base64
import json
import typing as t

import pytest

from openshift_sandbox.scenario import Scenario
from openshift_sandbox.stand_ins.api_server import image_imports, keyring

IMAGE: t.Final = "r.io/team/driver:1"


def secret(**logins: str) -> dict[str, t.Any]:
    auths = {
        key.replace("_", "/").replace("io", "r.io"): {"auth": base64.b64encode(value.encode()).decode()}
        for key, value in logins.items()
    }
    return {"data": {keyring.KEY: base64.b64encode(json.dumps({"auths": auths}).encode()).decode()}}


@pytest.mark.parametrize(
    ("secrets", "found"),
    [
        ([], ""),
        ([{"data": {"other": ""}}], ""),
        ([secret(io="u:1")], "u:1"),
        ([secret(io="u:1", io_team="u:2")], "u:2"),
        ([secret(io="u:1"), secret(io="u:2")], "u:1"),
        ([secret(io="u:1"), secret(**{"io_team_driver:1": "u:2"})], "u:2"),
        ([secret(io_other="u:1")], ""),
    ],
)
def test_the_longest_key_counts(secrets: list[dict[str, t.Any]], found: str) -> None:
    assert keyring.login(IMAGE, secrets) == found


@pytest.mark.parametrize(("login", "reason"), [("u:1", None), ("u:2", "Unauthorized"), ("", "Unauthorized")])
def test_a_registry_that_needs_a_login(login: str, reason: str | None) -> None:
    asks = Scenario("s", troubles=[{"type": "registry_needs_login", "host": "r.io", "logins": ["u:1"]}])
    spec = {"import": False, "images": [{"from": {"name": IMAGE}}]}
    (found,) = image_imports.status(spec, asks, {}, lambda _image: login)["images"]
    assert found["status"].get("reason") == reason
