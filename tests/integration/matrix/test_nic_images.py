# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The images of the NIC driver change in each situation, on bare metal whose GPU nodes have adapters."""

from __future__ import annotations

import typing as t

import pytest
from integration.matrix import nics
from integration.matrix.stage import Stage, parameters
from integration.matrix.world import NIC_IMAGES

SCENARIO: t.Final = "rdma"
WORLD: t.Final = nics.WORLD
SITUATIONS: t.Final = nics.HERE
UNDO: t.Final = nics.UNDO
# Each cell changes the images to what they were before the last one.
IS_RESET: t.Final = False
CELLS: t.Final = [
    (NIC_IMAGES, (one,))
    for one in (
        "another run holds the lease",
        "GPU pods run",
        "a budget keeps the pods",
        "idle",
        "a foreign ClusterPolicy",
        "Argo CD owns a field",
        "another file has a pool",
        "a run was killed before",
        "a foreign network operator",
    )
]


@pytest.mark.parametrize(("action", "situations"), parameters(CELLS))
def test_cell(stage: Stage, action: str, situations: tuple[str, ...]) -> None:
    stage.check(action, nics.change_nic_images, situations)
