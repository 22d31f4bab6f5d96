# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Programs that measure four alike nodes: what they say of good ones, and which node they name."""

from __future__ import annotations

import re
import typing as t
from pathlib import Path

import pytest
import yaml
from cluster import Cluster, must_get
from integration.killed import kill
from integration.patience import until
from integration.playbook import ROOT, Playbook, Run, TaskResult
from integration.troubles.demo import trouble
from integration.wire import Audit

pytestmark = pytest.mark.story("four nodes are validated, then troubles begin and end")
SCENARIO: t.Final = "gpu-fleet"
PLACE: t.Final = "gpu-validation"
NODES: t.Final = [f"h100-{number}" for number in range(4)]
ALL: t.Final[list[t.Any]] = [
    "vectoradd",
    "matmul",
    {"program": "dcgm", "level": 2},
    "nvbandwidth",
    "nccl",
]
PAIRS: t.Final = {"program": "nccl", "nodes": 2}


def pool(name: str, rack: str, **validate: t.Any) -> dict[str, t.Any]:
    existing = {"node_selector": {"rack": rack}, "expected": {"nvidia.com/gpu": 2}}
    return {"name": name, "existing": existing, "validate": validate}


POOLS: t.Final = [
    pool("new", "new", programs=["vectoradd", "matmul"]),
    pool("old", "old", programs=["vectoradd", "matmul"]),
]


@pytest.fixture(scope="module")
def enabled(playbook: Playbook) -> Run:
    run = playbook.playbook("enable_gpus", gpu_pools=POOLS, gpu_operator_wait_timeout=90)
    assert run.rc == 0, run.output
    return run


@pytest.fixture
def validate(playbook: Playbook, enabled: Run) -> t.Callable[..., TaskResult]:
    def call(*programs: t.Any, rack: str = "new", **options: t.Any) -> TaskResult:
        entry = {"name": rack, "node_selector": {"rack": rack}, "expected": {"nvidia.com/gpu": 2}}
        more: dict[str, t.Any] = {"on_failure": options.pop("on_failure", "report")}
        pools = [{**entry, **more, "programs": list(programs)}]
        return playbook.module("gpu_workload", pools=pools, wait_timeout=120, **options)

    return call


def by_node(result: TaskResult) -> dict[str, dict[str, t.Any]]:
    """Return what the only program that ran says of each node."""
    nodes = result["workload"]["nodes"]
    return {one["name"]: one["programs"][0] for one in nodes if one["programs"]}


def outcomes(result: TaskResult) -> dict[str, str]:
    return {name: one["outcome"] for name, one in by_node(result).items()}


def left(cluster: Cluster) -> list[str]:
    """Return what validations have left in their namespace."""
    kinds = (("v1", "pods"), ("v1", "services"), ("batch/v1", "jobs"), ("apps/v1", "deployments"))
    return [
        f"{plural}/{one['metadata']['name']}"
        for version, plural in kinds
        for one in cluster.client.list(version, plural, PLACE)
    ]


def only(bad: str) -> dict[str, str]:
    return {name: "failed" if name == bad else "passed" for name in NODES}


def test_the_table_ends_with_the_figures_of_each_node(cluster: Cluster, enabled: Run) -> None:
    (table,) = [task["msg"] for task in enabled.tasks if "msg" in task.result and "GPUS" in str(task["msg"])]
    figures = [line for line in table if line.startswith("figure - ")]
    assert len(figures) == 5, table
    first = r"figure - h100-0 matmul bf16 652.0 TFLOPS \(worst of 2, at least 635.6, peers 652.0\)"
    assert re.fullmatch(first, figures[0]), figures
    assert re.fullmatch(r"figure - t4-0 matmul fp16 42.0 TFLOPS \(worst of 2, peers 42.0\)", figures[4])
    assert left(cluster) == []


