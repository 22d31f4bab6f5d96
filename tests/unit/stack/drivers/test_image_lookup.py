# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Lookup of images: the question to the cluster, its answer, and what that means."""

from __future__ import annotations

import pytest

from ansible_collections.accelerators.openshift.plugins.module_utils._core.objects import KubeObject
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.drivers import image
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.drivers.image import (
    MISSING,
    NOT_ASKED,
    REFUSED,
    THERE,
    UNREACHABLE,
    Answer,
)

NOT_FOUND = 'dockerimage.image.openshift.io "{}" not found'


def failure(reason: str, message: str) -> KubeObject:
    return {"status": {"status": "Failure", "reason": reason, "message": message}}


INTERNAL = "Internal error occurred: "
NO_ROUTE = 'r.io/d:1: Get "https://r.io/v2/": dial tcp: lookup r.io on 192.0.2.53:53: no such host'
OTHER_NAME = 'r.io/d:1: Get "https://r.io/v2/": tls: x509: certificate is valid for proxy, not r.io'
NO_ROUTE_6 = 'r.io/d:1: Get "https://r.io/v2/": dial tcp [2001:db8::5]:443: connect: no route to host'


ANSWERS = [
    ({"status": {"status": "Success"}, "image": {"metadata": {"name": "sha256:1"}}}, THERE),
    (failure("NotFound", NOT_FOUND.format("r.io/d:1")), MISSING),
    (failure("Unauthorized", 'you may not have access to the container image "r.io/d:1"'), REFUSED),
    (failure("Forbidden", 'forbidden: "" is forbidden: registry r.io blocked'), REFUSED),
    (
        failure("InternalError", f"{INTERNAL}r.io/d:1: name unknown: repository name not known to registry"),
        MISSING,
    ),
    (
        failure("InternalError", f"{INTERNAL}r.io/d:1: denied: requested access to the resource is denied"),
        REFUSED,
    ),
    (
        failure(
            "InternalError",
            f'{INTERNAL}r.io/d:1: Get "https://r.io/v2/": dial tcp 192.0.2.1:443: i/o timeout',
        ),
        UNREACHABLE,
    ),
    (failure("InternalError", f"{INTERNAL}r.io/d:1: toomanyrequests: rate exceeded"), UNREACHABLE),
    (
        failure(
            "InternalError", f"{INTERNAL}[{NOT_FOUND.format('m.io/d:1')}, {NOT_FOUND.format('r.io/d:1')}]"
        ),
        MISSING,
    ),
    (
        failure(
            "InternalError",
            f"{INTERNAL}[m.io/d:1: name unknown: no such repository, {NOT_FOUND.format('r.io/d:1')}]",
        ),
        MISSING,
    ),
    (
        failure(
            "InternalError",
            f'{INTERNAL}[m.io/d:1: Get "https://m.io/v2/": EOF, {NOT_FOUND.format("r.io/d:1")}]',
        ),
        UNREACHABLE,
    ),
    (failure("InternalError", f"{INTERNAL}[{NOT_FOUND.format('m.io/d:1')}, {NO_ROUTE}]"), MISSING),
    (failure("InternalError", f"{INTERNAL}[m.io/d:1: toomanyrequests: slow down, {NO_ROUTE}]"), UNREACHABLE),
    (failure("InternalError", f'{INTERNAL}[you may not have access to "m.io/d:1", {NO_ROUTE}]'), REFUSED),
    (failure("InternalError", f"{INTERNAL}[{NOT_FOUND.format('m.io/d:1')}, {NO_ROUTE_6}]"), MISSING),
    (failure("InternalError", f"{INTERNAL}[{NOT_FOUND.format('m.io/d:1')}, {OTHER_NAME}]"), MISSING),
    (
        failure("InternalError", f"{INTERNAL}[[fd00::1]:5000/d:1: manifest unknown: gone, {NO_ROUTE}]"),
        MISSING,
    ),
    (
        failure(
            "InternalError", f'{INTERNAL}[incorrect username or password for image "m.io/d:1", {NO_ROUTE}]'
        ),
        REFUSED,
    ),
    ({}, NOT_ASKED),
]


@pytest.mark.parametrize(
    ("entry", "verdict"), ANSWERS, ids=[f"{number}-{one[1]}" for number, one in enumerate(ANSWERS)]
)
def test_what_the_cluster_says_of_an_image(entry: KubeObject, verdict: str) -> None:
    told = image.lookup_answers(["r.io/d:1"], {"status": {"images": [entry]}})["r.io/d:1"]
    assert (told.verdict, bool(told.words), bool(told.digest)) == (
        verdict,
        verdict != THERE,
        verdict == THERE,
    )
    assert INTERNAL not in told.words


def test_one_question_for_several_images_stores_nothing() -> None:
    asked = image.lookup_question(["r.io/a:1", "r.io/b@sha256:2"], "n")
    assert (asked["kind"], asked["metadata"]["namespace"], asked["spec"]["import"]) == (
        "ImageStreamImport",
        "n",
        False,
    )
    assert [one["from"]["name"] for one in asked["spec"]["images"]] == ["r.io/a:1", "r.io/b@sha256:2"]
    assert all("to" not in one for one in asked["spec"]["images"])


@pytest.mark.parametrize(
    ("verdicts", "expected"),
    [
        ((MISSING, THERE), THERE),
        ((MISSING, MISSING), MISSING),
        ((MISSING, REFUSED), REFUSED),
        ((UNREACHABLE, THERE), THERE),
        ((MISSING,), NOT_ASKED),
    ],
)
def test_of_several_names_one_is_enough(verdicts: tuple[str, ...], expected: str) -> None:
    known = {name: Answer(name, verdict) for name, verdict in zip("ab", verdicts, strict=False)}
    assert image.best(("a", "b"), known).verdict == expected


@pytest.mark.parametrize(
    ("words", "mirror"),
    [
        (NOT_FOUND.format("m.io:8443/nvcr/nvidia/driver:580-rhel9"), "m.io:8443/nvcr"),
        (f"[m.io/nvidia/driver:580-rhel9: manifest unknown: gone, {NO_ROUTE}]", "m.io"),
        (NOT_FOUND.format("m.io/ours/driver:580-rhel9"), "m.io"),
        (NOT_FOUND.format("m.io/nvcr/nvidia/driver:580-rhel9.8"), "REGISTRY"),
        (NOT_FOUND.format("nvcr.io/nvidia/driver:580-rhel9"), "REGISTRY"),
        ("driver_images does not have it", "REGISTRY"),
    ],
)
def test_the_words_name_the_mirror_that_lacks_a_tag(words: str, mirror: str) -> None:
    assert image.mirror_of(Answer("nvcr.io/nvidia/driver:580-rhel9", MISSING, words=words)) == mirror
