# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""One run of ansible-playbook: the name that its lease, its cordons and its pods carry."""

from __future__ import annotations

import datetime
import typing as t

# The annotation of an object that a run holds for a while, such as a node or a queue: why, who, since when.
HELD_BY: t.Final = "accelerators.openshift/held-by"
_SEPARATOR: t.Final = "|"


class Run(t.NamedTuple):
    """A process of ansible-playbook.

    user, host: who started it and where. machine: the boot and the pid namespace in which pid counts, or an
    empty text if unknown. pid: its process, 0 for a task that outlives it (async). started: the start time of
    that process in clock ticks since the boot, as text. job: the number of the AWX job, or an empty text.
    """

    user: str
    host: str
    machine: str
    pid: int
    started: str
    job: str = ""

    @property
    def id(self) -> str:
        """Return the text that names this run alone; `parse` reads it."""
        return _SEPARATOR.join((self.user, self.host, self.machine, str(self.pid), self.started, self.job))

    @property
    def shown(self) -> str:
        """Return the run for people, such as `root@bastion (pid 4711, AWX job 12)`."""
        more = [f"pid {self.pid}"] if self.pid else []
        more += [f"AWX job {self.job}"] if self.job else []
        return f"{self.user}@{self.host}" + (f" ({', '.join(more)})" if more else "")

    def holds(self, why: str) -> dict[str, str]:
        """Return the annotation by which a later run names this one. why: such as "the driver upgrade"."""
        now = datetime.datetime.now(datetime.UTC)
        return {HELD_BY: f"{why} of {self.shown} since {now:%Y-%m-%dT%H:%M:%SZ}"}


def holder(live: t.Mapping[str, t.Any]) -> str:
    """Return why and for which run the object is held, and since when; an empty text without a record."""
    annotations = (live.get("metadata") or {}).get("annotations") or {}
    return str(annotations.get(HELD_BY) or "")


NO_RUN: t.Final = Run("", "", "", 0, "")


def parse(text: str) -> Run | None:
    """Return the run that the text names, or None if the text is not the id of a run."""
    parts = text.split(_SEPARATOR)
    if len(parts) != len(Run._fields) or not parts[3].isdecimal():
        return None
    user, host, machine, pid, started, job = parts
    return Run(user, host, machine, int(pid), started, job)


def shown(run_id: str) -> str:
    """Return the run with this id for people, or the text itself if it is no id."""
    run = parse(run_id)
    return run.shown if run else run_id
