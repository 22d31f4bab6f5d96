# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Options of gpu_node_repair, and the wishes that are refused before anything is read."""

from __future__ import annotations

import typing as t

from .._core import references
from .._core.errors import AcceleratorError, InputError
from .._frame.argspec import LockParams, WaitParams
from .._machines.options import DrainParams, JoiningParams
from .._workload import chosen

AUTO: t.Final = "auto"
REBOOT: t.Final = "reboot"
REPLACE: t.Final = "replace"
RESET: t.Final = "reset"
# Ways to reboot a node.
HOST: t.Final = "bare_metal_host"
POD: t.Final = "pod"


class GpuNodeRepairParams(DrainParams, JoiningParams, LockParams, WaitParams):
    """The options of gpu_node_repair. namespace: of the Machine API. grace: seconds."""

    name: str
    repair: t.Literal["auto", "reboot", "replace", "reset"]
    replace: bool
    reboot_with: t.Literal["auto", "bare_metal_host", "pod"]
    reboot_image: str | None
    validation: dict[str, t.Any] | None
    grace: float
    remove_rejected: bool
    namespace: str


def check(params: GpuNodeRepairParams) -> None:
    """Raise InputError for options that cannot work, and REPAIR-RESET for a reset."""
    chosen.check(params["validation"] or {}, "gpu_repair_validation")
    references.check(
        params["reboot_image"], "reboot_image", "gpu_repair_reboot_image (module option reboot_image)"
    )
    if not params["wait"]:
        raise InputError(
            "INPUT-VALUE",
            "wait: a repair cannot go on without waiting for each of its steps.",
            "Leave wait out, and set gpu_wait_timeout (module option wait_timeout).",
        )
    if params["repair"] == RESET:
        raise AcceleratorError("REPAIR-RESET")
