# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs that wait for their hours: what was asked before the wait is asked again after it."""

from __future__ import annotations

import pytest
from unit.upgrade.in_memory.builders import NAMESPACE, NEW, OLD, gpu_pod, params
from unit.upgrade.in_memory.controller import Operator

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import AcceleratorError
from ansible_collections.accelerators.openshift.plugins.module_utils._upgrade import steps
from ansible_collections.accelerators.openshift.plugins.module_utils._upgrade.options import Window
from ansible_collections.accelerators.openshift.plugins.module_utils._upgrade.state import NAME, PAUSE


def test_pods_that_start_while_the_window_is_closed_do_not_end_unasked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    operator = Operator(("gpu-0",))
    looks = iter([False, False])

    def is_open(*_: object) -> bool:
        operator.server.put(gpu_pod("train", "gpu-0"))
        return next(looks, True)

    monkeypatch.setattr(Window, "is_open", is_open)
    with pytest.raises(AcceleratorError) as caught:
        steps.ensure(operator.api(), params(window="22:00-04:00", outside_window="wait"))
    assert caught.value.code == "UPGRADE-BUSY"
    assert operator.ended == []
    assert operator.server.writes() == []


def test_a_pause_during_the_wait_for_the_window_stops_the_next_wave(monkeypatch: pytest.MonkeyPatch) -> None:
    operator = Operator()

    def is_open(*_: object) -> bool:
        if operator.upgraded != [("gpu-0", NEW)]:
            return True
        maps = operator.server.objects["v1", "configmaps", NAMESPACE, NAME]
        is_paused = PAUSE in maps["metadata"].get("annotations", {})
        maps["metadata"].setdefault("annotations", {})[PAUSE] = "true"
        return is_paused

    monkeypatch.setattr(Window, "is_open", is_open)
    found = steps.ensure(operator.api(), params(window="22:00-04:00", outside_window="wait"))
    assert found["driver_upgrade"]["phase"] == "paused"
    assert operator.versions() == {"gpu-0": NEW, "gpu-1": OLD, "gpu-2": OLD}
