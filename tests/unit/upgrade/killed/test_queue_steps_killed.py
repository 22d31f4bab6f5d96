# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Queues that a killed run left stopped: whoever runs next gives their stopPolicy back."""

from __future__ import annotations

import typing as t

import pytest
from unit.killed_run import KilledError
from unit.upgrade.in_memory.builders import NAMESPACE, NEW, gpu_pod, params
from unit.upgrade.in_memory.kueue import Platform
from unit.upgrade.test_queue_steps import one_queue

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import (
    AcceleratorError,
    NotReadyError,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._core.run import holder
from ansible_collections.accelerators.openshift.plugins.module_utils._upgrade import state as states, steps


@pytest.mark.parametrize("writes", range(3, 11))
def test_the_next_run_after_a_kill_gives_the_queue_back(writes: int) -> None:
    platform = one_queue()
    platform.writes_left = writes
    with pytest.raises(KilledError):
        steps.ensure(platform.api(), params())
    platform.writes_left = None
    found = steps.ensure(platform.api(), params())["driver_upgrade"]
    assert (found["phase"], found["stopped_queues"]) == ("done", [])
    assert platform.policy("gpus") in (None, "None")


def killed_and_stopped(*pods: t.Any) -> Platform:
    """Return a cluster whose run was killed while its queue is held."""
    platform = one_queue()
    platform.writes_left = 4
    with pytest.raises(KilledError):
        steps.ensure(platform.api(), params())
    platform.writes_left = None
    assert platform.policy("gpus") == "Hold"
    for pod in pods:
        platform.server.put(pod)
    return platform


def test_a_stopped_queue_says_which_run_stopped_it_until_it_is_given_back() -> None:
    platform = killed_and_stopped()
    assert holder(platform.must("ClusterQueue", "gpus")).startswith("the driver upgrade of ")
    steps.ensure(platform.api(), params())
    assert holder(platform.must("ClusterQueue", "gpus")) == ""


def test_a_queue_comes_back_also_if_somebody_deleted_the_state() -> None:
    platform = killed_and_stopped()
    del platform.server.objects["v1", "configmaps", NAMESPACE, states.NAME]
    steps.ensure(platform.api(), params())
    assert platform.policy("gpus") == "None"


def test_a_refused_run_after_a_kill_gives_the_queue_back() -> None:
    platform = killed_and_stopped(gpu_pod("train", "gpu-1"))
    with pytest.raises(AcceleratorError) as caught:
        steps.ensure(platform.api(), params())
    assert caught.value.code == "UPGRADE-BUSY"
    assert platform.policy("gpus") == "None"


def test_another_upgrade_that_is_refused_gives_the_queue_back() -> None:
    platform = killed_and_stopped()
    with pytest.raises(NotReadyError) as caught:
        steps.ensure(platform.api(), params(version="580.173.02"))
    assert caught.value.code == "UPGRADE-OTHER"
    assert platform.policy("gpus") == "None"


def test_a_pause_after_a_kill_gives_the_queue_back() -> None:
    platform = killed_and_stopped()
    found = steps.ensure(platform.api(), params(action="pause"))["driver_upgrade"]
    assert (found["pausing"], found["stopped_queues"]) == (True, [])
    assert platform.policy("gpus") == "None"


def test_a_run_that_leaves_queues_alone_gives_those_of_a_killed_run_back_at_once() -> None:
    platform = killed_and_stopped()
    platform.policies.clear()
    seen: list[str | None] = []
    inner = platform.request

    def request(method: str, url: str, **more: t.Any) -> t.Any:
        answer = inner(method, url, **more)
        if platform.upgraded == [("gpu-0", NEW)]:
            seen.append(platform.policy("gpus"))
        return answer

    platform.server.request = request
    steps.ensure(platform.api(), params(queues="leave"))
    assert platform.policies == [("gpus", "None")]
    assert seen[0] == "None"


class Working:
    """The guard of a task while another run holds the lease."""

    def before_write(self) -> None:
        raise AcceleratorError("RUN-LOCKED", "Another run changes this cluster.", "Wait for it.")

    def on_wait(self) -> None:
        return

    def is_over(self, _run: str) -> bool:
        return False


def test_queues_of_a_run_that_still_works_stay_stopped() -> None:
    platform = killed_and_stopped(gpu_pod("train", "gpu-1"))
    with pytest.raises(AcceleratorError) as caught:
        steps.ensure(platform.api(guard=Working()), params())
    assert caught.value.code == "UPGRADE-BUSY"
    steps.ensure(platform.api(guard=Working()), params(action="pause"))
    assert platform.policy("gpus") == "Hold"
