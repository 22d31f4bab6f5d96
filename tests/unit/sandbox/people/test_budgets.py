"""A budget that never yields."""

from __future__ import annotations

import typing as t

from unit.sandbox.fake_api import World

from openshift_sandbox.stand_ins.people.budgets import NAMESPACE, ForeignBudgets


def node(name: str, pool: str = "", cordoned: bool = False) -> dict[str, t.Any]:
    labels = {"accelerators.openshift/pool": pool} if pool else {}
    spec = {"unschedulable": True} if cordoned else {}
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": labels}, "spec": spec}


def kept(*nodes: dict[str, t.Any], **trouble: str) -> World:
    world = World(ForeignBudgets(), troubles=[{"type": "foreign_budget", **trouble}])
    for one in nodes:
        world.api.create(one)
    world.settle(2)
    return world


def test_a_pod_on_each_gpu_node_and_a_budget_for_it() -> None:
    world = kept(node("gpu-0.example.com", "training"), node("w"))
    [pod] = world.api.all("Pod")
    assert (pod["metadata"]["name"], pod["metadata"]["namespace"]) == ("keeper-gpu-0", NAMESPACE)
    assert pod["spec"]["nodeName"] == "gpu-0.example.com"
    [budget] = world.api.all("PodDisruptionBudget")
    assert budget["spec"]["minAvailable"] == 1
    assert budget["spec"]["selector"]["matchLabels"] == pod["metadata"]["labels"]


def test_a_named_node_and_none_that_is_cordoned() -> None:
    assert [one["spec"]["nodeName"] for one in kept(node("a"), node("b"), node="b").api.all("Pod")] == ["b"]
    assert kept(node("a", "training", cordoned=True)).api.all("Pod") == []


def test_a_pod_that_uses_gpus_is_made_by_a_replica_set() -> None:
    world = kept(node("a"), node("b"), node="b", gpus="2")
    assert world.api.all("Pod") == []
    [made] = world.api.all("ReplicaSet")
    template = made["spec"]["template"]
    assert template["spec"]["nodeSelector"] == {"kubernetes.io/hostname": "b"}
    assert template["spec"]["containers"][0]["resources"]["limits"] == {"nvidia.com/gpu": "2"}
    [budget] = world.api.all("PodDisruptionBudget")
    assert budget["spec"]["selector"]["matchLabels"] == template["metadata"]["labels"]


def test_nothing_without_the_trouble() -> None:
    world = World(ForeignBudgets())
    world.api.create(node("a", "training"))
    before = len(world.api.writes)
    world.settle(2)
    assert len(world.api.writes) == before
