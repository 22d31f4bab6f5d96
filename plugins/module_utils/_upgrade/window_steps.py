# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Wait for the hours in which a wave may begin, or end the task outside of them."""

from __future__ import annotations

import datetime
import typing as t

from .._frame.lease import Lease
from .._kube.client import Api
from .options import GpuDriverUpgradeParams, Window

# Seconds between two looks at the time of day.
_LOOK: t.Final = 30.0


def is_closed(params: GpuDriverUpgradeParams) -> bool:
    """Return whether no wave may begin now."""
    window = Window.of(params.window)
    return window is not None and not window.is_open(datetime.datetime.now(datetime.UTC))


def may_begin(api: Api, params: GpuDriverUpgradeParams) -> bool:
    """Return whether a wave may begin now; with outside_window wait, wait for the window."""
    window = Window.of(params.window)
    while window is not None and not window.is_open(now := datetime.datetime.now(datetime.UTC)):
        opens = window.opens(now)
        if params.outside_window == "end" or not api.wait_wanted:
            api.warn(f"No wave begins before {opens:%H:%M} UTC. The next run goes on.")
            return False
        api.progress(f"the window opens at {opens:%H:%M} UTC")
        if isinstance(api.guard, Lease):
            # Other runs may work meanwhile.
            api.guard.let_go()
        seconds = (opens - now).total_seconds()
        api.deadline.grow(api.deadline.elapsed() + seconds + params.wait_timeout)
        api.deadline.sleep(min(_LOOK, seconds))
    return True
