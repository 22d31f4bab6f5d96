# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Servers in memory that end a run in the middle of its writes, as kill -9 does."""

from __future__ import annotations

import typing as t


class KilledError(BaseException):
    """The process of a run ends, as after kill -9: nothing of it runs any more."""


class Killer:
    """A server in memory. writes_left: the run is killed when it has sent so many writes, None for never."""

    writes_left: int | None = None

    def count(self, method: str, url: str, more: t.Mapping[str, t.Any]) -> bool:
        """Return whether a request writes. Raise KilledError for a write of a run that is killed."""
        is_write = method != "GET" and "dryRun" not in url and b"dryRun" not in (more.get("body") or b"")
        if is_write and self.writes_left is not None:
            if self.writes_left == 0:
                raise KilledError
            self.writes_left -= 1
        return is_write
