# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""Parameters of the module preflight_update."""

from __future__ import annotations

import typing as t

from .._frame.argspec import WaitParams


class PreflightUpdateParams(WaitParams):
    """The options of preflight_update. version, kernel, rhcos: of the release to update to."""

    version: str
    kernel: str | None
    rhcos: str | None
    driver_images: list[str] | None
    namespaces: list[str]
    gpu_namespace: str
    fail_on: t.Literal["blocking", "warning", "unknown", "never"]
