# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Releases in a version of RHCOS."""

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