def test_a_second_run_writes_nothing(playbook: Playbook, audit: Audit, enabled: Run) -> None:
    again = playbook.playbook("enable_gpus", gpu_pools=POOLS, gpu_operator_wait_timeout=90)
    assert (again.rc, again.changed) == (0, 0), again.output
    assert audit.writes(*again.tasks) == []


def test_only_programs_that_were_added_run(validate: t.Callable[..., TaskResult], cluster: Cluster) -> None:
    found = validate(*ALL)
    assert not found.failed, found.result
    ran = {tuple(one["program"] for one in node["programs"]) for node in found["workload"]["nodes"]}
    assert ran == {("dcgm:2", "nvbandwidth", "nccl")}
    one = found["workload"]["nodes"][0]
    assert {program["outcome"] for program in one["programs"]} == {"passed"}
    figures = {figure["name"] for program in one["programs"] for figure in program["figures"]}
    assert figures == {"host_to_device", "device_to_host", "device_to_device", "all_reduce"}
    assert validate(*ALL)["workload"]["due"] == []
    assert left(cluster) == []


def test_pairs_of_nodes_say_how_their_data_went(validate: t.Callable[..., TaskResult]) -> None:
    found = validate(PAIRS)
    assert outcomes(found) == dict.fromkeys(NODES, "passed")
    pods = [pod for node in found["workload"]["nodes"] for pod in node["pods"]]
    assert {tuple(pod["result"]["transports"]["all_reduce"]) for pod in pods} == {("NET/IB/GDRDMA",)}
    assert {one["figures"][0]["value"] for one in by_node(found).values()} == {93.0}


def test_one_slow_gpu_of_four_nodes_is_named_with_its_reason(
    cluster: Cluster, validate: t.Callable[..., TaskResult]
) -> None:
    with trouble(cluster, "gpu-slow"):
        found = validate("matmul", repeat=True, on_failure="taint")
    assert (found["code"], outcomes(found)) == ("WORK-LOW", only("h100-2"))
    bad = by_node(found)["h100-2"]
    (slow,) = [one for one in bad["figures"] if one["code"]]
    assert slow["device"].startswith("GPU-")
    said = rf"Node h100-2: matmul measured bf16 391.2 TFLOPS on {slow['device']}, .* at least 635.6 TFLOPS"
    assert re.search(said, found["msg"]), found["msg"]
    assert "the hardware slows it down because of heat" in found["msg"]
    numbers = {one["name"]: one["validated"] for one in found["workload"]["nodes"]}
    assert numbers == {name: 1 if name == "h100-2" else 2 for name in NODES}


def test_a_node_that_failed_is_closed_until_it_passes(
    cluster: Cluster, validate: t.Callable[..., TaskResult]
) -> None:
    def taints() -> list[str]:
        node = must_get(cluster.client, "v1", "nodes", "h100-2")
        return [one["key"] for one in node["spec"].get("taints", [])]

    assert taints() == ["accelerators.openshift/validation-failed"]
    assert outcomes(validate("matmul", repeat=True, on_failure="taint")) == dict.fromkeys(NODES, "passed")
    assert taints() == []


def test_nodes_that_became_slower_fail_with_both_figures(
    cluster: Cluster, validate: t.Callable[..., TaskResult]
) -> None:
    with trouble(cluster, "gpu-baseline-fallen"):
        found = validate("nvbandwidth", repeat=True)
    assert (found["code"], set(outcomes(found).values())) == ("WORK-BASELINE", {"failed"})
    assert re.search(r"h100-0: nvbandwidth measured host_to_device 46.84 GB/s .* 55.1 GB/s", found["msg"])
    assert outcomes(validate("nvbandwidth", repeat=True)) == dict.fromkeys(NODES, "passed")


def test_a_fault_between_nodes_is_given_to_the_node_that_has_it(
    cluster: Cluster, validate: t.Callable[..., TaskResult]
) -> None:
    with trouble(cluster, "nccl-pair-fault"):
        found = validate(PAIRS, repeat=True)
    assert outcomes(found) == only("h100-1"), found.result
    assert "Node h100-1 is slow with each of its partners: nccl:2 measured all_reduce 46.5" in found["msg"]
    assert "oc debug node/h100-1" in found["remedy"]
    assert left(cluster) == []


