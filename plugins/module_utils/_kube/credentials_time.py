# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""Work of a package that knows no time limit, given one."""

from __future__ import annotations

import threading
import typing as t

Value = t.TypeVar("Value")


def within(seconds: float, what: str, work: t.Callable[[], Value]) -> Value:
    """What work returns or raises; TimeoutError when it takes longer, and is then left to itself."""
    done: list[Value] = []
    failed: list[BaseException] = []

    def run() -> None:
        try:
            done.append(work())
        except BaseException as exc:
            failed.append(exc)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(seconds)
    if failed:
        raise failed[0]
    if not done:
        raise TimeoutError(f"{what} timed out after {seconds:.0f} s")
    return done[0]
