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


def figure(value: float, device: str = "GPU-a", **more: t.Any) -> dict[str, t.Any]:
    shown = {"expected": None, "source": "", "peers": None, "baseline": None, "code": ""}
    return {
        **shown,
        "name": "fp16",
        "value": value,
        "unit": "TFLOPS",
        "device": device,
        "better": "higher",
        **more,
    }


def measured(node: str, *figures: dict[str, t.Any], program: str = "matmul") -> dict[str, t.Any]:
    return {
        "name": node,
        "pool": "a",
        "validated": 1,
        "programs": [{"program": program, "figures": list(figures)}],
    }


def figures_in(*nodes: dict[str, t.Any], **more: t.Any) -> list[str]:
    lines = table(POOLS[:1], NODES, STACK, {"workload": {"nodes": list(nodes)}}, **more)
    return [line for line in lines if line.startswith("figure")]


def test_a_figure_stands_beside_what_it_was_compared_with() -> None:
    assert figures_in(measured("a-0", figure(42.04, peers=41.8, baseline=42.3))) == [
        "figure - a-0 matmul fp16 42.0 TFLOPS (peers 41.8, before 42.3)"
    ]
    assert figures_in(measured("a-0", figure(30.0, expected=33.6, code="WORK-LOW"))) == [
        "figure - a-0 matmul fp16 30.0 TFLOPS (at least 33.6) WORK-LOW"
    ]
    assert figures_in(measured("a-0", figure(42.0))) == ["figure - a-0 matmul fp16 42.0 TFLOPS"]


def test_of_many_devices_the_worst_is_shown() -> None:
    assert figures_in(measured("a-0", figure(42.0), figure(39.9, "GPU-b"), figure(41.0, "GPU-c"))) == [
        "figure - a-0 matmul fp16 39.9 TFLOPS (worst of 3)"
    ]
    heat = {"name": "heat", "unit": "C", "better": "lower"}
    hot = measured("a-0", figure(70, **heat), figure(71, "GPU-b", **heat), program="gpu_burn")
    assert figures_in(hot) == ["figure - a-0 gpu_burn heat 71.0 C (worst of 2)"]


def test_programs_are_named_in_the_words_of_the_user() -> None:
    fp8 = measured("a-0", figure(9.0, name="fp8"), figure(5.0), program="matmul:fp16:fp8")
    own = measured("a-0", figure(3.0, "", name="figure", unit=""), program="own:rate:1234abcd")
    pair = measured("a-0", figure(390.0, "", name="all_reduce", unit="GB/s"), program="nccl:2")
    assert figures_in(fp8, own, pair) == [
        "figure - a-0 matmul fp8 9.00 TFLOPS",
        "figure - a-0 matmul fp16 5.00 TFLOPS",
        "figure - a-0 rate 3.00",
        "figure - a-0 nccl:2 all_reduce 390.0 GB/s",
    ]


def test_figures_of_an_earlier_task_are_there_too_and_without_figures_nothing_is() -> None:
    early = {"workload": {"nodes": [measured("a-0", figure(42.0))]}}
    late = {"name": "a-0", "pool": "a", "validated": 1, "programs": []}
    assert figures_in(late, early=early) == ["figure - a-0 matmul fp16 42.0 TFLOPS"]
    assert figures_in(late) == []
    assert figures_in({"name": "a-0", "pool": "a", "validated": 1}) == []


def test_for_many_nodes_there_is_one_line_for_a_figure_and_one_for_each_that_is_too_low() -> None:
    many = [measured(f"n{number}", figure(42.0 - number / 100)) for number in range(60)]
    bad = measured("slow", figure(20.0, peers=41.7, code="WORK-PEER"))
    assert figures_in(*many, bad) == [
        "figure - a 61 nodes matmul fp16 20.0 to 42.0 TFLOPS",
        "figure - slow matmul fp16 20.0 TFLOPS (peers 41.7) WORK-PEER",
    ]
    worse = [measured(f"n{number}", figure(20.0, code="WORK-LOW")) for number in range(500)]
    assert len(figures_in(*worse)) == 22
    assert figures_in(*worse)[-1] == "figure - 480 more are too low"
