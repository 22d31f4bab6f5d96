# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The MIG geometry of a pool changes in each situation, so its nodes are emptied one after the other."""

from __future__ import annotations

import typing as t

import pytest
from integration.matrix import geometry
from integration.matrix.situations import OTHERS
from integration.matrix.stage import Stage, parameters
from integration.matrix.world import GEOMETRY

SCENARIO: t.Final = "mig-nodes"
WORLD: t.Final = geometry.WORLD
SITUATIONS: t.Final = geometry.HERE
UNDO: t.Final = geometry.UNDO
# Each cell changes the geometry to what it was before the last one.
IS_RESET: t.Final = False
CELLS: t.Final = [
    (GEOMETRY, ("another run holds the lease",)),
    (GEOMETRY, ("GPU pods run",)),
    (GEOMETRY, ("a run was killed before",)),
    (GEOMETRY, ("idle",)),
    (GEOMETRY, OTHERS),
    (GEOMETRY, ("Argo CD owns a field",)),
    (GEOMETRY, ("a budget keeps the pods",)),
]


@pytest.mark.parametrize(("action", "situations"), parameters(CELLS))
def test_cell(stage: Stage, action: str, situations: tuple[str, ...]) -> None:
    stage.check(action, geometry.repartition, situations)
