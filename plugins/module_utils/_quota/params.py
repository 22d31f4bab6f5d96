# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""Parameters of the module gpu_quota."""

from __future__ import annotations

import typing as t

from .._frame.argspec import StateParams


class GpuQuotaParams(StateParams):
    """The options of gpu_quota. hard: limit for each resource, as in `spec.hard` of a ResourceQuota."""

    namespace: str
    name: str
    gpus: int | None
    claims: bool
    hard: dict[str, t.Any] | None
    create_namespace: bool
    prove: bool
