# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The state of an upgrade survives its way through a ConfigMap."""

from __future__ import annotations

import pytest

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import NotReadyError
from ansible_collections.accelerators.openshift.plugins.module_utils._upgrade import state as states
from ansible_collections.accelerators.openshift.plugins.module_utils._upgrade.options import Triple
from ansible_collections.accelerators.openshift.plugins.module_utils._upgrade.state import State

WANTED = Triple("nvcr.io/nvidia", "driver", "610.57.04")
WHOLE = State(
    states.RUNNING,
    WANTED,
    before={"ClusterPolicy a": {"triple": ["r", "i", "v"], "rules": {"autoUpgrade": True}}},
    waves=(("n1",), ("n2", "n3")),
    passed=("n1",),
    failed=("n2",),
    seconds={"n1": 12.5},
    failure="GPU-DRV-CRASH: it crashed.",
    run="eva@host",
)


def test_what_is_written_is_read() -> None:
    assert states.read(WHOLE.manifest("x")) == WHOLE
    assert states.read(None) is None


def test_a_pause_is_an_annotation() -> None:
    live = WHOLE.manifest("x")
    live["metadata"]["annotations"] = {states.PAUSE: "true"}
    found = states.read(live)
    assert found is not None
    assert found.is_paused
    assert not WHOLE.is_paused


def test_a_state_that_nobody_can_read_is_refused() -> None:
    live = WHOLE.manifest("x")
    live["data"] = {"phase": "running", "state.json": "{"}
    with pytest.raises(NotReadyError) as caught:
        states.read(live)
    assert caught.value.code == "UPGRADE-STATE"


def test_another_upgrade_has_to_end_first() -> None:
    other = WANTED._replace(version="580.173.02")
    states.refuse_other(None, other, "nvidia")
    states.refuse_other(WHOLE, WANTED, "nvidia")
    states.refuse_other(WHOLE.at(phase=states.DONE), other, "nvidia")
    with pytest.raises(NotReadyError) as caught:
        states.refuse_other(WHOLE, other, "nvidia")
    assert caught.value.code == "UPGRADE-OTHER"
    assert "1 of 3 nodes" in caught.value.message
    assert "-n nvidia configmap" in caught.value.remedy


def test_a_new_upgrade_remembers_the_seconds_of_the_last() -> None:
    assert states.fresh(WANTED, WHOLE) == State(states.RUNNING, WANTED, seconds={"n1": 12.5})
