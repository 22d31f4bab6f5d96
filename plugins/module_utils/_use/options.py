# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""The options of gpu_use."""

from __future__ import annotations

from .._core.errors import InputError
from .._frame.argspec import WaitParams
from .._monitoring.querier import check_url

MOST_DAYS = 90


class GpuUseParams(WaitParams):
    """The options of gpu_use. days: how far back. idle: percent of use below which a GPU counts as idle."""

    days: int
    idle: int
    url: str | None


def check(params: GpuUseParams) -> None:
    """Raise InputError with the path of an option that cannot be used."""
    for name, value, most in (("days", params["days"], MOST_DAYS), ("idle", params["idle"], 100)):
        if not 1 <= value <= most:
            message = f"{name} is {value}."
            raise InputError("INPUT-VALUE", message, f"Set gpu_use_{name} to a number from 1 to {most}.")
    if params["url"]:
        check_url(params["url"])
