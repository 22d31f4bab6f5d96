# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Look-ups of images: what the registries have, and how they refuse."""

from __future__ import annotations

import typing as t

import pytest

from openshift_sandbox.programs import admission
from openshift_sandbox.scenario import Scenario
from openshift_sandbox.stand_ins.api_server import image_imports

KERNEL = "5.14.0-611.5.1.el9_7.x86_64"
DRIVER, MODULE, PLAIN = f"r.io/n/d:595-{KERNEL}-rhel9.8", "r.io:5000/m:1", "r.io/n/d@sha256:12"


def told(*troubles: dict[str, t.Any]) -> list[tuple[str, str]]:
    spec = {
        "import": False,
        "images": [{"from": {"kind": "DockerImage", "name": name}} for name in (DRIVER, MODULE, PLAIN)],
    }
    found = image_imports.status(spec, Scenario("s", troubles=list(troubles)), {})["images"]
    return [(one["tag"], one["status"].get("reason") or one["status"]["status"]) for one in found]


TAG = DRIVER.rpartition(":")[2]
THERE = [(TAG, "Success"), ("1", "Success"), ("", "Success")]
CASES: list[tuple[dict[str, t.Any], list[str]]] = [
    ({"type": "driver_image_missing"}, ["NotFound", "Success", "Success"]),
    ({"type": "driver_image_missing", "kernel": KERNEL}, ["NotFound", "Success", "Success"]),
    ({"type": "driver_image_missing", "kernel": "5.14.0-1"}, ["Success", "Success", "Success"]),
    ({"type": "kmm_image_missing", "image": MODULE}, ["Success", "NotFound", "Success"]),
    ({"type": "registry_image_missing", "image": PLAIN}, ["Success", "Success", "NotFound"]),
    ({"type": "registry_closed", "host": "r.io"}, ["Unauthorized", "Success", "Unauthorized"]),
    (
        {"type": "registry_closed", "host": "r.io:5000", "reason": "InternalError", "text": "EOF"},
        ["Success", "InternalError", "Success"],
    ),
]


@pytest.mark.parametrize(("trouble", "reasons"), CASES)
def test_what_registries_have(trouble: dict[str, t.Any], reasons: list[str]) -> None:
    assert told() == THERE
    assert [reason for _tag, reason in told(trouble)] == reasons


def test_texts_are_those_of_the_real_server() -> None:
    closed = {"type": "registry_closed", "reason": "InternalError", "text": "EOF"}
    spec = {"import": False, "images": [{"from": {"kind": "DockerImage", "name": PLAIN}}]}
    (internal,) = image_imports.status(spec, Scenario("s", troubles=[closed]), {})["images"]
    assert internal["status"] == {
        "metadata": {},
        "status": "Failure",
        "reason": "InternalError",
        "message": "Internal error occurred: EOF",
        "code": 500,
    }
    (there,) = image_imports.status(spec, Scenario("s"), {})["images"]
    assert there["image"]["dockerImageReference"] == f"r.io/n/d@{there['image']['metadata']['name']}"


@pytest.mark.parametrize(
    ("spec", "dry_run", "refused"),
    [({"import": False}, True, False), ({"import": True}, True, True), ({"import": False}, False, True)],
)
def test_nothing_is_ever_imported(spec: dict[str, t.Any], dry_run: bool, refused: bool) -> None:
    assert bool(image_imports.refusal(spec, dry_run)) is refused


def test_the_api_server_does_not_go_on_without_the_answer() -> None:
    (webhook,) = admission.look_ups("https://127.0.0.1:1", b"ca")["webhooks"]
    assert (webhook["failurePolicy"], webhook["sideEffects"], webhook["clientConfig"]["url"]) == (
        "Fail",
        "None",
        "https://127.0.0.1:1/images",
    )


def test_a_registry_without_a_route_is_asked_only_where_it_has_no_mirror() -> None:
    spec = {
        "import": False,
        "images": [{"from": {"name": "r.io/n/d:1"}}, {"from": {"name": "r.io/n/d@sha256:1"}}],
    }
    cut_off = Scenario("s", troubles=[{"type": "registry_unreachable", "host": "r.io"}])
    tagged, digest = image_imports.status(spec, cut_off, {":": set(), "@": {"r.io/n"}})["images"]
    assert tagged["status"]["reason"] == "InternalError"
    assert "lookup r.io: no such host" in tagged["status"]["message"]
    assert digest["status"]["status"] == "Success"
