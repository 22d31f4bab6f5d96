# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Nodes that are emptied before their turn: gangs end whole or not at all."""

from __future__ import annotations

import typing as t

import pytest
from unit.upgrade.in_memory.builders import NEW, OLD, gpu_pod, params
from unit.upgrade.in_memory.kueue import Platform, budget, member
from unit.upgrade.test_run_steps import after_each_write

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import AcceleratorError
from ansible_collections.accelerators.openshift.plugins.module_utils._upgrade import steps

POOL: t.Final = [{"name": "one", "node_selector": {"kubernetes.io/hostname": "gpu-0"}}]
GANG: t.Final = ("w-0", "w-1", "launcher")


def cluster(*more: t.Any) -> Platform:
    """Return three nodes with a gang, whose launcher has no GPU, and a pod that works alone."""
    pods = [member("w-0", "gpu-0"), member("w-1", "gpu-1"), member("launcher", "gpu-2", gpus="")]
    return Platform(*pods, gpu_pod("alone", "gpu-0"), *more)


def test_the_whole_gang_is_evicted_before_the_controller_begins() -> None:
    platform = cluster()
    api = platform.api()
    found = steps.ensure(api, params(on_busy="drain", pools=POOL))["driver_upgrade"]
    assert sorted(platform.evicted) == sorted(GANG)
    assert platform.ended[-1] == "alone", "the controller ended it"
    assert platform.versions() == {"gpu-0": NEW, "gpu-1": OLD, "gpu-2": OLD}
    assert "JobSet team/train ends whole or not at all: 3 pods on gpu-0, gpu-1, gpu-2" in found["plan"]
    assert {one["name"] for one in found["ends"][0]["pods"]} == {*GANG, "alone"}
    assert any("3 GPU pods and 1 other pod of their gangs" in one for one in api.warnings)


def test_consent_counts_pods_on_nodes_that_are_not_upgraded() -> None:
    platform = cluster()
    with pytest.raises(AcceleratorError) as caught:
        steps.ensure(platform.api(), params(pools=POOL))
    assert caught.value.code == "UPGRADE-BUSY"
    assert all(f"team/{one} on" in caught.value.message for one in GANG)
    assert platform.server.writes() == []


def test_a_pod_of_a_gang_without_a_controller_needs_its_own_consent() -> None:
    platform = cluster()
    platform.must("Pod", "launcher")["metadata"].pop("ownerReferences")
    with pytest.raises(AcceleratorError) as caught:
        steps.ensure(platform.api(), params(on_busy="drain", pools=POOL))
    assert caught.value.code == "NODE-UNMANAGED"
    assert "team/launcher" in caught.value.message


def test_a_budget_that_keeps_a_part_keeps_the_whole_gang() -> None:
    platform = cluster(budget(2))
    api = platform.api()
    api.deadline.seconds = 0.0
    with pytest.raises(AcceleratorError) as caught:
        steps.ensure(api, params(on_busy="drain", pools=POOL))
    assert caught.value.code == "UPGRADE-GANG"
    assert "allows the end of 2 of 3 pods" in caught.value.message
    assert (platform.evicted, platform.upgraded, platform.ended) == ([], [], [])
    assert not platform.node("gpu-0")["spec"].get("unschedulable")


def test_the_plan_names_the_budget() -> None:
    platform = cluster(budget(2))
    found = steps.ensure(platform.api(check_mode=True), params(on_busy="drain", pools=POOL))
    assert any("PodDisruptionBudget team/keep" in line for line in found["driver_upgrade"]["plan"])
    assert platform.server.writes() == []


def test_an_eviction_that_is_refused_is_asked_again() -> None:
    platform = cluster()
    platform.refusals["w-1"] = 2
    steps.ensure(platform.api(), params(on_busy="drain", pools=POOL))
    assert sorted(platform.evicted) == sorted(GANG)
    assert platform.versions()["gpu-0"] == NEW


def test_wait_waits_for_the_whole_gang() -> None:
    platform = cluster()

    def ends(_method: str, _url: str) -> None:
        if platform.node("gpu-0")["spec"].get("unschedulable"):
            platform.end("w-0")
            platform.end("alone")

    after_each_write(platform, ends)
    api = platform.api()
    api.deadline.seconds = 0.0
    with pytest.raises(AcceleratorError) as caught:
        steps.ensure(api, params(on_busy="wait", pools=POOL))
    assert caught.value.code == "UPGRADE-BUSY"
    assert "w-1" in "".join(caught.value.evidence)
    assert (platform.evicted, platform.upgraded) == ([], [])
    for object_name in ("w-1", "launcher"):
        platform.end(object_name)
    steps.ensure(platform.api(), params(on_busy="wait", pools=POOL))
    assert platform.versions()["gpu-0"] == NEW
    assert platform.evicted == []


def test_gangs_elsewhere_go_on() -> None:
    platform = Platform(member("a", "gpu-1"), member("b", "gpu-2"))
    steps.ensure(platform.api(), params(pools=POOL))
    assert (platform.evicted, platform.ended) == ([], [])


@pytest.mark.parametrize("on_busy", ["fail", "wait", "drain"])
@pytest.mark.parametrize("kind", ["DaemonSet", "static"])
def test_a_pod_that_the_controller_never_deletes_is_refused_before_the_canary(
    kind: str, on_busy: str
) -> None:
    agent = gpu_pod("agent-x", "gpu-0")
    agent["metadata"]["ownerReferences"][0] |= {"kind": "DaemonSet", "name": "agent"}
    if kind == "static":
        agent["metadata"] |= {"ownerReferences": [], "annotations": {"kubernetes.io/config.mirror": "x"}}
    platform = cluster(agent)
    with pytest.raises(AcceleratorError) as caught:
        steps.ensure(platform.api(), params(on_busy=on_busy, pools=POOL))
    assert caught.value.code == "GPU-UPG-KEPT"
    assert "team/agent-x on gpu-0" in caught.value.message
    assert (platform.server.writes(), platform.evicted) == ([], [])


def test_the_plan_has_the_pod_that_names_a_gpu_with_the_number_0() -> None:
    zero = gpu_pod("zero", "gpu-0")
    zero["spec"]["containers"][0]["resources"]["limits"] = {"nvidia.com/gpu": "0"}
    with pytest.raises(AcceleratorError, match="team/zero on gpu-0") as caught:
        steps.ensure(cluster(zero).api(), params(pools=POOL))
    assert caught.value.code == "UPGRADE-BUSY"
