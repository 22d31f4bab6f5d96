# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Types of the options of operator_upgrade."""

from __future__ import annotations

import typing as t

from .._frame.argspec import BusyParams, LockParams, WaitParams


class OperatorEntry(t.TypedDict):
    """An operator to upgrade. to: a CSV or a version."""

    name: str
    channel: str | None
    to: str | None


class OperatorUpgradeParams(BusyParams, LockParams, WaitParams):
    """The options of operator_upgrade. grace: seconds for which a catalogue may be away."""

    operators: list[OperatorEntry] | None
    driver_change: t.Literal["ask", "pin", "allow"]
    allow_csvs: list[str]
    repair: bool
    grace: float
