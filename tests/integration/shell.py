# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The shell of a person who runs the commands of a remedy, as they stand, on a sandbox."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import typing as t
from dataclasses import dataclass
from pathlib import Path

from cluster import Cluster
from integration.playbook import ROOT, Playbook

_COMMAND: t.Final = re.compile(r"`((?:oc|oc-mirror|echo|ansible-playbook) [^`]*)`")
_LINE: t.Final = re.compile(r"mirror\.additionalImages: (- name: [^ ]+)\.$")
# What only shows something.
_SHOWS: t.Final = ("get", "describe", "logs", "explain")
# `oc` and `oc-mirror` are those of shell_programs.py.
_PROGRAM: t.Final = """#!/bin/sh
exec {python} {file} {name} {directory} "$@"
"""


def commands(remedy: str) -> list[str]:
    """Return the commands of a remedy that change something."""
    found = _COMMAND.findall(remedy)
    return [command for command in found if shlex.split(command)[1] not in _SHOWS]


@dataclass(frozen=True)
class Shell:
    """A shell with the programs that remedies name. variables: what every playbook gets."""

    environment: dict[str, str]
    variables: str = ""

    def run(self, command: str) -> None:
        """Run a command, which must succeed."""
        if command.startswith("ansible-playbook") and self.variables:
            command = f"{command} -e '{self.variables}'"
        ended = subprocess.run(
            ["sh", "-c", command],
            env=self.environment,
            cwd=ROOT,
            capture_output=True,
            text=True,
            timeout=240,
            check=False,
        )
        assert ended.returncode == 0, f"{command}\n{ended.stdout[-2000:]}{ended.stderr[-2000:]}"


def shell(playbook: Playbook, cluster: Cluster, folder: Path, variables: str = "") -> Shell:
    """Return the shell of a person who has the kubeconfig of the cluster. folder: for the programs."""
    sandbox = cluster.needs_sandbox()
    for name in ("oc", "oc-mirror"):
        program = folder / name
        file = Path(__file__).with_name("shell_programs.py")
        text = _PROGRAM.format(python=sys.executable, file=file, name=name, directory=sandbox.directory)
        program.write_text(text)
        program.chmod(0o755)
    path = [str(folder), str(Path(sys.executable).parent), os.environ["PATH"]]
    more = {"HOME": str(folder), "PATH": os.pathsep.join(path), "KUBECONFIG": str(cluster.kubeconfig)}
    return Shell({**playbook._environment(), **more, "PYTHONPATH": str(ROOT / "sandbox")}, variables)


def follow(remedy: str, shell: Shell, folder: Path, files: t.Mapping[str, str], **words: str) -> None:
    """Run the one command of a remedy.

    files: words of the command, such as FILE, and what the files have: also the line that the remedy wants
    there. words: such as VERSION, and their values.
    """
    (command,) = commands(remedy)
    line = _LINE.search(remedy)
    assert line is None or any(line[1] in content for content in files.values()), remedy
    own = {"DIR": str(folder / "work"), **words}
    for word, content in files.items():
        file = folder / word.lower()
        file.write_text(content)
        own[word] = str(file)
    shell.run(re.sub(rf"\b({'|'.join(own)})\b", lambda found: own[found[0]], command))
