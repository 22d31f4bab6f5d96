# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Each destructive action where nothing stands in its way, where a budget does, and beside what others do.

Only remove_gpus asks what others have: for the other actions all of that is there at once. To scale a pool by
hand stops no action, so others have done that too.
"""

from __future__ import annotations

import typing as t

import pytest
from integration.matrix.situations import OTHERS
from integration.matrix.stage import Stage, parameters
from integration.matrix.world import ACTIONS

SCENARIO: t.Final = "aws"
_POOL, POLICY, NETWORK = OTHERS
SCALED: t.Final = "scaled by hand"
CELLS: t.Final = [
    *((action, ("idle",)) for action in ACTIONS),
    *((action, (*OTHERS, SCALED)) for action in ACTIONS if action != "remove_gpus"),
    ("remove_gpus", (POLICY, SCALED)),
    ("remove_gpus", (NETWORK,)),
    *((action, ("a budget keeps the pods",)) for action in ACTIONS),
]


@pytest.mark.parametrize(("action", "situations"), parameters(CELLS))
def test_cell(stage: Stage, action: str, situations: tuple[str, ...]) -> None:
    stage.check(action, ACTIONS[action], situations)
