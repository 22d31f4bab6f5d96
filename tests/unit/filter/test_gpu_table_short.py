"""The table of many nodes, of nodes that are busy, and of quotas."""

from __future__ import annotations

import typing as t

import pytest

from ansible_collections.accelerators.openshift.plugins.filter.gpu_table import table
from ansible_collections.accelerators.openshift.plugins.module_utils._core import bounded

ONE: t.Final = {"nvidia.com/gpu": 1}
POOLS: t.Final[list[dict[str, t.Any]]] = [
    {"name": "big", "candidates": [{"instance_type": "g4dn.xlarge"}], "expected": ONE},
    {"name": "small", "candidates": [{"instance_type": "p5.48xlarge"}], "expected": {"nvidia.com/gpu": 8}},
]


def stack(big: int, bad: tuple[str, ...] = ()) -> dict[str, t.Any]:
    """Return the stack's result: so many nodes in the pool big, and one in small. bad: nodes without GPU."""
    nodes = [
        {
            "name": name,
            "pool": "big",
            "expected": ONE,
            "driver_version": "580.1",
            "allocatable": {"nvidia.com/gpu": int(name not in bad)},
        }
        for name in (f"n{number}" for number in range(big))
    ]
    eight = {"nvidia.com/gpu": 8}
    other = {
        "name": "s0",
        "pool": "small",
        "expected": eight,
        "allocatable": eight,
        "driver_version": "580.1",
    }
    return {"special_resource": {"nodes": [*nodes, other]}}


def validation(*busy: str, nodes: int = 500) -> dict[str, t.Any]:
    found = [
        {
            "name": f"n{number}",
            "validated": int(f"n{number}" not in busy),
            "busy": "held" if f"n{number}" in busy else "",
        }
        for number in range(nodes)
    ]
    return {"results": [{"workload": {"nodes": found}}]}


def test_many_nodes_are_a_line_a_pool_and_the_nodes_that_lack_something() -> None:
    lines = table(POOLS, None, stack(500, bad=("n7",)), validation("n9"))
    assert [" ".join(line.split()) for line in lines[1:]] == [
        "big 500 nodes, 2 to look at g4dn.xlarge 500/499/499 580.1",
        "big n7 g4dn.xlarge 1/0/1 580.1",
        "big n9 g4dn.xlarge 1/1/busy 580.1",
        "small 1 node p5.48xlarge 8/8/- 580.1",
        "result - 498 of 501 nodes of 2 pools offer and validated 499 of 508 GPUs",
    ]


def test_twenty_nodes_are_a_line_each() -> None:
    assert len(table(POOLS, None, stack(19))) == 21
    assert len(table(POOLS, None, stack(20))) == 3


def quotas(number: int, full: int = 0) -> dict[str, t.Any]:
    found = [
        {
            "namespace": f"team-{one}",
            "name": "gpu-quota",
            "resources": {"requests.nvidia.com/gpu": {"hard": "8", "used": "8" if one < full else None}},
        }
        for one in range(number)
    ]
    return {"quotas": found}


def test_quotas_have_a_line_each_also_without_nodes() -> None:
    assert table(POOLS, policy=quotas(1))[1:] == [
        "quota - team-0/gpu-quota requests.nvidia.com/gpu 0 of 8 used"
    ]
    one = {"quota": quotas(1)["quotas"][0]}
    assert table(POOLS, policy=one) == table(POOLS, policy=quotas(1))
    assert table(POOLS, policy={"skipped": True}) == table(POOLS)


def test_many_quotas_are_a_sum_and_those_that_are_used_up() -> None:
    assert table(POOLS, policy=quotas(40, full=1))[1:] == [
        "quota - 40 quotas, 1 limit used up",
        "quota - team-0/gpu-quota requests.nvidia.com/gpu 8 of 8 used",
    ]


def machines(number: int) -> dict[str, t.Any]:
    nodes = [{"name": f"n{one}", "instance_type": "g4dn.xlarge", "expected": ONE} for one in range(number)]
    return {"nodes": nodes, "invocation": {"module_args": {"name": "big"}}}


@pytest.mark.parametrize("most", [2_000, 20_000, 40_000])
def test_the_sums_count_nodes_that_the_results_left_out(most: int) -> None:
    """Each result is cut for itself, so each may lack other nodes."""
    (run,) = validation("n9")["results"]
    of_pools = {"workload": {"nodes": [{**one, "pool": "big"} for one in run["workload"]["nodes"]]}}
    results = [machines(500), stack(500, bad=("n7", "n450")), of_pools]
    cut = [bounded.result(one, most) for one in results]
    assert any(one.get("left_out") for one in cut)
    lines = [line.split() for line in table(POOLS, *cut)]
    assert " ".join(lines[1]) == "big 500 nodes, 3 to look at g4dn.xlarge 500/498/499 580.1"
    assert {line[1] for line in lines[2:5]} == {"n7", "n9", "n450"}
    assert " ".join(lines[5]) == "small 1 node p5.48xlarge 8/8/- 580.1"


def test_a_quota_names_the_owners_that_hold_most() -> None:
    owners = [
        {"kind": "Job", "name": f"job-{number}", "pods": 2 - bool(number), "requests": {"nvidia.com/gpu": 4}}
        for number in range(4)
    ]
    quota = {"namespace": "team-a", "name": "q", "resources": {}, "use": {"owners": owners}}
    lines = table([], policy={"quotas": [quota, {**quota, "use": None}]})
    assert lines[1:] == [
        "use - team-a/Job job-0 4 nvidia.com/gpu in 2 pods",
        "use - team-a/Job job-1 4 nvidia.com/gpu in 1 pod",
        "use - team-a/Job job-2 4 nvidia.com/gpu in 1 pod",
    ]


def test_a_quota_of_several_namespaces_says_how_many() -> None:
    limits = {"requests.nvidia.com/gpu": {"hard": "8", "used": "3"}}
    quota = {"name": "research", "resources": limits, "namespaces": [{"namespace": "a"}, {"namespace": "b"}]}
    lines = table([], policy={"quotas": [], "cluster_quotas": [quota]})
    assert lines[1:] == ["quota - 2 namespaces/research requests.nvidia.com/gpu 3 of 8 used"]
