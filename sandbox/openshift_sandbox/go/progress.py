# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Describe how far a build is, and how long it will still take."""

from __future__ import annotations

import typing as t

from openshift_sandbox.go import given

# How many packages `go build -v` names with an empty cache: those that a program adds to the programs before
# it, as `go list -deps` counts them. Count again after new pins.
PACKAGES: t.Final = {
    "kwok": 976,
    "nfd-master": 179,
    "kube-scheduler": 466,
    "kube-controller-manager": 979,
    "kubectl": 114,
    "kube-apiserver": 8,
    "server": 101,
    "olm": 1062,
    "catalog": 15,
    "opm": 195,
    "prometheus": 889,
    "promtool": 312,
    "kueue": 1762,
    "registry": 575,
}
# Measured on two cores of different speeds: 4,095 packages in 7 and in 13 minutes.
SECONDS_PER_PACKAGE: t.Final = (7 * 60 / 4095, 13 * 60 / 4095)
Programs = t.Mapping[str, t.Sequence[str]]
ANNOUNCEMENT: t.Final = """\
The sandbox builds its programs now, once: {programs}.
  Why        It runs the real Kubernetes and OLM, from pinned sources: no root, no containers, no cluster.
  How long   {minutes} on two cores; this machine has {cores}. Later starts take about 12 seconds.
             Ctrl-C loses nothing that is compiled: the next build continues.
  Meanwhile  docs/getting-started.md, docs/concepts.md    what the collection does, on two pages
             examples/demo.yml, examples/demo/README.md   the pool of `make demo`, and what a run shows
             `make docs-site` in another terminal         all pages for a browser
  Shorter    Programs that you have already are not built: {folder}=FOLDER (sandbox/README.md)."""


class Progress:
    """The progress of the families that one build compiles, one after the other."""

    def __init__(self, programs: Programs) -> None:
        self._packages = {family: packages(names) for family, names in programs.items()}
        self._total = sum(self._packages.values())
        self._finished = 0

    def finish(self, family: str) -> None:
        """Count a family as compiled."""
        self._finished += self._packages[family]

    def describe(self, family: str, log: t.Sequence[str], seconds: float) -> str:
        """Return one line: what the compiler does, how much of the build is done, and the time left.

        `log` holds the lines of `go build -v` so far; `seconds` is the time since the build began. Packages
        in Go's cache are not in the log, so a repeated build ends sooner than this says.
        """
        compiled = [line for line in log if not line.startswith("go: ")]
        if not compiled:
            return f"{family}: {'downloading modules' if log else 'nothing to compile yet'}"
        expected = self._packages[family]
        done = self._finished + min(len(compiled), expected)
        share = f"{done / self._total:.0%} of the packages of the build"
        if len(compiled) >= expected:
            return f"{family}: linking the programs; {share}"
        step = f"{len(compiled)} of about {expected} packages compiled"
        return f"{family}: {step}; {share}, {self._left(done, seconds)}"

    def _left(self, done: int, seconds: float) -> str:
        """Assume that the packages to come take as long as those so far."""
        return f"about {duration(seconds / done * (self._total - done))} left"


def packages(names: t.Iterable[str]) -> int:
    """Return about how many packages these programs of a family need."""
    return sum(PACKAGES[name] for name in names)


def minutes(programs: Programs) -> str:
    """Return how long a build of these programs takes on two cores."""
    total = sum(packages(names) for names in programs.values())
    fast, slow = (max(1, round(total * seconds / 60)) for seconds in SECONDS_PER_PACKAGE)
    return f"{fast} to {slow} minutes" if slow > fast else "about a minute"


def announce(programs: Programs, cores: int) -> str:
    """Return what a build compiles and why, how long it takes, and what can be done meanwhile."""
    return ANNOUNCEMENT.format(
        programs="; ".join(
            f"{family} ({', '.join(given.shown(name) for name in names)})"
            for family, names in programs.items()
        ),
        minutes=minutes(programs),
        cores="one core" if cores == 1 else f"{cores} cores",
        folder=given.FOLDER,
    )


def duration(seconds: float) -> str:
    """Return a time for people to read: `40 s` or `12 min 5 s`."""
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"
