# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A task or a playbook that the test kills in the middle of its work."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import typing as t
from pathlib import Path

import yaml
from integration.patience import until
from integration.playbook import ROOT, Playbook

OUTPUT: t.Final = "killed.txt"


def kill(
    playbook: Playbook, directory: Path, when: t.Callable[[], t.Any], module: str, **options: t.Any
) -> None:
    """Run one task, and kill ansible-playbook as soon as the condition holds."""
    assert is_killed(playbook, directory, when, module, **options), _ended(playbook)


def is_killed(
    playbook: Playbook, directory: Path, when: t.Callable[[], t.Any], module: str, **options: t.Any
) -> bool:
    """Do the same; return False when the task had ended before."""
    task = {f"accelerators.openshift.{module}": {**options, "kubeconfig": str(playbook.kubeconfig)}}
    play = directory / "play.yml"
    play.write_text(yaml.safe_dump([{"hosts": "localhost", "gather_facts": False, "tasks": [task]}]))
    return _kill(playbook, when, [str(play)])


def kill_playbook(playbook: Playbook, when: t.Callable[[], t.Any], name: str, **extra_vars: t.Any) -> None:
    """Run a playbook of the collection, and kill ansible-playbook as soon as the condition holds."""
    arguments = [str(ROOT / f"playbooks/{name}.yml"), "-e", json.dumps(extra_vars)]
    assert _kill(playbook, when, arguments), _ended(playbook)


def _ended(playbook: Playbook) -> str:
    return f"ansible-playbook had ended before: {(playbook.directory / OUTPUT).read_text()[-3000:]}"


def _kill(playbook: Playbook, when: t.Callable[[], t.Any], arguments: list[str]) -> bool:
    program = str(Path(sys.executable).parent / "ansible-playbook")
    environment = {**os.environ, **playbook._environment()}
    with (playbook.directory / OUTPUT).open("w") as output:
        run = subprocess.Popen(
            [program, "-i", "localhost,", "-c", "local", *arguments],
            cwd=playbook.directory,
            env=environment,
            stdout=output,
            start_new_session=True,
        )
    try:
        what = "the moment in which ansible-playbook is killed"
        until(lambda: run.poll() is not None or when(), what, 240)
        has_ended = run.poll() is not None
    finally:
        # Its workers are not in this group: each has a session of its own.
        if run.poll() is None:
            os.killpg(run.pid, signal.SIGKILL)
        run.wait()
    assert has_ended or run.returncode == -signal.SIGKILL
    return not has_ended
