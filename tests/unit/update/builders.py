# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Builders for unit tests of an update: the target, and a check by its name."""

from __future__ import annotations

import typing as t

from ansible_collections.accelerators.openshift.plugins.module_utils._update import release
from ansible_collections.accelerators.openshift.plugins.module_utils._update.check import Check
from ansible_collections.accelerators.openshift.plugins.module_utils._update.release import Target

OLD_KERNEL: t.Final = "5.14.0-570.12.1.el9_6.x86_64"
NEW_KERNEL: t.Final = "5.14.0-611.5.1.el9_7.x86_64"
NEW_RHCOS: t.Final = "9.8.20260815-0"


def named(checks: t.Iterable[Check], name: str) -> Check:
    """Return the check with this name."""
    return next(check for check in checks if check.name == name)


def target(
    kernel: str = "",
    rhcos: str = "",
    images: t.Collection[str] | None = None,
    version: str = "4.22.9",
    operator: release.Release | None = None,
) -> Target:
    """Return a target. images: driver images that the user lists; None without a list."""
    known = None if images is None else frozenset(images)
    return Target(version, release.release(version), kernel, rhcos, known, operator)
