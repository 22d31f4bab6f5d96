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


def test_a_make_below_it_takes_no_place_of_a_job(tmp_path: Path) -> None:
    """Such a job began early, and held the tests on sandboxes up for four minutes."""
    below = "below:\n\t@printf '%s\\n' \"$$MAKEFLAGS\" '$(SAID)'\n"
    (tmp_path / "rules").write_text(f"above:\n\t@{BESIDE} $(MAKE) -f rules below\n{below}")
    command = ["make", "-f", "rules", "--no-print-directory", "--jobs=3", "--keep-going", "above", "SAID=1 2"]
    outside = {name: value for name, value in os.environ.items() if name not in {"MAKEFLAGS", "MAKELEVEL"}}
    made = subprocess.run(command, cwd=tmp_path, env=outside, capture_output=True, text=True, check=True)
    flags, said = made.stdout.splitlines()
    assert (flags.split()[0], said) == ("k", "1 2")
    assert "-j" not in flags
    assert "warning" not in made.stderr


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
