# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""gpu_driver_upgrade with one NVIDIADriver for each pool: pool by pool, and a second run without a write."""

from __future__ import annotations

import typing as t

import pytest
from integration.stack.driver_gaps import DRIVERS, NEW, OLD
from integration.upgrades.upgrades import NODES, Upgrades

SCENARIO: t.Final = "gpu-nodes"
pytestmark = [
    pytest.mark.story("one stack with a driver for each pool"),
    pytest.mark.long("a driver for each pool; upgrades/test_canary.py has the driver of all in every run"),
]


@pytest.fixture(scope="module")
def installed(upgrades: Upgrades) -> Upgrades:
    upgrades.install(backend="nvidiadriver")
    return upgrades


def asked(upgrades: Upgrades) -> dict[str, str]:
    """Return the version that each NVIDIADriver asks for."""
    found = upgrades.client.list(*DRIVERS)
    return {one["metadata"]["name"]: one["spec"]["version"] for one in found}


def test_both_pools_get_the_new_driver(installed: Upgrades) -> None:
    assert asked(installed) == {"inference": OLD, "training": OLD}
    done = installed.succeed(canary="t4-1")
    assert (done["passed"][0], sorted(done["passed"])) == ("t4-1", sorted(NODES))
    assert asked(installed) == {"inference": NEW, "training": NEW}


def test_a_second_run_writes_nothing(installed: Upgrades) -> None:
    again = installed.run()
    assert (again.failed, again.changed, installed.audit.writes(again)) == (False, False, []), again.result
