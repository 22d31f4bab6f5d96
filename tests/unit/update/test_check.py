# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks: what the task fails with, and the table."""

from __future__ import annotations

import pytest

from ansible_collections.accelerators.openshift.plugins.module_utils._update.check import (
    Check,
    refusal,
    table,
)

CHECKS = [
    Check("a", "ok", "fine"),
    Check("b", "warning", "hm", "Do x.", "UPDATE-NODE"),
    Check("c", "blocking", "no", "Do y.", "UPDATE-POOL"),
]


@pytest.mark.parametrize(
    ("checks", "fail_on", "code"),
    [
        (CHECKS, "blocking", "UPDATE-POOL"),
        (CHECKS, "unknown", "UPDATE-POOL"),
        (CHECKS, "never", None),
        (CHECKS[:2], "blocking", None),
        (CHECKS[:2], "warning", "UPDATE-NODE"),
        (CHECKS[:1], "unknown", None),
    ],
)
def test_what_the_task_fails_with(checks: list[Check], fail_on: str, code: str | None) -> None:
    error = refusal(checks, fail_on)
    assert (error and error.code) == code
    if error and len(checks) == 3 and fail_on == "unknown":
        assert error.message == "c: no (1 more: b)"
        assert error.evidence == ["b: warning: hm", "c: blocking: no"]
        assert error.layer == "update"


def test_the_table() -> None:
    assert table(CHECKS) == [
        "CHECK  VERDICT   WHAT",
        "a      ok        fine",
        "b      warning   hm",
        "                 -> Do x.",
        "c      blocking  no",
        "                 -> Do y.",
    ]
