"""Child processes, known by pid and start time: the sandbox never signals another program's process."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from integration.patience import until

from openshift_sandbox.processes import ProcessDied, Processes, identity
from openshift_sandbox.state import State

SLEEPER = [sys.executable, "-c", "import signal; signal.pause()"]


@pytest.fixture
def processes(tmp_path: Path) -> Iterator[Processes]:
    (tmp_path / "logs").mkdir()
    processes = Processes(tmp_path)
    yield processes
    processes.kill_all()


def test_a_child_starts_once_in_its_own_session_and_stops(processes: Processes) -> None:
    pid = processes.start("one", SLEEPER)
    assert processes.start("one", SLEEPER) == pid
    assert os.getsid(pid) == pid
    assert processes.alive("one")
    assert processes.stop("one")
    assert not processes.alive("one")
    assert not processes.stop("one")


def test_a_pid_that_passed_to_somebody_else_is_left_alone(processes: Processes, tmp_path: Path) -> None:
    with subprocess.Popen(SLEEPER) as stranger:
        try:
            entry = {"pid": stranger.pid, "started": "another-boot/1", "log": "", "argv": [], "nested": False}
            with State(tmp_path).change() as state:
                state["processes"]["one"] = entry
            assert not processes.alive("one")
            processes.stop("one")
            with State(tmp_path).change() as state:
                state["processes"]["one"] = entry
            assert processes.kill_all() == 0
            assert stranger.poll() is None
        finally:
            stranger.kill()


def test_kill_all_finds_children_that_the_record_missed(processes: Processes, tmp_path: Path) -> None:
    pid = processes.start("one", SLEEPER)
    with State(tmp_path).change() as state:
        state["processes"].clear()
    assert processes.kill_all() == 1
    assert identity(pid) is None


def test_a_death_is_reported_with_the_last_lines_of_the_log(processes: Processes) -> None:
    pid = processes.start("one", [sys.executable, "-c", "print('address already in use')"])
    until(lambda: identity(pid) is None, "its end")
    with pytest.raises(ProcessDied, match="one ended") as caught:
        processes.check()
    assert caught.value.lines == ["address already in use"]


def test_a_child_that_ended_is_collected_though_nobody_asks(processes: Processes) -> None:
    """Kill the child from outside: the other program cannot wait for it, so the sandbox must reap it."""
    pid = processes.start("one", SLEEPER)
    os.kill(pid, signal.SIGKILL)
    assert until(lambda: not Path("/proc", str(pid)).exists(), "nothing left of it")


def test_a_stopped_child_is_alive_and_says_so(processes: Processes) -> None:
    pid = processes.start("one", SLEEPER)
    processes.signal("one", signal.SIGSTOP)
    os.waitid(os.P_PID, pid, os.WSTOPPED | os.WNOWAIT)
    child = processes.find("one")
    assert child is not None
    assert (child.alive, child.stopped) == (True, True)
