# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Waiting in tests for what happens by itself, on a machine that may be busy."""

from __future__ import annotations

import time
import typing as t

SECONDS: t.Final = 60.0
# What comes late need not be seen at once: each look costs the test and the API server 3 ms.
LONGEST_PAUSE: t.Final = 0.5
T = t.TypeVar("T")


def until(
    look: t.Callable[[], T | t.Literal[False] | None],
    what: str,
    seconds: float = SECONDS,
    pause: float = 0.1,
) -> T:
    """Call `look` until it returns something true, and return that; fail the test after `seconds`.

    The pause between two looks grows by a tenth each time, up to LONGEST_PAUSE.
    """
    deadline = time.monotonic() + seconds
    while not (seen := look()):
        assert time.monotonic() < deadline, f"{what}: not seen within {seconds:.0f} s"
        time.sleep(pause)
        pause = min(1.1 * pause, max(pause, LONGEST_PAUSE))
    return seen


def at_best(act: t.Callable[[], float], limit: float, tries: int = 3) -> float:
    """Return the seconds of the first try within `limit`, else of the last try.

    A busy machine makes one try slow; wrong code makes all tries slow.
    """
    while (taken := act()) > limit and (tries := tries - 1):
        pass
    return taken
