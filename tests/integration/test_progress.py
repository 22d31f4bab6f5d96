# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What ansible-playbook shows on a real terminal, and into a pipe, with the checkout's ansible.cfg."""

from __future__ import annotations

import contextlib
import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios
import typing as t
from pathlib import Path

import pytest
from cluster import Cluster
from integration.playbook import ROOT
from terminal import Terminal

PLAN: t.Final = ("playbooks/plan.yml", "-e", "@examples/demo.yml")


@pytest.fixture
def environment(cluster: Cluster, tmp_path: Path) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("ANSIBLE_", "AWX_"))}
    own = {"ANSIBLE_CONFIG": str(ROOT / "ansible.cfg"), "ANSIBLE_HOME": str(tmp_path), "NO_COLOR": "1"}
    return kept | own | {"KUBECONFIG": str(cluster.kubeconfig), "TERM": "xterm", "PATH": path()}


def path() -> str:
    return os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])


def on_terminal(environment: dict[str, str], columns: int) -> Terminal:
    """Run the playbook on a terminal of this width; return what it shows at the end."""
    ours, its = pty.openpty()
    fcntl.ioctl(its, termios.TIOCSWINSZ, struct.pack("HHHH", 30, columns, 0, 0))
    run = subprocess.Popen(
        ["ansible-playbook", *PLAN], cwd=ROOT, env=environment, stdin=its, stdout=its, stderr=its
    )
    os.close(its)
    shown = b""
    with contextlib.suppress(OSError):  # how Linux says that nobody writes any more
        while part := os.read(ours, 65536):
            shown += part
    os.close(ours)
    assert run.wait(timeout=30) == 0, shown.decode()
    found = Terminal(columns)
    found.feed(shown.decode())
    return found


def test_a_terminal_shows_steps_and_ends_with_a_sentence(environment: dict[str, str]) -> None:
    found = on_terminal(environment, 100)
    lines = found.text.splitlines()
    steps = [re.sub(r" +\d.*? s  ", "  ", line) for line in lines[1 : lines.index("")]]
    assert lines[0] == "Plan GPUs (check mode)"
    assert steps[:2] == ["ok  Plan the pools", "ok  Check the rights"]
    assert "would change  Wait for the machines" in steps
    assert "POOL  INSTANCE TYPE  NODES (now/then)  GPUS  COST/HOUR" in lines
    assert re.fullmatch(r"Plan GPUs: \d steps would change something in [\d.]+ s\.", lines[-1])
    assert not any(word in found.text for word in ("TASK [", "skipping", "Validating", "running", "msg:"))
    assert "colour" not in found.escapes


def test_a_pipe_gets_what_ansibles_default_callback_prints(environment: dict[str, str]) -> None:
    def piped(callback: str) -> str:
        chosen = environment | ({"ANSIBLE_STDOUT_CALLBACK": callback} if callback else {})
        done = subprocess.run(
            ["ansible-playbook", *PLAN], cwd=ROOT, env=chosen, capture_output=True, text=True, check=True
        )
        return done.stdout

    assert piped("") == piped("default")
