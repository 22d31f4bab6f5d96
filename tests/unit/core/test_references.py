# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""References of images that a registry can have, and those that none can."""

from __future__ import annotations

import pytest

from ansible_collections.accelerators.openshift.plugins.module_utils._core import references

DIGEST = "sha256:" + "0" * 64


@pytest.mark.parametrize(
    ("repository", "is_valid"),
    [
        ("nvcr.io/nvidia", True),
        ("mirror.example.com:5000/gpu/nvidia", True),
        ("localhost:5000", True),
        ("[fd00::1]:5000/gpu", True),
        ("fd00::1/gpu", False),
        ("https://nvcr.io/nvidia", False),
        ("docker://nvcr.io/nvidia", False),
        ("nvcr.io/nvidia/", False),
        ("nvcr.io/NVIDIA", False),
        ("nvcr.io/nvidia:1", False),
        ("nvcr.io nvidia", False),
    ],
)
def test_a_repository(repository: str, *, is_valid: bool) -> None:
    assert (references.repository_fault(repository) == "") is is_valid


@pytest.mark.parametrize(
    ("image", "is_valid"),
    [
        *(("driver", True), ("cloud-native/k8s_x.y", True), ("driver:595", False), ("/driver", False)),
        *((f"driver@{DIGEST}", False), ("Driver", False), ("foo bar", False), ("driver/", False)),
    ],
)
def test_an_image(image: str, *, is_valid: bool) -> None:
    assert (references.image_fault(image) == "") is is_valid


@pytest.mark.parametrize(
    ("version", "of_driver", "of_others"),
    [
        ("595.91.07", True, True),
        ("595", True, True),
        (DIGEST, True, True),
        ("v595.91.07", False, True),
        ("v0.20.1-ubi9", False, True),
        ("sha256:0", False, False),
        (f"{DIGEST}0", False, False),
        ("595 ", False, False),
        (":595", False, False),
        ("a" * 129, False, False),
    ],
)
def test_a_version(version: str, *, of_driver: bool, of_others: bool) -> None:
    assert (references.driver_version_fault(version) == "") is of_driver
    assert (references.version_fault(version) == "") is of_others


@pytest.mark.parametrize(
    ("whole", "is_valid"),
    [
        ("pause", True),
        ("registry.k8s.io/pause:3.10", True),
        (f"nvcr.io/nvidia/cuda:12@{DIGEST}", True),
        ("image-registry.openshift-image-registry.svc:5000/ns/app:latest", True),
        ("https://nvcr.io/nvidia/cuda:12", False),
        ("foo bar", False),
        ("nvcr.io/nvidia/cuda:", False),
    ],
)
def test_a_whole_reference(whole: str, *, is_valid: bool) -> None:
    assert (references.reference_fault(whole) == "") is is_valid
