# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Describe how far a build is, and how long it will still take."""

from __future__ import annotations

import typing as t

PACKAGES: t.Final = {"control-plane": 2823, "olm": 1272, "prometheus": 1201, "kueue": 1762, "registry": 575}
"""How many packages `go build -v` names with an empty cache, by family. Count again after new pins."""


class Progress:
    """The progress of the families that one build compiles, one after the other."""

    def __init__(self, families: t.Sequence[str]) -> None:
        self._total = sum(PACKAGES[family] for family in families)
        self._finished = 0

    def finish(self, family: str) -> None:
        """Count a family as compiled."""
        self._finished += PACKAGES[family]

    def describe(self, family: str, log: t.Sequence[str], seconds: float) -> str:
        """Return one line: what the compiler does, how much of the build is done, and the time left.

        `log` holds the lines of `go build -v` so far; `seconds` is the time since the build began. Packages
        in Go's cache are not in the log, so a repeated build ends sooner than this says.
        """
        compiled = [line for line in log if not line.startswith("go: ")]
        if not compiled:
            return f"{family}: {'downloading modules' if log else 'nothing to compile yet'}"
        done = self._finished + min(len(compiled), PACKAGES[family])
        share = f"{done / self._total:.0%} of the packages of the build"
        if len(compiled) >= PACKAGES[family]:
            return f"{family}: linking the programs; {share}"
        step = f"{len(compiled)} of about {PACKAGES[family]} packages compiled"
        return f"{family}: {step}; {share}, {self._left(done, seconds)}"

    def _left(self, done: int, seconds: float) -> str:
        """Assume that the packages to come take as long as those so far."""
        return f"about {duration(seconds / done * (self._total - done))} left"


def duration(seconds: float) -> str:
    """Return a time for people to read: `40 s` or `12 min 5 s`."""
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"
