# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Releases in a version of RHCOS, and the suffix of a driver image."""

from __future__ import annotations

import pytest

from ansible_collections.accelerators.openshift.plugins.module_utils._nodes import system


@pytest.mark.parametrize(
    ("image", "expected"),
    [
        ("9.8.20260801-0", ("9.8", "")),
        ("415.92.202402130021-0", ("9.2", "4.15")),
        ("418.94.202501010000-0", ("9.4", "4.18")),
        ("", ("", "")),
        ("42", ("", "")),
    ],
)
def test_releases_in_a_version_of_rhcos(image: str, expected: tuple[str, str]) -> None:
    assert system.releases(image) == expected


SUFFIXES = [
    ((4, 18), "", "rhcos4.17", ["rhcos4.18"]),
    ((4, 19), "9.6.20260101-0", "rhcos4.18", ["rhel9.6", "rhel9"]),
    ((5, 0), "9.8.20260801-0", "rhel9.6", ["rhel9.8"]),
    ((5, 0), "9.8.20260801-0", "rhel9", ["rhel9"]),
    ((4, 22), "", "rhel9.6", []),
]


@pytest.mark.parametrize(("release", "rhcos", "now", "suffixes"), SUFFIXES)
def test_the_suffix_of_a_driver_image(
    release: tuple[int, int], rhcos: str, now: str, suffixes: list[str]
) -> None:
    assert system.suffixes_of_release(release, rhcos, now) == suffixes
