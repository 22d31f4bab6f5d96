# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Driver upgrades on an upgrade controller in memory: order, gates, rollback, and runs that were killed."""

from __future__ import annotations

import pytest
from unit.killed_run import KilledError
from unit.upgrade.in_memory.builders import NEW, OLD, gpu_pod, params
from unit.upgrade.in_memory.controller import Operator

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import (
    AcceleratorError,
    InputError,
    NotReadyError,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._upgrade import gate_steps, steps


def test_the_canary_goes_first_and_then_wave_by_wave() -> None:
    operator = Operator()
    found = steps.ensure(operator.api(), params())["driver_upgrade"]
    assert operator.upgraded == [("gpu-0", NEW), ("gpu-1", NEW), ("gpu-2", NEW)]
    assert found["phase"] == "done"
    assert found["plan"] == ["canary: gpu-0", "wave 1: gpu-1", "wave 2: gpu-2"]
    assert operator.held() == []
    assert operator.phase() == "done"


def test_a_second_run_writes_nothing() -> None:
    operator = Operator()
    steps.ensure(operator.api(), params())
    operator.server.requests.clear()
    api = operator.api()
    found = steps.ensure(api, params())["driver_upgrade"]
    assert operator.server.writes() == []
    assert api.changes == []
    assert found["phase"] == "done"


def test_a_failing_canary_gets_its_old_driver_and_no_other_node_is_touched() -> None:
    operator = Operator()
    operator.broken.add(NEW)
    with pytest.raises(NotReadyError) as caught:
        steps.ensure(operator.api(), params())
    assert caught.value.code == "GPU-DRV-CRASH"
    assert operator.upgraded == [("gpu-0", NEW), ("gpu-0", OLD)]
    assert operator.versions() == dict.fromkeys(("gpu-0", "gpu-1", "gpu-2"), OLD)
    assert operator.held() == []
    assert operator.phase() == "rolled-back"
    assert "gpu-0 has the old driver again" in caught.value.message


def test_nodes_that_worked_keep_the_new_driver() -> None:
    operator = Operator()
    operator.broken.add(("gpu-1", NEW))
    with pytest.raises(NotReadyError) as caught:
        steps.ensure(operator.api(), params())
    assert operator.versions() == {"gpu-0": NEW, "gpu-1": OLD, "gpu-2": OLD}
    assert operator.held() == ["gpu-0"]
    assert "keep the new one" in caught.value.message
    operator.broken.clear()
    steps.ensure(operator.api(), params())
    assert operator.versions() == dict.fromkeys(("gpu-0", "gpu-1", "gpu-2"), NEW)
    assert operator.held() == []


def test_without_a_rollback_the_failing_node_stays_as_it_is() -> None:
    operator = Operator()
    operator.broken.add(NEW)
    with pytest.raises(NotReadyError):
        steps.ensure(operator.api(), params(rollback=False))
    assert operator.versions()["gpu-0"] == NEW
    assert operator.phase() == "failed"


def test_a_node_that_failed_the_gate_goes_through_it_again(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object) -> None:
        raise NotReadyError("UPGRADE-PROBE", "The probe failed.", "Read its log.")

    operator = Operator()
    with monkeypatch.context() as patch:
        patch.setattr(gate_steps, "check", fails)
        for _run in range(2):
            with pytest.raises(NotReadyError) as caught:
                steps.ensure(operator.api(), params(rollback=False))
            assert caught.value.code == "UPGRADE-PROBE"
            assert operator.upgraded == [("gpu-0", NEW)]
            assert operator.phase() == "failed"
    steps.ensure(operator.api(), params())
    assert operator.versions() == dict.fromkeys(("gpu-0", "gpu-1", "gpu-2"), NEW)


def test_busy_nodes_are_asked_for_before_the_first_write() -> None:
    operator = Operator(("gpu-0", "gpu-1"), gpu_pod("train", "gpu-1"))
    with pytest.raises(AcceleratorError) as caught:
        steps.ensure(operator.api(), params())
    assert caught.value.code == "UPGRADE-BUSY"
    assert "team/train on gpu-1" in caught.value.message
    assert operator.server.writes() == []


def test_drain_lets_pods_end_and_says_which() -> None:
    operator = Operator(("gpu-0", "gpu-1"), gpu_pod("train", "gpu-0"))
    found = steps.ensure(operator.api(), params(on_busy="drain"))["driver_upgrade"]
    assert operator.upgraded == [("gpu-1", NEW), ("gpu-0", NEW)], "the node without pods is the canary"
    assert [pod["name"] for one in found["ends"] for pod in one["pods"]] == ["train"]


def test_check_mode_shows_the_plan_and_writes_nothing() -> None:
    operator = Operator()
    api = operator.api(check_mode=True)
    found = steps.ensure(api, params())["driver_upgrade"]
    assert operator.server.writes() == []
    assert found["plan"][0] == "canary: gpu-0"
    assert "ClusterPolicy gpu-cluster-policy" in {one.object_name for one in api.changes}


def test_each_nvidiadriver_gets_the_driver_when_its_turn_comes() -> None:
    operator = Operator(("gpu-0", "gpu-1"), **{"gpu-0": "a", "gpu-1": "b"})
    operator.broken.add(("gpu-1", NEW))
    with pytest.raises(NotReadyError):
        steps.ensure(operator.api(), params())
    assert operator.must("NVIDIADriver", "a")["spec"]["version"] == NEW
    assert operator.must("NVIDIADriver", "b")["spec"]["version"] == OLD
    assert operator.held() == []


@pytest.mark.parametrize("writes", range(10))
def test_the_next_run_resumes_a_killed_one(writes: int) -> None:
    operator = Operator()
    operator.writes_left = writes
    with pytest.raises(KilledError):
        steps.ensure(operator.api(), params())
    operator.writes_left = None
    found = steps.ensure(operator.api(), params())["driver_upgrade"]
    assert found["phase"] == "done"
    assert operator.versions() == dict.fromkeys(("gpu-0", "gpu-1", "gpu-2"), NEW)
    assert operator.held() == []
    assert not any(one["spec"].get("unschedulable") for one in operator.all("Node"))


def test_a_wave_larger_than_the_pool_is_refused() -> None:
    operator = Operator()
    with pytest.raises(InputError) as caught:
        steps.ensure(operator.api(), params(wave="4"))
    assert caught.value.code == "UPGRADE-WAVE"
    assert operator.server.writes() == []


def test_a_version_without_its_repository_is_refused() -> None:
    operator = Operator()
    with pytest.raises(InputError) as caught:
        steps.ensure(operator.api(), params(repository=None))
    assert caught.value.code == "UPGRADE-TRIPLE"
    assert caught.value.message.startswith("repository: ")
    assert operator.server.requests == []
