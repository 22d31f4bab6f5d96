# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The commands of a remedy are run as they stand, and the trouble is gone."""

from __future__ import annotations

import typing as t

import own_cluster
import pytest
from documents import troubles
from integration.shell import Shell, commands, shell as shell_of
from integration.troubles.diagnosed import Diagnosis, Row, parameters

SCENARIO = "gpu-nodes"
cluster = own_cluster.cluster
pytestmark = [
    pytest.mark.story("a stack, and one trouble after the other, each ended by its remedy"),
    pytest.mark.long("unit/remedies holds for each variable, test_diagnosis.py that a remedy has real names"),
]

# The sandbox's nodes run no machine-config daemon that could reboot them.
_VARIABLES: t.Final = "gpu_repair_reboot_with=pod gpu_repair_reboot_image=registry.example.com/tools:1"


@pytest.fixture(scope="module")
def shell(working: Diagnosis, tmp_path_factory: pytest.TempPathFactory) -> Shell:
    return shell_of(working.playbook, working.cluster, tmp_path_factory.mktemp("bin"), _VARIABLES)


@pytest.mark.parametrize("row", parameters(troubles.rows(), "working", lambda row: bool(row.get("follow"))))
def test_a_remedy_ends_its_trouble(working: Diagnosis, shell: Shell, row: Row) -> None:
    with working.staged(row):
        cause = working.finds(row)
        working.end_outside(row)
        todo = commands(cause["remedy"])
        assert todo, cause["remedy"]
        for command in todo:
            shell.run(command)
        working.is_healthy()
