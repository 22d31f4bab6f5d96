# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether an image is there: the cluster's answer and what it means, which images drivers need, and what follows from one that is missing."""

from __future__ import annotations

import typing as t

import pytest

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import NotReadyError
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.drivers import (
    image as driver_image,
    lookup,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.drivers.lookup import (
    MISSING,
    NOT_ASKED,
    REFUSED,
    THERE,
    UNREACHABLE,
    Answer,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._update import images
from ansible_collections.accelerators.openshift.plugins.module_utils._update.drivers import Target

Data = dict[str, t.Any]
KERNEL, NEXT = "5.14.0-570.12.1.el9_6.x86_64", "5.14.0-611.5.1.el9_7.x86_64"
RHCOS = "9.8.20260815-0"
NOT_FOUND = 'dockerimage.image.openshift.io "{}" not found'


def failure(reason: str, message: str) -> Data:
    return {"status": {"status": "Failure", "reason": reason, "message": message}}


INTERNAL = "Internal error occurred: "
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
    ({}, NOT_ASKED),
]


@pytest.mark.parametrize(
    ("entry", "verdict"), ANSWERS, ids=[f"{number}-{one[1]}" for number, one in enumerate(ANSWERS)]
)
def test_what_the_cluster_says_of_an_image(entry: Data, verdict: str) -> None:
    told = lookup.answers(["r.io/d:1"], {"status": {"images": [entry]}})["r.io/d:1"]
    assert (told.verdict, bool(told.words), bool(told.digest)) == (
        verdict,
        verdict != THERE,
        verdict == THERE,
    )
    assert INTERNAL not in told.words


def test_one_question_for_several_images_stores_nothing() -> None:
    asked = lookup.question(["r.io/a:1", "r.io/b@sha256:2"], "n")
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
    assert lookup.best(("a", "b"), known).verdict == expected


def node(
    name: str,
    kernel: str = KERNEL,
    system: str = "rhel",
    version: str = "9.6",
    gpu: bool = True,
    **labels: str,
) -> Data:
    feature = "feature.node.kubernetes.io/"
    marks = {
        f"{feature}kernel-version.full": kernel,
        f"{feature}system-os_release.ID": system,
        f"{feature}system-os_release.VERSION_ID": version,
    }
    return {
        "metadata": {
            "name": name,
            "labels": marks | labels | ({f"{feature}pci-10de.present": "true"} if gpu else {}),
        }
    }


DRIVER = {"usePrecompiled": True, "repository": "r.io/n", "image": "d", "version": "595"}


def test_what_nodes_need_now() -> None:
    live = [
        node("b", system="rhcos", version="4.18"),
        node("a"),
        node("c", gpu=False),
        node("d", kernel=""),
        node("e", system=""),
    ]
    found = driver_image.precompiled(DRIVER, live)
    assert [one.node for one in found] == ["a", "b"]
    assert found[0].images == (f"r.io/n/d:595-{KERNEL}-rhel9.6", f"r.io/n/d:595-{KERNEL}-rhel9")
    assert found[1].images == (f"r.io/n/d:595-{KERNEL}-rhcos4.18",)


@pytest.mark.parametrize(
    "driver", [{}, {"usePrecompiled": True}, DRIVER | {"version": "sha256:1"}, DRIVER | {"image": ""}]
)
def test_an_image_that_is_not_spelled_out_is_not_looked_up(driver: Data) -> None:
    assert driver_image.precompiled(driver, [node("a")]) == []


IMAGES = [
    (f"r.io/n/d:595-{KERNEL}-rhcos4.18", (4, 18), "", (f"r.io/n/d:595-{NEXT}-rhcos4.18",)),
    (
        f"r.io/n/d:595-{KERNEL}-rhcos4.18",
        (4, 19),
        RHCOS,
        (f"r.io/n/d:595-{NEXT}-rhel9.8", f"r.io/n/d:595-{NEXT}-rhel9"),
    ),
    (f"r.io/n/d:595-{KERNEL}-rhel9.6", (4, 22), RHCOS, (f"r.io/n/d:595-{NEXT}-rhel9.8",)),
    (f"r.io/n/d:595-{KERNEL}-rhel9", (4, 22), RHCOS, (f"r.io/n/d:595-{NEXT}-rhel9",)),
    ("r.io:5000/d:595.91.07-rhel9.6", (4, 22), RHCOS, ("r.io:5000/d:595.91.07-rhel9.8",)),
    ("r.io/doca:26.07-0-rhel9.6-amd64", (4, 22), RHCOS, ("r.io/doca:26.07-0-rhel9.8-amd64",)),
    ("r.io/d:595-rhel9.6", (4, 22), "", ()),
    ("r.io/d@sha256:0123", (4, 22), RHCOS, ()),
    ("r.io/d:595.91.07", (4, 22), RHCOS, ()),
    ("", (4, 22), RHCOS, ()),
]


@pytest.mark.parametrize(
    ("image", "release", "rhcos", "expected"), IMAGES, ids=[f"{one[0]}-{one[1][1]}" for one in IMAGES]
)
def test_the_image_of_another_release(
    image: str, release: tuple[int, int], rhcos: str, expected: tuple[str, ...]
) -> None:
    assert driver_image.for_release(image, KERNEL, NEXT, release, rhcos) == expected


def test_a_kernel_with_a_plus_is_written_as_in_its_label() -> None:
    (image,) = driver_image.for_release(
        f"r.io/d:595-{KERNEL}-rhcos4.18", KERNEL, "5.14.0-1.x86_64+rt", (4, 18), ""
    )
    assert image == "r.io/d:595-5.14.0-1.x86_64_rt-rhcos4.18"


@pytest.mark.parametrize(
    ("before", "after", "is_new"),
    [
        ({}, DRIVER, True),
        (DRIVER, DRIVER | {"upgradePolicy": {}}, False),
        (DRIVER, DRIVER | {"version": "600"}, True),
        (DRIVER, DRIVER | {"nodeSelector": {"pool": "b"}}, True),
        (DRIVER, DRIVER | {"usePrecompiled": False}, False),
    ],
)
def test_what_is_looked_up_is_what_changes(before: Data, after: Data, is_new: bool) -> None:
    assert driver_image.Change(before, after).is_new is is_new


def test_a_driver_for_all_the_rest_is_not_for_nodes_of_others() -> None:
    rest = driver_image.Change({}, DRIVER, ({"pool": "a"},))
    assert [
        one["metadata"]["name"] for one in filter(rest.is_for, [node("a", pool="a"), node("b", pool="b")])
    ] == ["b"]


def told(verdict: str, *needs: driver_image.Need) -> dict[str, Answer]:
    return {image: Answer(image, verdict, words="it says so") for need in needs for image in need.images}


def test_only_what_surely_is_missing_is_refused() -> None:
    mine, other = driver_image.precompiled(DRIVER, [node("a"), node("b", NEXT)])
    assert driver_image.judge([mine], told(THERE, mine), {"a"}) == []
    with pytest.raises(
        NotReadyError,
        match=f"Node a: there is no precompiled driver for kernel {KERNEL}: r.io/n/d:595-{KERNEL}-rhel9.6 or ",
    ) as caught:
        driver_image.judge([mine, other], told(MISSING, mine, other), {"a"})
    assert (caught.value.code, caught.value.evidence[0].endswith("it says so")) == (
        "GPU-DRV-PRECOMPILED",
        True,
    )
    (remark,) = driver_image.judge([mine, other], told(THERE, mine) | told(MISSING, other), {"a"})
    assert remark.startswith("Node b is in none of the pools")
    (unsure,) = driver_image.judge([mine, other], told(NOT_ASKED, mine, other), {"a", "b"})
    assert f"is not known ({NOT_ASKED}: it says so)" in unsure


JUDGED = [
    (THERE, "ok", "a is there"),
    (MISSING, "blocking", "no image for the kernel: a or b (words)"),
    (REFUSED, "unknown", "needed are a; not allowed: words"),
]


@pytest.mark.parametrize(("verdict", "expected", "text"), JUDGED)
def test_what_an_update_makes_of_it(verdict: str, expected: str, text: str) -> None:
    known = {
        name: Answer(
            name, verdict, "sha256:1" if verdict == THERE else "", "words" if verdict != THERE else ""
        )
        for name in "ab"
    }
    check = images.judged("image", [("a", "b")], known, "UPDATE-DRIVER", "the kernel")
    assert (check.verdict, check.message) == (expected, text)
    assert (verdict != THERE) or check.evidence == ("a is sha256:1",)


def nic(image: str, kernel: str = KERNEL) -> Data:
    selector = {"feature.node.kubernetes.io/kernel-version.full": kernel}
    return {"spec": {"template": {"spec": {"nodeSelector": selector, "containers": [{"image": image}]}}}}


def test_images_of_nic_drivers() -> None:
    target = Target("4.22.9", (4, 22), NEXT, RHCOS, None)
    built, made = "r.io/doca:26.07-rhel9.8-amd64", f"r.io/doca:26.07-{NEXT}-rhel9.8-amd64"
    assert images.of_nic_drivers([nic("r.io/doca:26.07-rhel9.6-amd64")], [], target) == [(built,)]
    assert images.of_nic_drivers([nic(f"r.io/doca:26.07-{KERNEL}-rhel9.6-amd64")], [], target) == [
        (made, built)
    ]
    forced = [{"spec": {"ofedDriver": {"forcePrecompiled": True}}}]
    assert images.of_nic_drivers([nic(f"r.io/doca:26.07-{KERNEL}-rhel9.6-amd64")], forced, target) == [
        (made,)
    ]
    assert images.of_nic_drivers([nic("r.io/doca@sha256:1")], [], target) == []


MAPPED = {"metadata": {"name": "m", "namespace": "n"}, "spec": {"moduleLoader": {"container": {}}}}


@pytest.mark.parametrize(("kernel", "expected"), [(NEXT, (f"r.io/m:{NEXT}",)), ("", ())])
def test_the_image_of_a_module(kernel: str, expected: tuple[str, ...]) -> None:
    mapping = {"regexp": "^5.*$", "containerImage": "r.io/m:${KERNEL_FULL_VERSION}"}
    module = {**MAPPED, "spec": {"moduleLoader": {"container": {"kernelMappings": [mapping]}}}}
    assert images.of_module(module, Target("4.22.9", (4, 22), kernel, RHCOS, None)) == expected
