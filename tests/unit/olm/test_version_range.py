# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Ranges of versions in the annotation olm.skipRange."""

from __future__ import annotations

import pytest

from ansible_collections.accelerators.openshift.plugins.module_utils._olm import version_range


@pytest.mark.parametrize(
    ("text", "version", "is_in"),
    [
        (">=1.9.0 <26.7.0", "26.3.0", True),
        (">=1.9.0 <26.7.0", "26.7.0", False),
        (">=1.9.0 <26.7.0", "1.8.2", False),
        (">=4.9.0, <4.22.0-202608111344", "4.22.0-202607141007", True),
        ("<1.0.0 || >=2.0.0 <3.0.0", "2.1.0", True),
        ("<1.0.0 || >=2.0.0 <3.0.0", "1.1.0", False),
        ("!=1.1.0 >1.0.0", "1.1.0", False),
        ("= 1.1.0", "1.1.0", True),
        ("1.1.0", "1.1.0", True),
        (">1.0.0 <=1.1.0", "1.1.0", True),
        ("", "1.1.0", False),
        ("whatever", "1.1.0", False),
        # By semantic versioning, as OLM reads it, a suffix makes a version that comes before its release.
        (">=1.9.0 <26.7.0", "26.7.0-1", True),
        (">=26.7.0", "26.7.0-1", False),
        (">=4.9.0 <4.22.0-202608111344", "4.22.0", False),
        ("<26.7.0-2", "26.7.0-1", True),
        ("<26.7.0-10", "26.7.0-2", True),
        ("<26.7.0-rc.1", "26.7.0-9", True),
        ("<26.7.0-rc.1", "26.7.0-rc", True),
        ("=26.7.0", "26.7.0+build", True),
    ],
)
def test_a_version_is_in_a_range(text: str, version: str, is_in: bool) -> None:
    assert version_range.holds(text, version) is is_in
