# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The commands of a remedy are run as they stand, and the trouble is gone."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import typing as t
from pathlib import Path

import own_cluster
import pytest
from documents import troubles
from integration.playbook import ROOT
from integration.troubles.diagnosed import Diagnosis, Row, parameters

SCENARIO = "gpu-nodes"
cluster = own_cluster.cluster
pytestmark = [
    pytest.mark.story("a stack, and one trouble after the other, each ended by its remedy"),
    pytest.mark.long("unit/remedies holds for each variable, test_diagnosis.py that a remedy has real names"),
]

COMMAND: t.Final = re.compile(r"`((?:oc|ansible-playbook) [^`]*)`")
# What only shows something.
_SHOWS: t.Final = ("get", "describe", "logs", "explain")
# An `oc` of the sandbox's kubectl, which has what the subcommand adm has by itself.
_OC: t.Final = """#!/bin/sh
[ "$1" = adm ] && shift
exec {kubectl} "$@"
"""
# The sandbox's nodes run no machine-config daemon that could reboot them.
_VARIABLES: t.Final = "gpu_reboot_with=pod gpu_reboot_image=registry.example.com/tools:1"


@pytest.fixture(scope="module")
def shell(working: Diagnosis, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Return the environment of a person who has `oc` and the kubeconfig of the cluster."""
    folder = tmp_path_factory.mktemp("bin")
    oc = folder / "oc"
    oc.write_text(_OC.format(kubectl=ROOT / ".build/bin/control-plane/kubectl"))
    oc.chmod(0o755)
    path = [str(folder), str(Path(sys.executable).parent), os.environ["PATH"]]
    return {
        **working.playbook._environment(),
        "HOME": str(folder),
        "PATH": os.pathsep.join(path),
        "KUBECONFIG": str(working.cluster.kubeconfig),
    }


def commands(remedy: str) -> list[str]:
    """Return the commands of a remedy that change something."""
    found = COMMAND.findall(remedy)
    return [one for one in found if shlex.split(one)[1] not in _SHOWS]


def run(command: str, shell: dict[str, str]) -> None:
    if command.startswith("ansible-playbook"):
        command = f"{command} -e '{_VARIABLES}'"
    ended = subprocess.run(
        ["sh", "-c", command], env=shell, cwd=ROOT, capture_output=True, text=True, timeout=240, check=False
    )
    assert ended.returncode == 0, f"{command}\n{ended.stdout[-2000:]}{ended.stderr[-2000:]}"


@pytest.mark.parametrize("row", parameters(troubles.rows(), "working", lambda row: bool(row.get("follow"))))
def test_a_remedy_ends_its_trouble(working: Diagnosis, shell: dict[str, str], row: Row) -> None:
    with working.staged(row):
        cause = working.finds(row)
        working.end_outside(row)
        todo = commands(cause["remedy"])
        assert todo, cause["remedy"]
        for command in todo:
            run(command, shell)
        working.is_healthy()
