# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Run a scenario of molecule, whose playbooks are forked from one process that has imported Ansible.

A scenario runs five to ten playbooks. Each would import Ansible and the collection again, and compile each
template again: two thirds of the processor time of a second run of enable_gpus.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from go_environment import GO
from integration.playbook import ROOT
from integration.warm import server


def run(name: str) -> int:
    """Run `molecule test` for a scenario; return its exit code. The other programs of Ansible are on PATH."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        path = os.pathsep.join([str(server.start(Path(folder)).parent), os.environ["PATH"]])
        done = subprocess.run(
            [sys.executable, "-m", "molecule", "test", "--scenario-name", name],
            cwd=ROOT,
            env={**GO, **os.environ, "PATH": path},
            check=False,
        )
        return done.returncode


if __name__ == "__main__":
    sys.exit(run(sys.argv[1]))
