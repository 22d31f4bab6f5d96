# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""kill -9 of an upgrade at twenty points: no write follows, and the next run ends what it began."""

from __future__ import annotations

import time
import typing as t
from pathlib import Path

import pytest
from integration.killed import is_killed
from integration.stack.driver_gaps import NEW, OLD, POOLS, Gaps, driver
from integration.upgrades.upgrades import NODES, QUICK, Upgrades

SCENARIO: t.Final = "gpu-nodes"
pytestmark = [
    pytest.mark.story("upgrades there and back, killed at each point; the run after that goes on"),
    pytest.mark.long("several minutes; upgrades/test_canary.py upgrades in every run"),
]


class Point(t.NamedTuple):
    """A moment of an upgrade: some seconds after its n-th write."""

    writes: int
    later: float = 0.0


POINTS: t.Final = (
    *(Point(writes) for writes in (1, 2, 3, 4, 5, 6, 7, 8)),
    *(Point(1, later) for later in (0.2, 0.5, 1, 2, 4, 6)),
    *(Point(writes, later) for writes in (2, 4, 6) for later in (0.3, 1.5)),
)


def test_there_are_twenty_points() -> None:
    assert len(set(POINTS)) == 20


def is_hit(upgrades: Upgrades, point: Point, version: str, directory: Path) -> bool:
    """Run an upgrade and kill it at a point; return False when it had ended before."""
    start = upgrades.audit.position()

    def is_there() -> bool:
        is_seen = len(upgrades.audit.written(start)) >= point.writes
        time.sleep(point.later if is_seen else 0)
        return is_seen

    wanted = {**driver(version), "pools": POOLS, **QUICK}
    return is_killed(upgrades.playbook, directory, is_there, "gpu_driver_upgrade", **wanted)


def assert_silent(upgrades: Upgrades, point: Point) -> None:
    """Assert that nothing of the killed run writes on; a worker looks once a second."""
    time.sleep(1.5)
    start = upgrades.audit.position()
    time.sleep(3)
    upgrades.audit.flush()
    assert upgrades.audit.written(start) == [], f"it was killed at {point}, and wrote on"


def test_killed_at_each_point_and_resumed(installed: Upgrades, tmp_path: Path) -> None:
    rules, there = installed.policy()["upgradePolicy"], True
    with Gaps(installed.cluster) as gaps:
        for point in POINTS:
            while not is_hit(installed, point, NEW if there else OLD, tmp_path):
                # The runs before left too little to do: this upgrade is done, and the next one begins.
                installed.succeed(NEW if there else OLD)
                assert installed.policy()["upgradePolicy"] == rules
                there = not there
            assert_silent(installed, point)
        done = installed.succeed(NEW if there else OLD)
    assert set(done["passed"]) <= set(NODES)
    assert installed.policy()["upgradePolicy"] == rules
    # One node at a time, also while no run looks.
    assert max(gaps.most.values()) <= 1


def test_the_last_run_left_nothing_to_do(installed: Upgrades) -> None:
    version = next(iter(set(installed.versions().values())))
    again = installed.run(version)
    assert (again.failed, again.changed, installed.audit.writes(again)) == (False, False, []), again.result
