# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Images are looked up in one dry run, and whoever cannot ask gets an answer too."""

from __future__ import annotations

import pytest
from unit.engine import FakeClock, api_on
from unit.fake_server import Answer, FakeServer, status

from ansible_collections.accelerators.openshift.plugins.module_utils._stack.drivers.steps import (
    PATIENCE,
    look_up,
)

PATH = "/apis/image.openshift.io/v1/namespaces/n/imagestreamimports"
NO_ROLE = (
    'imagestreamimports.image.openshift.io is forbidden: User "u" cannot create resource "imagestreamimports"'
)
FOUND = {
    "kind": "ImageStreamImport",
    "status": {
        "images": [{"status": {"status": "Success"}, "image": {"metadata": {"name": "sha256:1"}}}] * 2
    },
}


def test_several_images_are_one_dry_run() -> None:
    server = FakeServer("ImageStreamImport")
    server.faults = [Answer(503, "busy"), Answer(201, FOUND)]
    found = look_up(api_on(server), ["r.io/b:1", "r.io/a:1", "r.io/b:1"], "n")
    assert {name: (one.verdict, one.digest) for name, one in found.items()} == {
        "r.io/a:1": ("there", "sha256:1"),
        "r.io/b:1": ("there", "sha256:1"),
    }
    # Sent again like any question.
    assert [(method, path, query["dryRun"]) for method, path, query in server.requests] == [
        ("POST", PATH, "All")
    ] * 2
    assert server.objects == {}


def test_no_image_costs_nothing() -> None:
    server = FakeServer("ImageStreamImport")
    assert (look_up(api_on(server), [], "n"), server.requests) == ({}, [])


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (
            status(403, "Forbidden", NO_ROLE),
            "lacks the verb create on imagestreamimports.image.openshift.io in namespace n",
        ),
        (status(403, "Forbidden", "not allowed by policy"), "not allowed by policy"),
        (status(404, "NotFound", 'namespaces "n" not found', "n"), 'namespaces "n" not found'),
        (
            status(422, "Invalid", 'registry "r.io" not allowed by whitelist'),
            'registry "r.io" not allowed by whitelist',
        ),
        (Answer(404, "404 page not found"), "no API that looks images up"),
    ],
)
def test_whoever_cannot_ask_knows_nothing(answer: Answer, words: str) -> None:
    server = FakeServer("ImageStreamImport")
    server.faults = [answer]
    (told,) = look_up(api_on(server), ["r.io/a:1"], "n").values()
    assert (told.verdict, words in told.words) == ("not asked", True)


def test_a_registry_that_hangs_does_not_hold_the_task_up() -> None:
    server, clock = FakeServer("ImageStreamImport"), FakeClock()
    server.faults = [Answer(504, "timeout")] * 500
    (told,) = look_up(api_on(server, clock), ["r.io/a:1"], "n").values()
    assert told.verdict == "not asked"
    assert sum(clock.slept) <= PATIENCE + 2
