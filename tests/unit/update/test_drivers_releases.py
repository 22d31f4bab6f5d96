# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The driver images of a release of OpenShift that no node runs yet."""

from __future__ import annotations

import pytest
from unit.update.builders import NEW_KERNEL, NEW_RHCOS, OLD_KERNEL, target

from ansible_collections.accelerators.openshift.plugins.module_utils._update import drivers

SUFFIXES = [
    ((4, 18), "", "rhcos4.17", ["rhcos4.18"]),
    ((4, 19), "9.6.20260101-0", "rhcos4.18", ["rhel9.6", "rhel9"]),
    ((5, 0), "9.8.20260801-0", "rhel9.6", ["rhel9.8"]),
    ((5, 0), "9.8.20260801-0", "rhel9", ["rhel9"]),
    ((4, 22), "", "rhel9.6", []),
]

IMAGES = [
    (f"r.io/n/d:595-{OLD_KERNEL}-rhcos4.18", (4, 18), "", (f"r.io/n/d:595-{NEW_KERNEL}-rhcos4.18",)),
    (
        f"r.io/n/d:595-{OLD_KERNEL}-rhcos4.18",
        (4, 19),
        NEW_RHCOS,
        (f"r.io/n/d:595-{NEW_KERNEL}-rhel9.8", f"r.io/n/d:595-{NEW_KERNEL}-rhel9"),
    ),
    (f"r.io/n/d:595-{OLD_KERNEL}-rhel9.6", (4, 22), NEW_RHCOS, (f"r.io/n/d:595-{NEW_KERNEL}-rhel9.8",)),
    (f"r.io/n/d:595-{OLD_KERNEL}-rhel9", (4, 22), NEW_RHCOS, (f"r.io/n/d:595-{NEW_KERNEL}-rhel9",)),
    ("r.io:5000/d:595.91.07-rhel9.6", (4, 22), NEW_RHCOS, ("r.io:5000/d:595.91.07-rhel9.8",)),
    ("r.io/doca:26.07-0-rhel9.6-amd64", (4, 22), NEW_RHCOS, ("r.io/doca:26.07-0-rhel9.8-amd64",)),
    ("r.io/d:595-rhel9.6", (4, 22), "", ()),
    ("r.io/d@sha256:0123", (4, 22), NEW_RHCOS, ()),
    ("r.io/d:595.91.07", (4, 22), NEW_RHCOS, ()),
    ("", (4, 22), NEW_RHCOS, ()),
]


@pytest.mark.parametrize(
    ("image", "release", "rhcos", "expected"), IMAGES, ids=[f"{one[0]}-{one[1][1]}" for one in IMAGES]
)
def test_the_image_of_another_release(
    image: str, release: tuple[int, int], rhcos: str, expected: tuple[str, ...]
) -> None:
    wanted = target(NEW_KERNEL, rhcos, version=f"{release[0]}.{release[1]}.0")
    assert drivers.for_release(image, OLD_KERNEL, wanted) == expected


def test_a_kernel_with_a_plus_is_written_as_in_its_label() -> None:
    wanted = target("5.14.0-1.x86_64+rt", version="4.18.0")
    (image,) = drivers.for_release(f"r.io/d:595-{OLD_KERNEL}-rhcos4.18", OLD_KERNEL, wanted)
    assert image == "r.io/d:595-5.14.0-1.x86_64_rt-rhcos4.18"


@pytest.mark.parametrize(("release", "rhcos", "now", "suffixes"), SUFFIXES)
def test_the_suffix_of_a_driver_image(
    release: tuple[int, int], rhcos: str, now: str, suffixes: list[str]
) -> None:
    assert drivers.suffixes_of_release(release, rhcos, now) == suffixes


@pytest.mark.parametrize(
    ("operator", "rhcos", "suffixes"),
    [
        ((26, 3), "9.6.20260101-0", ["rhel9.6"]),
        ((26, 3), "", []),
        ((26, 7), "9.6.20260101-0", ["rhel9"]),
        ((26, 7), "", ["rhel9"]),
    ],
)
def test_the_release_of_the_operator_decides_about_the_suffix(
    operator: tuple[int, int], rhcos: str, suffixes: list[str]
) -> None:
    assert drivers.suffixes_of_release((4, 19), rhcos, "rhcos4.18", operator) == suffixes
    assert drivers.suffixes_of_release((4, 18), rhcos, "rhcos4.17", operator) == ["rhcos4.18"]
    assert drivers.suffixes_of_release((5, 0), "", "rhel9", operator) == []
