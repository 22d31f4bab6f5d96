# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Images of precompiled drivers: which ones nodes need, and what a missing one means."""

from __future__ import annotations

import pytest

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import NotReadyError
from ansible_collections.accelerators.openshift.plugins.module_utils._core.objects import KubeObject
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.drivers import (
    image as driver_image,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.drivers.image import (
    MISSING,
    NOT_ASKED,
    THERE,
    Answer,
)

OLD_KERNEL = "5.14.0-570.12.1.el9_6.x86_64"
NEW_KERNEL = "5.14.0-611.5.1.el9_7.x86_64"
NEW_RHCOS = "9.8.20260815-0"


def node(
    name: str,
    kernel: str = OLD_KERNEL,
    system: str = "rhel",
    version: str = "9.6",
    gpu: bool = True,
    **labels: str,
) -> KubeObject:
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
    assert found[0].images == (f"r.io/n/d:595-{OLD_KERNEL}-rhel9.6", f"r.io/n/d:595-{OLD_KERNEL}-rhel9")
    assert found[1].images == (f"r.io/n/d:595-{OLD_KERNEL}-rhcos4.18",)


@pytest.mark.parametrize(
    "driver", [{}, {"usePrecompiled": True}, DRIVER | {"version": "sha256:1"}, DRIVER | {"image": ""}]
)
def test_an_image_that_is_not_spelled_out_is_not_looked_up(driver: KubeObject) -> None:
    assert driver_image.precompiled(driver, [node("a")]) == []


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
def test_what_is_looked_up_is_what_changes(before: KubeObject, after: KubeObject, is_new: bool) -> None:
    assert driver_image.Change(before, after).is_new is is_new


def test_a_driver_for_all_the_rest_is_not_for_nodes_of_others() -> None:
    rest = driver_image.Change({}, DRIVER, ({"pool": "a"},))
    assert [
        one["metadata"]["name"] for one in filter(rest.is_for, [node("a", pool="a"), node("b", pool="b")])
    ] == ["b"]


def told(verdict: str, *needs: driver_image.Need) -> dict[str, Answer]:
    return {image: Answer(image, verdict, words="it says so") for need in needs for image in need.images}


def test_only_what_surely_is_missing_is_refused() -> None:
    mine, other = driver_image.precompiled(DRIVER, [node("a"), node("b", NEW_KERNEL)])
    assert driver_image.judge([mine], told(THERE, mine), {"a"}) == []
    with pytest.raises(
        NotReadyError,
        match=f"Node a: there is no precompiled driver for kernel {OLD_KERNEL}: "
        f"r.io/n/d:595-{OLD_KERNEL}-rhel9.6 or ",
    ) as caught:
        driver_image.judge([mine, other], told(MISSING, mine, other), {"a"})
    assert (caught.value.code, caught.value.evidence[0].endswith("it says so")) == (
        "GPU-DRV-PRECOMPILED",
        True,
    )
    (remark,) = driver_image.judge([mine, other], told(THERE, mine) | told(MISSING, other), {"a"})
    assert remark.startswith("Node b is in none of the pools")
    (unsure,) = driver_image.judge([mine, other], told(NOT_ASKED, mine, other), {"a", "b"})
    assert f"It is not known whether these precompiled drivers exist ({NOT_ASKED}: it says so)" in unsure


@pytest.mark.parametrize(
    ("operator", "own"),
    [((26, 3), ("rhel9.8",)), ((26, 7), ("rhel9",)), ((27, 1), ("rhel9",)), (None, ("rhel9.8", "rhel9"))],
)
def test_the_release_of_the_operator_chooses_the_form(
    operator: tuple[int, int] | None, own: tuple[str, ...]
) -> None:
    assert driver_image.taken(("rhel9.8", "rhel9"), operator) == own
    assert driver_image.taken(("rhcos4.18",), operator) == ("rhcos4.18",)
