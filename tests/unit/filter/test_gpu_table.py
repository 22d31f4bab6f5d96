from __future__ import annotations

import typing as t

from ansible_collections.accelerators.openshift.plugins.filter.gpu_table import FilterModule, table

POOLS: list[dict[str, t.Any]] = [
    {"name": "a", "candidates": [{"instance_type": "g4dn.xlarge"}], "expected": {"nvidia.com/gpu": 1}},
    {
        "name": "bigger",
        "candidates": [{"instance_type": "p4d.24xlarge"}, {"instance_type": "p4de.24xlarge"}],
        "expected": {"nvidia.com/gpu": 8},
    },
]


def looped(pool: str, *nodes: dict[str, t.Any], duration: float = 1.0) -> dict[str, t.Any]:
    return {
        "ansible_loop_var": "__pool",
        "__pool": {"name": pool},
        "nodes": list(nodes),
        "duration": duration,
    }


NODES = {
    "results": [
        looped("a", {"name": "a-0", "instance_type": "g4dn.xlarge", "expected": {"nvidia.com/gpu": 1}}),
        looped("bigger", {"name": "b-0", "instance_type": "p4de.24xlarge"}, duration=2.0),
    ]
}
ONE = {"nvidia.com/gpu": 1}
STACK = {
    "special_resource": {
        "nodes": [
            {"name": "a-0", "pool": "a", "expected": ONE, "allocatable": ONE, "driver_version": "580.1"}
        ]
    }
}
VALIDATION = {"results": [{"workload": {"nodes": [{"name": "a-0", "validated": 1}]}, "duration": 0.25}]}


def test_a_line_a_node_in_columns() -> None:
    heading, *lines = table(POOLS, NODES, STACK, VALIDATION)
    assert heading.split("  ")[0] == "POOL"
    *lines, result = lines
    assert result == "result - 1 of 2 nodes of 2 pools offer and validated 1 of 9 GPUs"
    assert [line.split() for line in lines] == [
        ["a", "a-0", "g4dn.xlarge", "1/1/1", "580.1"],
        ["bigger", "b-0", "p4de.24xlarge", "8/-/-", "-"],
    ]
    assert {line.index("g4dn" if "g4dn" in line else "p4de") for line in lines} == {heading.index("TYPE")}


def test_the_seconds_of_a_stage_are_those_of_all_its_results() -> None:
    waits = {"results": [{**one, "waited": 1.0} for one in NODES["results"]]}
    stack = [{"duration": 2.5, "waited": 2.25}, {}, {"duration": 0.5}]
    stages = {"nodes": waits, "stack": stack, "skipped": {"skipped": True}}
    assert table(POOLS, NODES, seconds=stages)[-2:] == [
        "seconds - nodes 2.0, stack 2.2",
        "seconds - waited 4.2 for the cluster, own work 1.8",
    ]


def test_a_run_that_waited_for_nothing_has_one_line_of_seconds() -> None:
    lines = table(POOLS, NODES, seconds={"nodes": NODES})
    assert [line for line in lines if line.startswith("seconds")] == [
        "seconds - waited 0.0 for the cluster, own work 3.0"
    ]


def test_a_pool_that_is_whole_is_told_in_one_sentence() -> None:
    assert table(POOLS[:1], NODES, STACK, VALIDATION)[-1] == (
        "result - 1 of 1 node of 1 pool offers and validated 1 GPU"
    )
    shared = [{**POOLS[0], "sharing": {"time_slicing": {"replicas": 4}}}]
    assert table(shared, NODES, STACK, VALIDATION)[-1].endswith("validated 1 device")


def test_without_results_only_the_heading() -> None:
    assert len(table(POOLS)) == 1
    assert FilterModule().filters() == {"gpu_table": table}
