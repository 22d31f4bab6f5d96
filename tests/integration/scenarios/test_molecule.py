# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Every scenario of molecule, on a sandbox of its own. conftest.py gives each to any worker, as a file.

A scenario runs five to ten playbooks. Each would import Ansible and the collection again, and compile each
template again: two thirds of the processor time of a second run of enable_gpus. So a server forks them.
"""

from __future__ import annotations

import os
import subprocess
import sys
import typing as t
from pathlib import Path

import pytest
from integration.playbook import ROOT
from integration.warm import server

STARTS_CLUSTERS: t.Final = True
# The main job, the walk-through of README, and the content of AWX.
SHORT: t.Final = {"default", "walkthrough", "awx"}
RARE: t.Final = pytest.mark.long("a scenario whose playbook the main job does not call")
NAMES: t.Final = sorted(path.parent.name for path in ROOT.glob("molecule/*/molecule.yml"))


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[] if name in SHORT else [RARE]) for name in NAMES]
)
def test_scenario(name: str, tmp_path: Path) -> None:
    # Not the worker's `program`: there a process for each environment of the scenario would stay behind.
    with server.running(tmp_path) as program:
        # Molecule starts Ansible by name: the other programs are beside Python.
        places = [str(program.parent), str(Path(sys.executable).parent), os.environ["PATH"]]
        done = subprocess.run(
            [sys.executable, "-m", "molecule", "test", "--scenario-name", name],
            cwd=ROOT,
            env=os.environ | {"PATH": os.pathsep.join(places)},
            check=False,
        )
    assert done.returncode == 0
