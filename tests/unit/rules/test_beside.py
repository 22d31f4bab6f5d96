"""tests/beside: the command has the lowest weight, its status counts, and it ends with the script."""

from __future__ import annotations

import os
import signal
import subprocess
import typing as t
from pathlib import Path

import pytest

BESIDE: t.Final = Path(__file__).resolve().parents[2] / "beside"


def test_the_command_has_a_session_of_its_own_without_weight() -> None:
    # A timeout of subprocess polls, and a unit test must not sleep.
    made = subprocess.run(
        ["timeout", "30", BESIDE, "sh", "-c", "nice; ps -o sid= -p $$; cat /proc/self/autogroup; exit 7"],
        capture_output=True,
        text=True,
        check=False,
    )
    niceness, session, *group = made.stdout.split("\n")
    assert made.returncode == 7
    assert niceness == "19"
    assert int(session) != os.getsid(0)
    # A kernel without groups of sessions heeds `nice` alone.
    assert group == [""] or group[0].endswith("nice 19")


@pytest.mark.parametrize("signaled", [signal.SIGINT, signal.SIGTERM])
def test_the_command_ends_with_the_script(signaled: signal.Signals) -> None:
    # A shell starts what runs in the background, as `beside` does with these tests, with SIGINT ignored.
    heeds = ["env", f"--default-signal={signaled.name.removeprefix('SIG')}"]
    command = [*heeds, str(BESIDE), "sh", "-c", "echo started; sleep 30; echo left alone"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as script:
        assert script.stdout is not None
        assert script.stdout.readline() == "started\n"
        script.send_signal(signaled)
        # The pipe stays open as long as the command runs: this waits for both.
        assert script.communicate()[0] == ""
        assert script.returncode != 0
