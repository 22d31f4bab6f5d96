# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""The options of gpu_diagnose."""

from __future__ import annotations

from .._core.errors import InputError
from .._frame.argspec import WaitParams
from .._nodes.pool_nodes import check_pools
from .._stack.params import StackPool


class GpuDiagnoseParams(WaitParams):
    """The options of gpu_diagnose. pools: as gpu_plan returns them. pod: C(namespace/name)."""

    pools: list[StackPool] | None
    namespace: str | None
    pod: str


def check(params: GpuDiagnoseParams) -> None:
    """Raise InputError for an option that cannot be used."""
    check_pools(params["pools"] or [])
    if params["pod"] and len([part for part in params["pod"].split("/") if part]) != 2:
        message = f"pod is {params['pod']}."
        remedy = "Set gpu_pod to namespace and name, such as team-a/train-0."
        raise InputError("INPUT-VALUE", message, remedy)
