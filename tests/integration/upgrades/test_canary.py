# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A new driver that does not build: the canary fails, gets its old driver back, and nobody else begins."""

from __future__ import annotations

import typing as t

import pytest
from integration.stack.driver_gaps import OLD
from integration.upgrades.upgrades import NODES, Upgrades

SCENARIO: t.Final = "driver-canary-fails"
pytestmark = pytest.mark.story("a failing canary, and then the same command again")
HURRIED: t.Final[dict[str, t.Any]] = {"grace": 4, "node_timeout": 90, "canary": "t4-1"}


def test_the_canary_gets_its_old_driver_back(installed: Upgrades) -> None:
    rules = installed.policy()["upgradePolicy"]
    made = installed.run(**HURRIED)
    assert (made.failed, made["code"]) == (True, "GPU-DRV-CRASH"), made.result
    assert "t4-1" in made["message"]
    assert (made["driver_upgrade"]["phase"], made["driver_upgrade"]["failed"]) == ("rolled-back", ["t4-1"])
    assert installed.versions() == dict.fromkeys(NODES, OLD)
    installed.assert_clean()
    assert (installed.policy()["version"], installed.policy()["upgradePolicy"]) == (OLD, rules)


def test_without_a_rollback_the_canary_stays_and_the_others_are_held(installed: Upgrades) -> None:
    made = installed.run(**HURRIED, rollback=False)
    assert made["code"] == "GPU-DRV-CRASH", made.result
    assert {node: version for node, version in installed.versions().items() if version == OLD} == (
        dict.fromkeys(("a100-0", "t4-0"), OLD)
    )
    assert installed.cordoned() == ["t4-1"]


def test_the_old_driver_is_a_way_out(installed: Upgrades) -> None:
    installed.succeed(OLD)
