# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Every scenario of molecule, on a sandbox of its own. conftest.py gives each to any worker, as a file."""

from __future__ import annotations

import os
import subprocess
import sys
import typing as t
from pathlib import Path

import pytest
from integration.playbook import ROOT

STARTS_CLUSTERS: t.Final = True
# The main job, the walk-through of README, and the content of AWX.
SHORT: t.Final = {"default", "walkthrough", "awx"}
RARE: t.Final = pytest.mark.long("a scenario whose playbook the main job does not call")
NAMES: t.Final = sorted(path.parent.name for path in ROOT.glob("molecule/*/molecule.yml"))


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[] if name in SHORT else [RARE]) for name in NAMES]
)
def test_scenario(name: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "molecule", "test", "--scenario-name", name],
        cwd=ROOT,
        # Molecule starts Ansible by name: it is beside Python.
        env=os.environ | {"PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])},
        check=False,
    )
    assert done.returncode == 0
