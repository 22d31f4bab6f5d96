# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Each destructive action while pods run, while another run works or was killed, and beside Argo CD."""

from __future__ import annotations

import typing as t

import pytest
from integration.matrix import cells
from integration.matrix.situations import SITUATIONS
from integration.matrix.stage import Stage, parameters
from integration.matrix.world import ACTIONS

SCENARIO: t.Final = "aws"
COLUMNS: t.Final = (
    "another run holds the lease",
    "GPU pods run",
    "Argo CD owns a field",
    "a run was killed before",
)
CELLS: t.Final = [
    *((action, (situation,)) for situation in COLUMNS for action in ACTIONS),
    ("resize_pool to one node", ("scaled by hand",)),
    ("remove_gpus", ("another file has a pool",)),
]


@pytest.mark.parametrize(("action", "situations"), parameters(CELLS))
def test_cell(stage: Stage, action: str, situations: tuple[str, ...]) -> None:
    stage.check(action, ACTIONS[action], situations)


def test_the_page_has_each_cell_once() -> None:
    page = cells.read()
    assert set(page) == {(row, one) for row in cells.ROWS for one in SITUATIONS}
    assert {cell: page[cell] for cell in cells.WORDS} == cells.WORDS
    assert set(page) >= cells.SHORT
    assert set(cells.read_writes()) == set(cells.ROWS)
