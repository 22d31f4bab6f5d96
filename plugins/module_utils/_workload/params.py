# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""Parameters of the module gpu_workload."""

from __future__ import annotations

import typing as t

from .._frame.argspec import StateParams


class GpuWorkloadParams(StateParams):
    """The options of gpu_workload. resources: number of devices of each resource. hold, grace: seconds."""

    namespace: str
    node_selector: dict[str, str] | None
    tolerations: list[dict[str, t.Any]]
    resources: dict[str, t.Any] | None
    claims: bool
    benchmark: t.Literal["matmul", "nvidia_smi", "vectoradd"]
    image: str | None
    hold: int
    force: bool
    min_nodes: int
    grace: float
