# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Each pain of tests/documents/troubles.yml is staged, and diagnose.yml finds it.

`make troubles` writes what it finds into docs/troubles.md.
"""

from __future__ import annotations

import own_cluster
import pytest
from documents import troubles
from integration.troubles.diagnosed import Diagnosis, Row, first, parameters

SCENARIO = "gpu-nodes"
cluster = own_cluster.cluster
pytestmark = pytest.mark.story("GPU nodes without a stack, a stack, and one trouble after the other")

ROWS = troubles.rows()


@pytest.mark.parametrize("row", parameters(ROWS, "bare"))
def test_a_cluster_without_a_stack(diagnosis: Diagnosis, row: Row) -> None:
    with diagnosis.staged(row):
        diagnosis.finds(row)


@pytest.mark.parametrize("row", parameters(ROWS, "working"))
def test_a_stack_in_trouble(working: Diagnosis, row: Row) -> None:
    with working.staged(row):
        working.finds(row)


# The playbook, with its role of variables, its screen and its end: the module's result is the same.
@pytest.mark.parametrize("row", parameters(ROWS, "working", lambda row: row["pain"] in (4, 8, 23)))
def test_the_playbook_says_it(working: Diagnosis, row: Row) -> None:
    with working.staged(row):
        cause = working.finds(row)
        run = working.playbook.playbook("diagnose")
    assert run.rc != 0
    walked = next(one.result for one in run.tasks if one.name == "Walk over all layers")
    assert first(walked)["code"] == cause["code"]
    assert f"do:    {first(walked)['remedy']}"[:60] in run.output.replace("\n", " ")
    assert run.output.count(cause["code"]) >= 1
