# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The options of gpu_use."""

from __future__ import annotations

import typing as t

from ansible_collections.accelerators.openshift.plugins.module_utils._use.options import GpuUseParams


def params(**given: t.Any) -> GpuUseParams:
    plain: dict[str, t.Any] = {"wait": True, "wait_timeout": 60, "days": 7, "idle": 1, "url": None}
    return t.cast(GpuUseParams, plain | given)
