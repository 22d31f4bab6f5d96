# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What changes while an upgrade runs: pods that start, nodes that come and go."""

from __future__ import annotations

import copy
import typing as t

import pytest
from unit.fake_server import Answer
from unit.upgrade.in_memory.builders import NEW, OLD, gpu_pod, params
from unit.upgrade.in_memory.controller import STATE, Operator
from unit.upgrade.test_run_steps import after_each_write

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import (
    AcceleratorError,
    NotReadyError,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.kinds import known
from ansible_collections.accelerators.openshift.plugins.module_utils._upgrade import node_driver, steps


def once_after_the_canary(operator: Operator, do: t.Callable[[], object]) -> None:
    """Call the function once, when the canary has its new driver."""
    is_done: list[bool] = []

    def hook(_method: str, _url: str) -> None:
        if operator.upgraded == [("gpu-0", NEW)] and not is_done:
            is_done.append(True)
            do()

    after_each_write(operator, hook)


def test_a_refusal_names_nodes_that_a_killed_run_has_cordoned() -> None:
    operator = Operator(("gpu-0", "gpu-1"))
    for name in ("gpu-0", "gpu-1"):
        operator.server.put(gpu_pod("train-" + name, name))
    operator.api().merge_patch(known("Node"), "gpu-1", None, node_driver.close("killed-run"))
    with pytest.raises(AcceleratorError) as caught:
        steps.ensure(operator.api(), params())
    assert caught.value.code == "UPGRADE-BUSY"
    assert "A run that ended early has cordoned gpu-1;" in caught.value.message


def test_pods_that_start_before_the_turn_of_their_node_do_not_end_unasked() -> None:
    operator = Operator(("gpu-0", "gpu-1"))
    once_after_the_canary(operator, lambda: operator.server.put(gpu_pod("train", "gpu-1")))
    with pytest.raises(AcceleratorError) as caught:
        steps.ensure(operator.api(), params())
    assert caught.value.code == "UPGRADE-BUSY"
    assert "team/train on gpu-1" in caught.value.message
    assert "Nothing was changed" not in caught.value.message
    assert operator.ended == []
    assert operator.versions() == {"gpu-0": NEW, "gpu-1": OLD}
    assert operator.held() == ["gpu-1"]
    operator.server.request = operator.request
    assert steps.ensure(operator.api(), params(on_busy="drain"))["driver_upgrade"]["phase"] == "done"
    assert operator.versions() == {"gpu-0": NEW, "gpu-1": NEW}
    assert operator.held() == []


def test_a_node_that_goes_away_before_its_turn_does_not_stop_the_upgrade() -> None:
    operator = Operator()

    def goes() -> None:
        del operator.server.objects["v1", "nodes", "", "gpu-1"]

    once_after_the_canary(operator, goes)
    found = steps.ensure(operator.api(), params())["driver_upgrade"]
    assert (found["phase"], found["passed"]) == ("done", ["gpu-0", "gpu-2"])
    assert operator.held() == []


def test_a_node_that_goes_away_in_a_rollback_does_not_stop_it() -> None:
    operator = Operator()
    operator.broken.add(NEW)

    def hook(_method: str, _url: str) -> None:
        if (
            operator.upgraded == [("gpu-0", NEW), ("gpu-0", OLD)]
            and ("v1", "nodes", "", "gpu-2") in operator.server.objects
        ):
            del operator.server.objects["v1", "nodes", "", "gpu-2"]

    after_each_write(operator, hook)
    with pytest.raises(NotReadyError) as caught:
        steps.ensure(operator.api(), params())
    assert caught.value.code == "GPU-DRV-CRASH"
    assert operator.phase() == "rolled-back"


def test_a_node_that_joins_during_the_upgrade_is_not_held_back_for_ever() -> None:
    operator = Operator()

    def joins() -> None:
        node = copy.deepcopy(operator.node("gpu-2"))
        node["metadata"] |= {"name": "gpu-9", "uid": "gpu-9", "annotations": {}}
        node["metadata"]["labels"] |= {"kubernetes.io/hostname": "gpu-9", STATE: "upgrade-done"}
        node["metadata"]["labels"].pop("nvidia.com/gpu-driver-upgrade.skip", None)
        operator.server.put(node)

    once_after_the_canary(operator, joins)
    assert steps.ensure(operator.api(), params())["driver_upgrade"]["phase"] == "done"
    assert operator.held() == []


def test_a_node_that_a_rollback_left_on_the_new_driver_is_not_given_to_the_operator() -> None:
    operator = Operator()
    operator.broken.add(("gpu-1", NEW))
    with pytest.raises(NotReadyError):
        steps.ensure(operator.api(), params())
    assert operator.versions()["gpu-0"] == NEW
    operator.server.put(gpu_pod("train", "gpu-0"))
    chosen = [{"name": "one", "node_selector": {"kubernetes.io/hostname": "gpu-0"}}]
    api = operator.api()
    steps.ensure(api, params(pools=chosen))
    assert operator.ended == [], "the object asks for the old driver, so the operator would replace it"
    assert operator.versions()["gpu-0"] == NEW
    assert operator.held() == ["gpu-0"]
    assert "gpu-0: label" in api.warnings[-1]
    operator.server.requests.clear()
    steps.ensure(operator.api(), params(pools=chosen))
    assert operator.server.writes() == []


def test_pods_on_a_node_that_has_the_driver_already_stop_nothing() -> None:
    operator = Operator(("gpu-0", "gpu-1"))

    def restarts() -> None:
        operator.restart("gpu-1")
        operator.server.put(gpu_pod("train", "gpu-1"))

    once_after_the_canary(operator, restarts)
    found = steps.ensure(operator.api(), params())["driver_upgrade"]
    assert (found["phase"], found["passed"]) == ("done", ["gpu-0", "gpu-1"])
    assert operator.ended == []


@pytest.mark.parametrize("is_slow", [False, True])
def test_a_node_that_fails_at_the_driver_before_gets_the_next_one(is_slow: bool) -> None:
    operator = Operator(("gpu-0",))
    operator.broken.add(NEW)
    with pytest.raises(NotReadyError):
        steps.ensure(operator.api(), params(rollback=False))
    inner = operator.server.request

    def request(method: str, url: str, **more: t.Any) -> Answer:
        # The controller gives up after the task has looked, while the DaemonSet has the template of NEW.
        if method == "PATCH" and "clusterpolicies" in url:
            operator.node("gpu-0")["metadata"]["labels"][STATE] = "upgrade-failed"
            operator.is_stopped = is_slow
        elif operator.is_stopped and "daemonsets" in url and "watch=" in url:
            operator.is_stopped = False
            operator.work()
        answer: Answer = inner(method, url, **more)
        return answer

    operator.server.request = request
    assert steps.ensure(operator.api(), params(version=OLD))["driver_upgrade"]["phase"] == "done"
    assert operator.upgraded == [("gpu-0", NEW), ("gpu-0", OLD)]


def test_a_node_whose_pods_nothing_ends_is_not_tried_twice() -> None:
    operator = Operator(("gpu-0",), gpu_pod("train", "gpu-0"))
    operator.stuck.add("train")
    for _run in range(2):
        operator.server.requests.clear()
        with pytest.raises(NotReadyError) as caught:
            steps.ensure(operator.api(), params(on_busy="drain", rollback=False, grace=5))
        assert caught.value.code == "GPU-UPG-FAILED"
    asked = [path for method, path in operator.server.writes() if method == "PATCH" and "/nodes/" in path]
    assert len(asked) == 1, asked
    assert operator.upgraded == []


@pytest.mark.parametrize("nodes", [("gpu-0", "gpu-1"), ("gpu-0", "gpu-1", "gpu-2")])
def test_a_wave_lists_the_pods_of_all_namespaces_once(nodes: tuple[str, ...]) -> None:
    """A cluster has thousands of them: one list before the plan, and one before each wave but the canary."""
    operator = Operator(nodes)
    steps.ensure(operator.api(), params())
    lists = [path for method, path, _query in operator.server.requests if method == "GET"]
    assert lists.count("/api/v1/pods") == len(nodes)
    # Each wait for a wave begins with a list, and the end of the upgrade looks at the drivers twice.
    assert lists.count("/api/v1/namespaces/nvidia-gpu-operator/pods") == len(nodes) + 2
