# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Start, find and end the sandbox's child processes.

Each child has a session of its own. It is known by its pid and start time, so that no process of others gets
a signal.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import threading
import time
import typing as t
from dataclasses import dataclass
from pathlib import Path

from openshift_sandbox.state import Data, State

MARK: t.Final = "OPENSHIFT_SANDBOX_CHILD_OF"
KILL_SECONDS: t.Final = 10.0


class ProcessDied(Exception):
    """A child process ended; the error carries the last lines of its log."""

    def __init__(self, name: str, log: Path) -> None:
        lines = tail(log)
        super().__init__(
            f"{name} ended; the last lines of {log}:\n" + "\n".join(f"  {line}" for line in lines)
        )
        self.name = name
        self.lines = lines


@dataclass(frozen=True)
class Child:
    """A process that the sandbox started, as its record has it."""

    name: str
    pid: int
    started: str
    log: str
    argv: list[str]
    nested: bool = False

    @property
    def alive(self) -> bool:
        """Whether the process still runs, and is not another one with its pid."""
        return identity(self.pid) == self.started

    @property
    def stopped(self) -> bool:
        """Whether the process is stopped by a signal."""
        return self.alive and _stat(self.pid)[0] == "T"


class Processes:
    """The child processes of one sandbox directory."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._state = State(directory)

    def start(
        self,
        name: str,
        argv: t.Sequence[str | Path],
        env: t.Mapping[str, str] | None = None,
        log: Path | None = None,
    ) -> int:
        """Start a child and return its pid; leave a running child of the same name alone."""
        running = self.find(name)
        if running and running.alive:
            return running.pid
        log = log or self._directory / "logs" / f"{name}.log"
        words = [str(word) for word in argv]
        environment = {**os.environ, **(env or {}), MARK: str(self._directory)}
        with self._state.change() as state, log.open("ab") as output:
            child = subprocess.Popen(
                words,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                env=environment,
                cwd=self._directory,
                start_new_session=True,
            )
            entry = {
                "pid": child.pid,
                "started": identity(child.pid),
                "log": str(log),
                "argv": words,
                "nested": MARK in os.environ,
            }
            state["processes"][name] = entry
        # Wait for the child, so that it leaves no zombie, whoever ends it.
        threading.Thread(target=child.wait, name=f"waits for {name}", daemon=True).start()
        return child.pid

    def find(self, name: str) -> Child | None:
        """Return the child of that name, running or not, or None."""
        entry = self._state.read()["processes"].get(name)
        return _child(name, entry) if entry else None

    def all(self) -> list[Child]:
        """Return all children in the record, running or not."""
        return [_child(name, entry) for name, entry in self._state.read()["processes"].items()]

    def alive(self, name: str) -> bool:
        """Return whether the child of that name runs."""
        child = self.find(name)
        return child is not None and child.alive

    def check(self, *names: str) -> None:
        """Raise ProcessDied for the first child (of these names) that no longer runs.

        Children that another child started do not count: that child looks after them.
        """
        for child in self.all():
            if child.name in (names or [child.name]) and not child.nested and not child.alive:
                raise ProcessDied(child.name, Path(child.log))

    def stop(self, name: str, grace: float = 5.0) -> bool:
        """End one child and forget it; return False when it did not run.

        The child gets SIGTERM, and SIGKILL after the grace period in seconds.
        """
        child = self.find(name)
        running = child is not None and child.alive
        if child and running:
            _signal(child, signal.SIGTERM)
            _signal(child, signal.SIGCONT)
            if not _gone([child], grace):
                _signal(child, signal.SIGKILL)
                _gone([child], KILL_SECONDS)
        with self._state.change() as state:
            state["processes"].pop(name, None)
        return running

    def signal(self, name: str, number: signal.Signals) -> None:
        """Send a signal to the child of that name, if it runs."""
        child = self.find(name)
        if child and child.alive:
            _signal(child, number)

    def kill_all(self, but: t.Collection[str] = ()) -> int:
        """End every process of this sandbox, recorded or not; return how many were ended.

        but: names of children that stay. Raises TimeoutError when a process survives SIGKILL.
        """
        ended = 0
        deadline = time.monotonic() + KILL_SECONDS
        stay = {child.pid for child in self.all() if child.name in but}
        while True:
            found = {child.pid: child for child in [*self.all(), *self._marked()] if child.alive}
            children = {pid: child for pid, child in found.items() if pid not in stay}
            if not children:
                return ended
            if time.monotonic() > deadline:
                raise TimeoutError(
                    "still running after SIGKILL: "
                    + ", ".join(f"{child.name} ({pid})" for pid, child in children.items())
                )
            for child in children.values():
                _signal(child, signal.SIGKILL)
            ended += len(children)
            _gone(list(children.values()), 2.0)

    def _marked(self) -> t.Iterator[Child]:
        """Yield the processes that carry this directory's mark in their environment.

        These are children of children, and children whose start was interrupted before it was recorded.
        """
        mark = f"{MARK}={self._directory}".encode()
        for entry in Path("/proc").iterdir():
            if entry.name.isdigit() and int(entry.name) != os.getpid():
                with contextlib.suppress(OSError):
                    if mark in (entry / "environ").read_bytes().split(b"\0"):
                        pid = int(entry.name)
                        yield Child(f"process {pid}", pid, identity(pid) or "", "", [])


def identity(pid: int) -> str | None:
    """Return boot and start time of a running process, or None.

    A pid alone may belong to another process by now.
    """
    try:
        state, started, threads = _stat(pid)
    except (OSError, IndexError):
        return None
    # The first thread of a killed process can be over while others still end and hold its ports.
    return None if state in "ZX" and threads < 2 else f"{_boot()}/{started}"


def tail(log: Path, lines: int = 12) -> list[str]:
    """Return the last lines of a log; none when it cannot be read."""
    try:
        return log.read_text(errors="replace").splitlines()[-lines:]
    except OSError:
        return []


def _child(name: str, entry: Data) -> Child:
    return Child(name, entry["pid"], entry["started"] or "", entry["log"], entry["argv"], entry["nested"])


def _stat(pid: int) -> tuple[str, str, int]:
    """Return the state, the start time and the number of threads."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return fields[0], fields[19], int(fields[17])


def _boot() -> str:
    return Path("/proc/sys/kernel/random/boot_id").read_text().strip()


def _signal(child: Child, number: signal.Signals) -> None:
    """Send a signal to the child, or to its whole group where it leads one.

    Check its identity right before.
    """
    if not child.alive:
        return
    with contextlib.suppress(ProcessLookupError):
        if os.getpgid(child.pid) == child.pid:
            os.killpg(child.pid, number)
        else:
            os.kill(child.pid, number)


def _gone(children: list[Child], seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while any(child.alive for child in children):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True
