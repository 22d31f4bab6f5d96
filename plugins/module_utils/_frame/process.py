# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""The process of ansible-playbook that a task belongs to: which it is, and whether it still runs.

Ansible's workers have a session of their own: a worker goes on when ansible-playbook is killed.
"""

from __future__ import annotations

import functools
import getpass
import multiprocessing
import os
import platform
import typing as t
from pathlib import Path

from .._core.run import Run, parse

# A module in a process of its own gets its run from the action plugin in this variable.
VARIABLE: t.Final = "ACCELERATORS_RUN"
_PROC: t.Final = Path("/proc")


def own_run(job: str = "", outlives: bool = False) -> Run:
    """Return the run that this process works for: the one in the environment, else of Ansible's process.

    job: number of the AWX job. outlives: the task may go on after ansible-playbook has ended (async).
    """
    if given := parse(os.environ.get(VARIABLE, "")):
        return given
    parent = multiprocessing.parent_process()
    pid = 0 if outlives else int(parent.pid or 0) if parent else os.getpid()
    return Run(_user(), platform.node() or "unknown", _machine(), pid, _started(pid), job)


def is_gone(run: Run) -> bool:
    """Return True if the run's process was on this machine and does not run any more."""
    if not run.pid or not run.machine or run.machine != _machine():
        return False
    started = _started(run.pid)
    return not started or started != run.started


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # a container may run with a uid that has no name
        return str(os.getuid())


@functools.cache
def _machine() -> str:
    """Return what tells two machines, and two containers on one machine, apart; empty if unknown."""
    try:
        boot = (_PROC / "sys/kernel/random/boot_id").read_text().strip()
        return f"{boot}.{os.stat(_PROC / 'self/ns/pid').st_ino}"
    except OSError:
        return ""


def _started(pid: int) -> str:
    """Return when the process started, in clock ticks since the boot; empty if it has ended or is unknown."""
    try:
        # The name of the program is in brackets and may hold anything.
        state, *fields = (_PROC / str(pid) / "stat").read_text().rpartition(")")[2].split()
    except (OSError, ValueError):
        return ""
    return "" if state in ("Z", "X") else fields[18]
