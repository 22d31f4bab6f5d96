# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The content of a pull secret: what is one, whose login an image gets, and what nobody may see."""

from __future__ import annotations

import json
import typing as t

import pytest
from unit.pull_secret.builders import NEW, USER, auths, login, text

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import InputError
from ansible_collections.accelerators.openshift.plugins.module_utils._pull_secret import docker_config

LONG: t.Final = login("x")


@pytest.mark.parametrize(
    ("content", "code", "words"),
    [
        ("", "PULL-CONFIG", "is not JSON (line 1, column 1)"),
        ("[]", "PULL-CONFIG", "has no auths"),
        ('{"auths": {}}', "PULL-CONFIG", "has no auths"),
        ('{"credsStore": "desktop"}', "PULL-CONFIG", "has credsStore, a program on the machine"),
        ('{"auths": {"r.io": 1}}', "PULL-CONFIG", "auths.r.io: is no map"),
        ('{"auths": {"r.io": {"email": "a@b"}}}', "PULL-CONFIG", "auths.r.io: has neither auth nor"),
        ('{"auths": {"r.io": {"auth": "not base64"}}}', "PULL-CONFIG", "is not USER:PASSWORD in base64"),
        ('{"auths": {"r.io": {"auth": "dXNlcg=="}}}', "PULL-CONFIG", "is not USER:PASSWORD in base64"),
    ],
)
def test_what_is_no_pull_secret_is_refused_with_its_path(content: str, code: str, words: str) -> None:
    with pytest.raises(InputError) as raised:
        docker_config.parse(content, "gpu_pull_secret")
    assert (raised.value.code, raised.value.layer) == (code, "input")
    assert raised.value.message.startswith("gpu_pull_secret: ")
    assert words in raised.value.message
    assert "gpu_pull_secret_file" in raised.value.remedy


def test_a_message_quotes_nothing_of_the_content() -> None:
    with pytest.raises(InputError) as raised:
        docker_config.parse(f"{{{NEW}", "gpu_pull_secret")
    assert NEW not in str(raised.value.to_result())
    assert raised.value.__cause__ is None


def test_both_forms_of_a_login_are_one() -> None:
    assert docker_config.parse(text(NEW), "x") == auths(NEW)
    plain = {"auths": {"r.io": {"username": "u", "password": "p"}}}
    assert docker_config.parse(json.dumps(plain), "x") == plain["auths"]


@pytest.mark.parametrize(
    ("keys", "image", "found"),
    [
        (["nvcr.io"], "nvcr.io/nvidia/driver:1", "nvcr.io"),
        (["nvcr.io", "nvcr.io/nvidia"], "nvcr.io/nvidia/driver:1", "nvcr.io/nvidia"),
        (["nvcr.io/other"], "nvcr.io/nvidia/driver:1", ""),
        (["https://nvcr.io/v2/"], "nvcr.io/nvidia/driver@sha256:1", "https://nvcr.io/v2/"),
        (["*.example.com"], "r.example.com/a:1", "*.example.com"),
        (["*.example.com"], "a.r.example.com/a:1", ""),
        (["r.io:5000"], "r.io:5000/a:1", "r.io:5000"),
        (["[fd00::1]:5000"], "[fd00::1]:5000/a:1", "[fd00::1]:5000"),
        (["https://index.docker.io/v1/"], "busybox", "https://index.docker.io/v1/"),
        (["docker.io"], "org/tool:1", "docker.io"),
    ],
)
def test_the_longest_key_that_fits_an_image_counts(keys: list[str], image: str, found: str) -> None:
    assert docker_config.entry_of(dict.fromkeys(keys, LONG), image) == found


def test_every_form_of_the_password_is_secret_and_the_user_is_not() -> None:
    found = docker_config.secret_strings(auths(NEW))
    assert {NEW, login(NEW)["auth"], docker_config.data(auths(NEW))[".dockerconfigjson"]} <= found
    assert USER not in found
    plain = docker_config.secret_strings({"r.io": {"username": "eva", "password": NEW, "email": "e@x.org"}})
    assert NEW in plain
    assert not {"eva", "e@x.org"} & plain


@pytest.mark.parametrize("content", ["", "!", "W10=", "ew=="])
def test_a_live_secret_that_nobody_can_read_has_no_login(content: str) -> None:
    assert docker_config.read({".dockerconfigjson": content}) == {}
