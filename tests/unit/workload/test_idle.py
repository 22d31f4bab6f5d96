# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The validation of idle nodes: it leaves nodes with work alone, and gives way to work without a failure."""

from __future__ import annotations

import typing as t

import pytest
from unit.workload.builders import node, params
from unit.workload.test_steps import World

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import (
    AcceleratorError,
    InputError,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._core.objects import KubeObject
from ansible_collections.accelerators.openshift.plugins.module_utils._workload import idle, steps, turns

Key = tuple[str, str, str, str]
CLASS: t.Final = ("scheduling.k8s.io/v1", "priorityclasses", "", "gpu-idle")
OF_OTHERS: t.Final = {"type": "DisruptionTarget", "status": "True", "reason": "PreemptionByScheduler"}


def validate(world: World, **given: t.Any) -> dict[str, tuple[str, str]]:
    """Return outcome and reason of each node."""
    found = steps.present(world.api(), params(idle=True, max_nodes=0, **given))
    programs = {one["name"]: one["programs"] for one in found["workload"]["nodes"]}
    return {name: (outcome["outcome"], outcome["reason"]) for name, (outcome,) in programs.items()}


def on(host: str, then: t.Callable[[World, KubeObject, Key], None]) -> World:
    """Return a cluster in which this happens to the pod of a host, and every other pod passes."""

    def happens(pod: KubeObject, key: Key) -> None:
        if pod["spec"]["nodeSelector"]["kubernetes.io/hostname"] == host:
            then(world, pod, key)
        else:
            world.succeed(pod, key)

    world = World(happens)
    return world


def work(world: World, gpus: str) -> None:
    """Let a pod of somebody hold devices of gpu-0."""
    containers = [{"resources": {"limits": {"nvidia.com/gpu": gpus}}}]
    pod = {"metadata": {"name": "train", "namespace": "team"}, "status": {"phase": "Running"}}
    spec = {"nodeName": "gpu-0", "containers": containers}
    world.server.put({"apiVersion": "v1", "kind": "Pod", **pod, "spec": spec})


def test_a_node_with_work_is_left_alone_even_if_devices_are_free() -> None:
    world = World()
    world.server.put({"apiVersion": "v1", "kind": "Node", **node("gpu-0", gpu="8")})
    work(world, "1")
    assert validate(world, expected={"nvidia.com/gpu": 1}) == {
        "gpu-0": ("not_run", "busy"),
        "gpu-1": ("passed", ""),
    }


def lost(world: World, _pod: KubeObject, key: Key) -> None:
    del world.server.objects[key]


def ending(_world: World, pod: KubeObject, _key: Key) -> None:
    pod["status"] = {"phase": "Failed", "conditions": [OF_OTHERS]}


def refused(_world: World, pod: KubeObject, _key: Key) -> None:
    reason = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}
    pod["status"] = {"phase": "Pending", "conditions": [{**reason, "message": "Insufficient nvidia.com/gpu"}]}


@pytest.mark.parametrize("then", [lost, ending, refused])
def test_a_pod_that_work_pushes_out_is_no_failure_of_its_node_or_of_others(
    then: t.Callable[[World, KubeObject, Key], None],
) -> None:
    world = on("host-gpu-0", then)
    assert validate(world, grace=0.0) == {"gpu-0": ("not_run", "busy"), "gpu-1": ("passed", "")}
    assert world.pods() == []


def test_nodes_that_are_tested_together_do_not_wait_for_the_one_that_work_took() -> None:
    world = on("host-gpu-1", lost)
    found = steps.present(world.api(), params(idle=True, max_nodes=2))
    outcomes = {one["name"]: one["programs"][0]["outcome"] for one in found["workload"]["nodes"]}
    assert outcomes == {"gpu-0": "passed", "gpu-1": "not_run"}


def test_a_node_that_work_takes_before_its_turn_is_not_tested() -> None:
    def begin(pod: KubeObject, key: Key) -> None:
        world.succeed(pod, key)
        made.append(pod["spec"]["nodeSelector"]["kubernetes.io/hostname"])
        if len(made) == 1:
            work(world, "1")

    made: list[str] = []
    world = World(begin)
    names = [node("gpu-1", gpu="1"), node("gpu-0", gpu="1")]
    turn = turns.Turn("", params(), found=names, due=names)
    assert [job.nodes[0]["metadata"]["name"] for (job,) in turns.batches([turn], 0)] == ["gpu-1", "gpu-0"]
    pools = [
        {"name": "b", "node_selector": {"kubernetes.io/hostname": "host-gpu-1"}},
        {"name": "a", "node_selector": {"kubernetes.io/hostname": "host-gpu-0"}},
    ]
    found = validate(world, node_selector=None, pools=pools)
    assert found == {"gpu-1": ("passed", ""), "gpu-0": ("not_run", "busy")}
    assert made == ["host-gpu-1"]


def test_the_pods_have_the_lowest_priority_which_is_made_once() -> None:
    seen: list[str] = []

    def note(pod: KubeObject, key: Key) -> None:
        seen.append(pod["spec"]["priorityClassName"])
        world.succeed(pod, key)

    world = World(note)
    validate(world)
    made = world.server.objects[CLASS]
    assert (made["value"], made["preemptionPolicy"], set(seen)) == (-1000, "Never", {"gpu-idle"})
    world.server.requests.clear()
    steps.present(world.api(), params(idle=True))
    assert world.server.writes() == []


def test_another_class_of_that_name_is_refused_before_the_first_write() -> None:
    world = World()
    there = {"metadata": {"name": "gpu-idle"}, "value": 1000}
    world.server.put({"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", **there})
    with pytest.raises(AcceleratorError) as caught:
        validate(world)
    assert caught.value.code == "POOL-PRIORITY"
    assert world.server.writes() == []


@pytest.mark.parametrize(("nodes", "most", "expected"), [(100, 0, 10), (9, 0, 1), (100, 3, 3)])
def test_a_tenth_of_the_pool_is_tested_at_a_time(nodes: int, most: int, expected: int) -> None:
    assert idle.limit(nodes, most) == expected
    every = [node(f"n-{index}") for index in range(nodes)]
    turn = turns.Turn("a", params(), found=every, due=every)
    assert max(len(job.nodes) for batch in turns.batches([turn], most) for job in batch) == expected


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ({"programs": [{"program": "nccl", "nodes": 2}]}, "gpu_idle_programs"),
        ({"max_nodes": -1}, "gpu_idle_max_nodes"),
    ],
)
def test_what_cannot_give_way_is_refused(given: dict[str, t.Any], named: str) -> None:
    world = World()
    with pytest.raises(InputError) as caught:
        steps.present(world.api(), params(idle=True, **given))
    assert named in caught.value.remedy
    assert world.server.writes() == []