def test_sockets_in_place_of_rdma_are_the_reason_of_a_low_figure(
    cluster: Cluster, validate: t.Callable[..., TaskResult]
) -> None:
    with trouble(cluster, "nccl-sockets"):
        found = validate({**PAIRS, "expected": {"all_reduce": 40}}, repeat=True)
    assert found["code"] == "WORK-LOW"
    assert "NCCL used TCP sockets, although there are RDMA devices: mlx5_0" in found["msg"]
    assert outcomes(found) == only("h100-0")


def test_a_failed_diagnosis_asks_for_a_reset(cluster: Cluster, validate: t.Callable[..., TaskResult]) -> None:
    with trouble(cluster, "dcgm-reset"):
        found = validate({"program": "dcgm", "level": 2}, repeat=True)
    assert (found["code"], outcomes(found)) == ("WORK-FAULT", only("h100-3"))
    (fault,) = [one for one in by_node(found)["h100-3"]["findings"] if one["status"] == "fail"]
    assert (fault["test"], fault["action"], fault["number"]) == ("memory", "reset", 85)
    assert fault["device"] in found["msg"]
    assert "to reset the GPU" in found["remedy"]
    assert "gpu_node=h100-3" in found["remedy"]


def test_an_image_without_code_for_the_gpu_is_named(validate: t.Callable[..., TaskResult]) -> None:
    image = "nvcr.io/nvidia/pytorch:22.01-py3"
    found = validate({"program": "matmul", "image": image}, repeat=True)
    assert found["code"] == "WORK-ARCH"
    assert image in found["msg"]
    assert "h100-0" in found["msg"]


def test_a_program_that_does_not_fit_a_node_did_not_run(validate: t.Callable[..., TaskResult]) -> None:
    found = validate({"program": "matmul", "types": ["bf16"]}, rack="old")
    assert not found.failed
    (one,) = by_node(found).values()
    assert (one["outcome"], one["reason"]) == ("not_run", "not_applicable")
    assert one["message"] == "Tesla-T4 has no bf16"


def test_consumers_of_the_user_run_once_and_leave_nothing(
    cluster: Cluster, playbook: Playbook, enabled: Run
) -> None:
    text = (ROOT / "examples/consumers.yml").read_text().replace("backoffLimit: 20", "backoffLimit: 0")
    given = yaml.safe_load(text)["gpu_validation_consumers"]
    prove = {"sharing": [], "preemption": [], "consumers": given}
    first, again = (playbook.module("gpu_workload", prove=prove, wait_timeout=120) for _run in range(2))
    assert [one["proven"] for one in first["consumers"]] == [True, True, False]
    assert "TrainJob" in first["consumers"][2]["why"]
    assert [one["why"] for one in again["consumers"][:2]] == ["it was proven before"] * 2
    assert not again["changed"]
    until(lambda: left(cluster) == [], "the objects of the consumers are deleted")


def test_what_a_killed_run_left_is_deleted_at_its_deadline(
    cluster: Cluster, playbook: Playbook, tmp_path: Path, enabled: Run
) -> None:
    endless = {
        "program": "own",
        "image": "example.com/bench:1",
        "script": "sleep 3600",
        "figure": r"rate: ([0-9.]+)",
        "expected": 1,
    }
    pools = [{"name": "old", "node_selector": {"rack": "old"}, "programs": [endless]}]
    kill(
        playbook,
        tmp_path,
        lambda: [one for one in left(cluster) if one.startswith("pods/")],
        "gpu_workload",
        pools=pools,
        wait_timeout=20,
    )
    assert [one.partition("/")[0] for one in left(cluster)] == ["pods", "jobs"]
    until(lambda: left(cluster) == [], "what the killed run left is deleted", 90)
