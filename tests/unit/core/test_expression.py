# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Expressions of users: truth and empty results as JMESPath defines them."""

from __future__ import annotations

import typing as t

import pytest

from ansible_collections.accelerators.openshift.plugins.module_utils._core.expression import Expression


@pytest.mark.parametrize(
    ("found", "holds"),
    [
        (0, True),
        ("no", True),
        ("", False),
        ([], False),
        ({}, False),
        (False, False),
        (None, False),
        (True, True),
    ],
)
def test_truth_is_jmespaths(found: t.Any, holds: bool) -> None:
    assert Expression("x", "a").holds({"a": found}) is holds


def test_a_function_over_nothing_finds_nothing() -> None:
    assert Expression("x", "length(status.pods) > `0`").ask({}) is None
