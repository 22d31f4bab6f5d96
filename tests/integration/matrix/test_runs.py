# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Each destructive action in each situation: what happens, and that a refusal wrote nothing."""

from __future__ import annotations

import typing as t
from pathlib import Path

import pytest
from cluster import Cluster
from integration.matrix import cells
from integration.matrix.situations import SITUATIONS
from integration.matrix.world import ACTIONS, World, code_of
from integration.troubles.demo import Demo
from integration.wire import Audit

SCENARIO: t.Final = "aws"
CELLS: t.Final = [(action, situation) for situation in SITUATIONS for action in ACTIONS]


@pytest.fixture(scope="module")
def world(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory, program: Path) -> World:
    sandbox = cluster.needs_sandbox()
    demo = Demo(tmp_path_factory.mktemp("matrix"), cluster.kubeconfig, program)
    return World(cluster, demo, Audit(sandbox.audit_log, cluster.client))


def marked(cell: tuple[str, str]) -> t.Any:
    rare = [pytest.mark.long("a cell of the matrix beside the dozen that every run checks")]
    return pytest.param(*cell, marks=[] if cell in cells.SHORT else rare, id=" - ".join(cell))


@pytest.mark.parametrize(("action", "situation"), [marked(cell) for cell in CELLS])
def test_cell(world: World, action: str, situation: str, request: pytest.FixtureRequest) -> None:
    is_recorded = bool(request.config.getoption("--record"))
    expected = cells.read()[action, situation]
    if not expected and not is_recorded:
        pytest.skip("docs/destructive.md says nothing about this cell yet")
    restored = world.enable()
    assert restored.rc == 0, restored.output[-3000:]
    with SITUATIONS[situation](world):
        start = world.audit.position()
        run = ACTIONS[action](world)
        world.audit.flush()
        written = world.audit.written(start)
    seen = str(cells.Outcome(code_of(run), bool(written)))
    if is_recorded:
        cells.write(cells.read() | {(action, situation): seen})
        return
    assert seen == expected, (written, run.output[-3000:])


def test_the_page_has_each_cell_once() -> None:
    assert set(cells.read()) == set(CELLS)
    assert set(CELLS) >= cells.SHORT
