# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""kill -9 of an upgrade at twenty points: no write follows, and the next run ends what it began."""

from __future__ import annotations

import re
import time
import typing as t
from pathlib import Path

import pytest
from integration.killed import kill
from integration.stack.driver_gaps import NEW, OLD, POOLS, Gaps, driver
from integration.upgrades.upgrades import NODES, QUICK, Upgrades

SCENARIO: t.Final = "gpu-nodes"
pytestmark = [
    pytest.mark.story("an upgrade is killed at each point; the runs between two rounds end it"),
    pytest.mark.long("several minutes; upgrades/test_policy.py upgrades in every run"),
]
MAPS: t.Final = "(create|patch) configmaps"
NODE: t.Final = "patch nodes"
POLICY: t.Final = "patch clusterpolicies.nvidia.com"
PODS: t.Final = "create pods"


class Point(t.NamedTuple):
    """A moment of an upgrade in which it is killed: some seconds after the n-th write of a kind."""

    write: str
    number: int = 1
    later: float = 0.0

    def __str__(self) -> str:
        what = f"{self.write.replace('(create|patch)', 'write').split('.')[0]} {self.number}"
        return f"{what} and {self.later:g} s" if self.later else what


# Each round ends with a run that is not killed. A killed run leaves less to do for the next one.
ROUNDS: t.Final = (
    (Point(MAPS), Point(NODE), Point(POLICY), Point(POLICY, 1, 2)),
    (Point(NODE, 2), Point(POLICY, 1, 1), Point(PODS)),
    (Point(POLICY, 1, 3), Point(PODS, 1, 1), Point(MAPS, 2)),
    (Point(POLICY), Point(MAPS, 2, 1), Point(MAPS, 2)),
    (Point(POLICY, 1, 5), Point(MAPS, 1, 4), Point(MAPS, 2, 2)),
    (Point(NODE, 1, 0.5), Point(MAPS, 1, 2), Point(PODS, 1, 0.5), Point(MAPS, 3)),
)
POINTS: t.Final = [(number, point) for number, points in enumerate(ROUNDS) for point in points]


@pytest.fixture(scope="module")
def installed(upgrades: Upgrades) -> Upgrades:
    upgrades.install()
    return upgrades


def target(number: int) -> str:
    """Return the driver of a round: to the new one and back in turn."""
    return OLD if number % 2 else NEW


def test_there_are_twenty_points() -> None:
    assert len(POINTS) == 20


def assert_silent(upgrades: Upgrades, point: Point) -> None:
    """Assert that nothing of the killed run writes on; a worker looks once a second."""
    time.sleep(1.5)
    start = upgrades.audit.position()
    time.sleep(3)
    upgrades.audit.flush()
    assert upgrades.audit.written(start) == [], f"it was killed at {point}, and wrote on"


@pytest.mark.parametrize("number", range(len(ROUNDS)))
def test_killed_and_resumed(installed: Upgrades, number: int, tmp_path: Path) -> None:
    wanted = {**driver(target(number)), "pools": POOLS, **QUICK}
    rules = installed.policy()["upgradePolicy"]
    with Gaps(installed.cluster) as gaps:
        for point in ROUNDS[number]:
            start = installed.audit.position()

            def is_there(point: Point = point, start: int = start) -> bool:
                written = installed.audit.written(start)
                is_seen = sum(bool(re.fullmatch(point.write, one)) for one in written) >= point.number
                time.sleep(point.later if is_seen else 0)
                return is_seen

            kill(installed.playbook, tmp_path, is_there, "gpu_driver_upgrade", **wanted)
            assert_silent(installed, point)
        done = installed.succeed(target(number))
    assert sorted(done["passed"]) == sorted(NODES)
    # One node at a time, also while no run looks.
    assert max(gaps.most.values()) <= 1
    assert installed.policy()["upgradePolicy"] == rules


def test_the_last_run_left_nothing_to_do(installed: Upgrades) -> None:
    again = installed.run(target(len(ROUNDS) - 1))
    assert (again.failed, again.changed, installed.audit.writes(again)) == (False, False, []), again.result
