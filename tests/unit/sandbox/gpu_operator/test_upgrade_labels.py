# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The states of a driver upgrade."""

from __future__ import annotations

import pytest
from unit.sandbox.gpu_operator.builders import Object

from openshift_sandbox.stand_ins.gpu_operator.rules import upgrade_states


class TestUpgrade:
    @pytest.mark.parametrize(
        ("rules", "states", "unavailable", "free"),
        [
            ({}, ["upgrade-required"] * 8, 0, 1),
            ({"maxParallelUpgrades": 0, "maxUnavailable": "100%"}, ["upgrade-required"] * 8, 0, 8),
            ({"maxParallelUpgrades": 3}, ["upgrade-required"] * 8, 1, 1),
            ({}, ["upgrade-required", "pod-restart-required"], 1, 0),
            ({"maxParallelUpgrades": 4, "maxUnavailable": 2}, ["upgrade-required"] * 8, 0, 2),
        ],
    )
    def test_slots(self, rules: Object, states: list[str], unavailable: int, free: int) -> None:
        assert upgrade_states.slots(rules, states, unavailable) == free

    @pytest.mark.parametrize(
        ("state", "stale", "ready", "following"),
        [
            ("", False, True, "upgrade-done"),
            ("", False, False, ""),
            ("upgrade-done", True, True, "upgrade-required"),
            ("cordon-required", True, True, "wait-for-jobs-required"),
            ("wait-for-jobs-required", True, True, "pod-deletion-required"),
            ("pod-restart-required", True, True, "pod-restart-required"),
            ("pod-restart-required", False, False, "pod-restart-required"),
            ("pod-restart-required", False, True, "uncordon-required"),
            ("uncordon-required", False, True, "upgrade-done"),
            ("upgrade-failed", True, True, "upgrade-failed"),
        ],
    )
    def test_label_after_label(self, state: str, stale: bool, ready: bool, following: str) -> None:
        assert upgrade_states.after(state, stale, ready) == following
