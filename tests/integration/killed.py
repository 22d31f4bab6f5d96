# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A task that the test kills in the middle of its work."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import typing as t
from pathlib import Path

import yaml
from integration.patience import until
from integration.playbook import Playbook


def kill(
    playbook: Playbook, directory: Path, when: t.Callable[[], t.Any], module: str, **options: t.Any
) -> None:
    """Run one task, and kill all of its processes as soon as the condition holds."""
    task = {f"accelerators.openshift.{module}": {**options, "kubeconfig": str(playbook.kubeconfig)}}
    (directory / "play.yml").write_text(
        yaml.safe_dump([{"hosts": "localhost", "gather_facts": False, "tasks": [task]}])
    )
    command = [
        str(Path(sys.executable).parent / "ansible-playbook"),
        "-i",
        "localhost,",
        "-c",
        "local",
        "play.yml",
    ]
    environment = {**os.environ, **playbook._environment()}
    run = subprocess.Popen(
        command, cwd=directory, env=environment, stdout=subprocess.DEVNULL, start_new_session=True
    )
    try:
        until(when, "the moment in which the task is killed")
        assert run.poll() is None, "the task had ended before"
    finally:
        os.killpg(run.pid, signal.SIGKILL)
        run.wait()
    assert run.returncode == -signal.SIGKILL
