"""Devices that are free: pods, init containers, placeholders, claims, cordoned nodes, quotas."""

from __future__ import annotations

import typing as t

import pytest

from ansible_collections.accelerators.openshift.plugins.module_utils._nodes import free

Data = dict[str, t.Any]
GPU: t.Final = "nvidia.com/gpu"


def node(name: str, gpus: int, pool: str = "a", ready: str = "True", cordoned: bool = False) -> Data:
    return {
        "metadata": {"name": name, "labels": {"accelerators.openshift/pool": pool} if pool else {}},
        "spec": {"unschedulable": True} if cordoned else {},
        "status": {
            "allocatable": {GPU: str(gpus), "cpu": "4"},
            "conditions": [{"type": "Ready", "status": ready}],
        },
    }


def container(gpus: int, resource: str = GPU, **more: str) -> Data:
    return {"name": "c", "resources": {"limits": {resource: str(gpus)}}, **more}


def pod(
    *gpus: int, node: str = "n", namespace: str = "team", init: t.Sequence[Data] = (), **more: t.Any
) -> Data:
    spec = {"nodeName": node, "containers": [container(one) for one in gpus], "initContainers": list(init)}
    return {"metadata": {"name": "p", "namespace": namespace, **more}, "spec": spec}


@pytest.mark.parametrize(
    ("init", "number"),
    [
        ([], 3),
        ([container(2), container(1)], 3),
        ([container(4)], 4),
        ([container(1, restartPolicy="Always")], 4),
        ([container(1, restartPolicy="Always"), container(4)], 5),
        ([container(4), container(1, restartPolicy="Always")], 4),
    ],
)
def test_what_the_scheduler_counts(init: list[Data], number: int) -> None:
    assert free.requested(pod(1, 2, init=init), GPU) == number


def test_a_pod_without_devices_holds_nothing() -> None:
    assert free.of_pod({"metadata": {"namespace": "x"}, "spec": {"containers": [{"name": "c"}]}}) is None
    only_memory = {"metadata": {"namespace": "x"}, "spec": {"containers": [container(1, "memory")]}}
    assert free.of_pod(only_memory) is None


def holders(*pods: Data) -> list[free.Holder]:
    return [found for one in pods if (found := free.of_pod(one))]


def test_nodes() -> None:
    spare = pod(1, node="n", labels={"accelerators.openshift/spare": "a"})
    spare["spec"]["priority"] = -10
    nodes = [node("n", 8), node("m", 4, cordoned=True), node("l", 2, ready="Unknown")]
    rows = free.by_node(nodes, holders(pod(2), spare, pod(1, node="m"), pod(8, node="elsewhere")))
    assert [(row["name"], row["takes_pods"]) for row in rows] == [("l", False), ("m", False), ("n", True)]
    assert rows[2] == {
        "name": "n",
        "pool": "a",
        "takes_pods": True,
        "allocatable": {GPU: 8},
        "requested": {GPU: 3},
        "spare": {GPU: 1},
        "free": {GPU: 5},
        "closed": {GPU: 0},
    }
    assert (rows[1]["free"], rows[1]["closed"]) == ({GPU: 0}, {GPU: 3})
    assert (rows[0]["free"], rows[0]["closed"]) == ({GPU: 0}, {GPU: 2})


def test_a_node_that_lost_devices_has_none_free() -> None:
    (row,) = free.by_node([node("n", 1)], holders(pod(4)))
    assert (row["requested"], row["free"]) == ({GPU: 4}, {GPU: 0})


def test_pools() -> None:
    rows = free.by_node(
        [node("n", 8), node("m", 4), node("o", 2, pool="")], holders(pod(2), pod(1, node="m"))
    )
    found = {row["name"]: row for row in free.by_pool(rows)}
    assert {pool: row["nodes"] for pool, row in found.items()} == {"a": 2, "": 1}
    assert (found["a"]["allocatable"], found["a"]["requested"], found["a"]["free"]) == (
        {GPU: 12},
        {GPU: 3},
        {GPU: 9},
    )


def quota(hard: Data, used: Data, **spec: t.Any) -> Data:
    return {
        "metadata": {"namespace": "team"},
        "spec": {"hard": hard, **spec},
        "status": {"hard": hard, "used": used},
    }


def test_namespaces() -> None:
    key = f"requests.{GPU}"
    held = holders(
        pod(2), pod(3, node=""), pod(1, namespace="other"), pod(1, node="elsewhere", namespace="far")
    )
    quotas = [quota({key: "5", "pods": "9"}, {key: "2"}), quota({key: "0"}, {}, scopes=["BestEffort"])]
    rows = free.by_namespace(free.by_node([node("n", 8)], held), held, quotas, ["empty"])
    assert rows == [
        {"name": "empty", "requested": {}, "spare": {}, "waiting": {}, "free": {GPU: 5}},
        {"name": "other", "requested": {GPU: 1}, "spare": {}, "waiting": {}, "free": {GPU: 5}},
        {"name": "team", "requested": {GPU: 2}, "spare": {}, "waiting": {GPU: 3}, "free": {GPU: 3}},
    ]


def test_claims() -> None:
    device = {"name": "gpu-0", "attributes": {"type": {"string": "gpu"}}}
    slices = [
        {
            "spec": {
                "driver": "gpu.nvidia.com",
                "nodeName": "n",
                "pool": {"name": "p", "generation": 1, "resourceSliceCount": 1},
                "devices": [device],
            }
        }
    ]
    result = {"driver": "gpu.nvidia.com", "pool": "p", "device": "gpu-0"}
    results = [
        result,
        {**result, "adminAccess": True},
        {**result, "device": "gpu-9"},
        {**result, "driver": "x"},
    ]
    claim = {
        "metadata": {"name": "c", "namespace": "team"},
        "status": {"allocation": {"devices": {"results": results}}},
    }
    assert free.of_claims([claim], slices) == [free.Holder("n", "team", False, {GPU: 1})]
