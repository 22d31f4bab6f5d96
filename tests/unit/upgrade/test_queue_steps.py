# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Stopping the queues of Kueue for an upgrade, and giving their stopPolicy back."""

from __future__ import annotations

import json
import typing as t

import pytest
from unit.killed_run import KilledError
from unit.upgrade.in_memory.builders import NEW, gpu_pod, params
from unit.upgrade.in_memory.controller import Operator
from unit.upgrade.in_memory.kueue import HOST, Platform, flavor, queue, workload

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import (
    AcceleratorError,
    InputError,
    NotReadyError,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._upgrade import steps

NODES: t.Final = ("gpu-0", "gpu-1")


def one_queue(*more: t.Any, **spec: str) -> Platform:
    """Return two nodes with a queue of their own, and a Workload that Kueue admitted there."""
    mine = flavor("a100", **{"nvidia.com/gpu.present": "true"})
    admitted = workload("train", "gpus", "a100")
    return Platform(mine, queue("gpus", "a100", **spec), admitted, *more, nodes=NODES)


def test_a_drained_queue_requeues_its_workloads_before_the_first_node() -> None:
    platform = one_queue(gpu_pod("other", "gpu-0"))
    found = steps.ensure(platform.api(), params(on_busy="drain"))["driver_upgrade"]
    assert platform.policies == [("gpus", "HoldAndDrain"), ("gpus", "None")]
    assert platform.admitted() == []
    assert (found["phase"], found["stopped_queues"]) == ("done", [])
    assert any("HoldAndDrain" in line and "team/train" in line for line in found["plan"])


def test_the_old_value_is_in_the_state_before_the_first_write_to_a_queue() -> None:
    platform = one_queue()
    platform.writes_left = 2
    with pytest.raises(KilledError):
        steps.ensure(platform.api(), params())
    assert platform.policies == []
    data = platform.must("ConfigMap", "gpu-driver-upgrade")["data"]
    stored = json.loads(data["state.json"])["queues"]["gpus"]
    assert (stored["before"], stored["set"], stored["pools"]) == ("None", "Hold", ["all"])


@pytest.mark.parametrize("on_busy", ["fail", "wait"])
def test_without_drain_a_queue_is_held_and_its_workloads_go_on(on_busy: str) -> None:
    platform = one_queue()
    steps.ensure(platform.api(), params(on_busy=on_busy))
    assert platform.policies == [("gpus", "Hold"), ("gpus", "None")]
    assert platform.admitted() == ["train"]


def test_a_queue_with_workloads_on_other_nodes_is_only_held() -> None:
    platform = Platform(
        flavor("here", **{HOST: "gpu-0"}),
        flavor("there", **{HOST: "gpu-9"}),
        queue("shared", "here", "there"),
        workload("mine", "shared", "here"),
        workload("theirs", "shared", "there"),
        nodes=NODES,
    )
    found = steps.ensure(platform.api(), params(on_busy="drain"))["driver_upgrade"]
    assert platform.policies == [("shared", "Hold"), ("shared", "None")]
    assert any("go on: 1 Workload (team/theirs)" in line for line in found["plan"])
    live = [*platform.all("ResourceFlavor"), *platform.all("Workload")]
    again = Platform(queue("shared", "here", "there"), *live, nodes=NODES)
    steps.ensure(again.api(), params(on_busy="drain", queues="drain"))
    assert again.policies == [("shared", "HoldAndDrain"), ("shared", "None")]
    assert again.admitted() == []


def test_queues_without_devices_of_the_pool_stay_as_they_are() -> None:
    platform = Platform(
        flavor("everywhere"),
        flavor("elsewhere", **{HOST: "gpu-9"}),
        queue("processors", "everywhere", resource="cpu"),
        queue("others", "elsewhere"),
        nodes=NODES,
    )
    steps.ensure(platform.api(), params(on_busy="drain"))
    assert platform.policies == []


@pytest.mark.parametrize("options", [{"queues": "leave"}, {"wait": False}])
def test_queues_can_be_left_alone(options: dict[str, t.Any]) -> None:
    platform = one_queue()
    api = platform.api(wait_wanted=options.get("wait", True))
    steps.ensure(api, params(**options))
    assert platform.policies == []


def test_a_queue_that_somebody_else_stopped_stays_so() -> None:
    platform = one_queue(stopPolicy="Hold")
    found = steps.ensure(platform.api(), params(on_busy="drain"))["driver_upgrade"]
    assert platform.policies == []
    assert any("others stopped it (Hold)" in line for line in found["plan"])


def test_a_value_that_somebody_sets_meanwhile_stays() -> None:
    platform = one_queue()
    inner = platform.request

    def request(method: str, url: str, **more: t.Any) -> t.Any:
        answer = inner(method, url, **more)
        if platform.upgraded == [("gpu-0", NEW)]:
            platform.must("ClusterQueue", "gpus")["spec"]["stopPolicy"] = "HoldAndDrain"
        return answer

    platform.server.request = request
    api = platform.api()
    steps.ensure(api, params())
    assert platform.policy("gpus") == "HoldAndDrain"
    assert any("somebody set stopPolicy HoldAndDrain" in one for one in api.warnings)


def test_a_value_that_somebody_sets_between_two_waves_stays() -> None:
    platform = one_queue()
    inner = platform.request

    def request(method: str, url: str, **more: t.Any) -> t.Any:
        answer = inner(method, url, **more)
        spec = platform.must("ClusterQueue", "gpus")["spec"]
        if platform.upgraded == [("gpu-0", NEW)] and spec["stopPolicy"] == "Hold":
            spec["stopPolicy"] = "HoldAndDrain"
        return answer

    platform.server.request = request
    steps.ensure(platform.api(), params())
    assert platform.policies == [("gpus", "Hold")]
    assert platform.policy("gpus") == "HoldAndDrain"


def test_check_mode_names_the_workloads_and_writes_nothing() -> None:
    platform = one_queue()
    found = steps.ensure(platform.api(check_mode=True), params(on_busy="drain"))["driver_upgrade"]
    assert platform.server.writes() == []
    assert any("Kueue requeues 1 Workload (team/train)" in line for line in found["plan"])


def test_a_second_run_writes_nothing() -> None:
    platform = one_queue()
    steps.ensure(platform.api(), params())
    platform.server.requests.clear()
    steps.ensure(platform.api(), params())
    assert platform.server.writes() == []


def test_a_failed_upgrade_gives_the_queue_back() -> None:
    platform = one_queue()
    platform.broken.add(NEW)
    with pytest.raises(NotReadyError) as caught:
        steps.ensure(platform.api(), params())
    assert caught.value.code == "GPU-DRV-CRASH"
    assert "gpus: the stopPolicy is as before" in caught.value.message
    assert (platform.policy("gpus"), platform.phase()) == ("None", "rolled-back")


def test_kueue_that_requeues_nothing_fails_the_run_before_the_first_node() -> None:
    platform = one_queue()
    platform.is_slow = True
    api = platform.api()
    api.deadline.seconds = 0.0
    with pytest.raises(AcceleratorError) as caught:
        steps.ensure(api, params(on_busy="drain"))
    assert caught.value.code == "UPGRADE-QUEUE"
    assert "team/train" in caught.value.message
    assert (platform.upgraded, platform.held(), platform.policy("gpus")) == ([], [], "None")


def test_each_pool_stops_its_own_queue_for_its_own_waves() -> None:
    platform = Platform(
        flavor("a", **{HOST: "gpu-0"}),
        flavor("b", **{HOST: "gpu-1"}),
        queue("first", "a"),
        queue("second", "b"),
        nodes=NODES,
    )
    pools = [
        {"name": "a", "node_selector": {HOST: "gpu-0"}},
        {"name": "b", "node_selector": {HOST: "gpu-1"}},
    ]
    steps.ensure(platform.api(), params(pools=pools))
    assert platform.policies == [("first", "Hold"), ("first", "None"), ("second", "Hold"), ("second", "None")]


def test_a_pause_between_two_waves_gives_the_queue_back_and_resume_stops_it_again() -> None:
    platform = one_queue()
    inner = platform.request

    def request(method: str, url: str, **more: t.Any) -> t.Any:
        answer = inner(method, url, **more)
        if platform.upgraded == [("gpu-0", NEW)]:
            marks = platform.must("ConfigMap", "gpu-driver-upgrade")["metadata"].setdefault("annotations", {})
            marks["accelerators.openshift/pause-driver-upgrade"] = "true"
        return answer

    platform.server.request = request
    assert steps.ensure(platform.api(), params())["driver_upgrade"]["phase"] == "paused"
    assert platform.policies == [("gpus", "Hold"), ("gpus", "None")]
    platform.server.request = platform.request
    steps.ensure(platform.api(), params(action="resume"))
    assert platform.policies[2:] == [("gpus", "Hold"), ("gpus", "None")]


def test_drain_needs_the_consent_to_end_pods() -> None:
    platform = one_queue()
    with pytest.raises(InputError) as caught:
        steps.ensure(platform.api(), params(queues="drain", on_busy="wait"))
    assert caught.value.code == "UPGRADE-QUEUE-DRAIN"
    assert platform.server.writes() == []


def test_a_cluster_without_kueue_is_asked_once() -> None:
    operator = Operator(NODES)
    steps.ensure(operator.api(), params())
    asked = [path for _method, path, _query in operator.server.requests if "kueue" in path]
    assert len(asked) == 2
