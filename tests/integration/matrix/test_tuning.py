# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The kernel arguments of a pool change in each situation, so its nodes reboot one after the other."""

from __future__ import annotations

import typing as t

import pytest
from integration.matrix import tuning
from integration.matrix.situations import OTHERS
from integration.matrix.stage import Stage, parameters
from integration.matrix.world import TUNING

SCENARIO: t.Final = "aws"
WORLD: t.Final = tuning.WORLD
SITUATIONS: t.Final = tuning.HERE
UNDO: t.Final = tuning.UNDO
# Each cell changes the arguments to what they were before the last one.
IS_RESET: t.Final = False
CELLS: t.Final = [
    (TUNING, ("another run holds the lease",)),
    (TUNING, ("GPU pods run",)),
    (TUNING, ("a run was killed before",)),
    (TUNING, ("idle",)),
    (TUNING, OTHERS),
    (TUNING, ("scaled by hand",)),
    (TUNING, ("Argo CD owns a field",)),
    (TUNING, ("a budget keeps the pods",)),
]


@pytest.mark.parametrize(("action", "situations"), parameters(CELLS))
def test_cell(stage: Stage, action: str, situations: tuple[str, ...]) -> None:
    stage.check(action, tuning.tune, situations)
