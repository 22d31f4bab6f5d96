# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the stand-ins of programs print: the product reads it, and finds the figures of a good card."""

from __future__ import annotations

import typing as t
from pathlib import Path

import pytest
import yaml

from ansible_collections.accelerators.openshift.plugins.module_utils._workload.expectations import expected
from ansible_collections.accelerators.openshift.plugins.module_utils._workload.programs.program import (
    GpuNode,
    Result,
    Settings,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._workload.programs.registry import (
    PROGRAMS,
)
from openshift_sandbox.hardware.gpus import GPUS, NICS, Gpu
from openshift_sandbox.scenario import Scenario
from openshift_sandbox.stand_ins.core.cluster import Cluster
from openshift_sandbox.stand_ins.gpu_operator import measured, output, programs

ROOT: t.Final = Path(__file__).resolve().parents[4]
NVIDIA: t.Final = [name for name, gpu in GPUS.items() if gpu.nvidia and not gpu.virtual]
MEASURING: t.Final = ["matmul", "dcgm", "nvbandwidth", "nccl", "resnet50", "gpu_burn", "trtexec", "vllm"]


class Troubled:
    """A cluster that has only troubles."""

    def __init__(self, *troubles: dict[str, t.Any]) -> None:
        self.scenario = Scenario("test", troubles=list(troubles))

    def troubles(self, kind: str, **match: t.Any) -> list[dict[str, t.Any]]:
        return self.scenario.troubles_of(kind, **match)


def node(name: str = "n0") -> dict[str, t.Any]:
    return {"metadata": {"name": name, "labels": {}}, "status": {}}


def run(
    program: str, gpu: Gpu, *troubles: dict[str, t.Any], nodes: int = 1, rdma: bool = True, **options: t.Any
) -> Result:
    """Return what the product reads in the output of a program on two GPUs."""
    settings = Settings(program, nodes=nodes, **options)
    compute = t.cast("tuple[int, int]", tuple(map(int, gpu.compute.split("."))))
    known = GpuNode(gpu.product, compute, 2, nodes=nodes, master="g0-r0.peers.gpu-validation.svc")
    found = PROGRAMS[program]
    partners = [node(f"n{number}") for number in range(nodes)]
    on = measured.Place(
        t.cast(Cluster, Troubled(*troubles)),
        partners[0],
        gpu,
        (0, 1),
        (),
        found.script(settings, known),
        found.image(known),
        NICS["CX7"] if rdma else None,
        partners if nodes > 1 else (),
    )
    printed = programs.output(program, on)
    return found.parse("\n".join([*output.device_list(gpu, "n0", (0, 1)), *printed.lines]), settings)


@pytest.mark.parametrize("model", NVIDIA)
@pytest.mark.parametrize("program", MEASURING)
def test_a_good_card_passes_and_is_as_fast_as_expected(program: str, model: str) -> None:
    gpu = GPUS[model]
    found = run(program, gpu)
    assert found.passed, found
    assert len(found.uuids) == 2
    assert found.figures or program == "dcgm"
    for figure in found.figures:
        wanted = expected(figure, gpu.product, Settings(program), {})
        assert wanted is None or figure.value >= wanted.value, (model, figure, wanted)


def test_fp8_is_as_fast_as_expected_where_a_card_has_it() -> None:
    for model in ("H100", "H200", "B200", "B300", "GB200"):
        (figure, _other) = run("matmul", GPUS[model], types=("fp8",)).figures
        wanted = expected(figure, GPUS[model].product, Settings("matmul"), {})
        assert wanted is not None
        assert figure.value >= wanted.value, (model, figure, wanted)


@pytest.mark.parametrize("program", ["matmul", "nvbandwidth", "resnet50", "gpu_burn"])
def test_a_slow_gpu_is_the_only_one_that_is_slow(program: str) -> None:
    slow = {"type": "slow_gpu", "node": "n0", "gpu": 1, "share": 0.5}
    good, bad = run(program, GPUS["H100"]), run(program, GPUS["H100"], slow)
    ratio = {
        (one.name, one.device): other.value / one.value
        for one, other in zip(good.figures, bad.figures, strict=True)
        if one.name != "heat"
    }
    for (_name, device), share in ratio.items():
        assert share == pytest.approx(1.0 if device == good.uuids[0] else 0.5, rel=0.01)


def test_heat_is_a_finding_of_its_gpu() -> None:
    found = run("matmul", GPUS["L4"], {"type": "throttled", "gpu": 1})
    assert {one.device for one in found.findings if one.test == "heat"} == {found.uuids[1]}


def test_a_failed_test_of_dcgm_asks_for_a_reset() -> None:
    found = run("dcgm", GPUS["H100"], {"type": "dcgm_fails", "node": "n0", "gpu": 1})
    (fault,) = [one for one in found.findings if one.status == "fail"]
    assert not found.passed
    assert (fault.test, fault.device, fault.action, fault.number) == ("memory", found.uuids[1], "reset", 85)
    assert found.extra["serials"][found.uuids[1]]


@pytest.mark.parametrize(("count", "channels"), [(0, []), (2, ["channel0", "channel1"])])
def test_another_number_of_channels_than_one_fails(count: int, channels: list[str]) -> None:
    good = run("compute_domain", GPUS["GB200"])
    bad = run("compute_domain", GPUS["GB200"], {"type": "imex_channels", "node": "n0", "count": count})
    assert (good.passed, good.extra["channels"]) == (True, ["channel0"])
    assert (bad.passed, bad.extra["channels"]) == (False, channels)


def test_ways_between_nodes() -> None:
    def reduced(*troubles: dict[str, t.Any], rdma: bool = True) -> tuple[float, list[str], list[str]]:
        found = run("nccl", GPUS["H100"], *troubles, nodes=2, rdma=rdma)
        assert found.passed, found
        said = [one.text for one in found.findings if one.test == "all_reduce"]
        return found.figures[0].value, found.extra["transports"]["all_reduce"], said

    assert reduced() == (93.0, ["NET/IB/GDRDMA"], [])
    assert reduced({"type": "slow_network", "node": "n1"}) == (46.5, ["NET/IB/GDRDMA"], [])
    value, ways, said = reduced({"type": "nccl_sockets", "node": "n0"})
    assert (value, ways, len(said)) == (2.6, ["NET/Socket"], 1)
    assert "although there are RDMA devices: mlx5_0" in said[0]
    assert reduced(rdma=False)[1] == ["NET/Socket"]


@pytest.mark.parametrize(
    ("model", "image", "code"),
    [("V100-16", "26.01", 1), ("V100-16", "25.07", 0), ("H100", "22.01", 1), ("H100", "25.07", 0),
     ("B200", "24.12", 1), ("B200", "26.01", 0), ("T4", "26.01", 0)],
)  # fmt: skip
def test_an_image_without_code_for_the_gpu(model: str, image: str, code: int) -> None:
    name = f"nvcr.io/nvidia/pytorch:{image}-py3"
    on = measured.Place(t.cast(Cluster, Troubled()), node(), GPUS[model], (0,), (), "", name)
    found = programs.output("matmul", on)
    assert found.code == code
    assert ("no kernel image is available" in " ".join(found.lines)) is bool(code)


def test_a_program_of_ones_own_prints_what_its_script_echoes() -> None:
    settings: dict[str, t.Any] = {
        "script": "train\necho 'rate: 12.5'\n",
        "figure": r"rate: ([\d.]+)",
        "unit": "x/s",
    }
    found = run("own", GPUS["T4"], image="example.com/a:1", **settings)
    assert [(one.value, one.unit) for one in found.figures] == [(12.5, "x/s")]
    assert not run("own", GPUS["T4"], image="example.com/a:1", **{**settings, "script": "train"}).passed


@pytest.mark.parametrize("number", [1, 2])
def test_the_figures_of_an_example_are_in_what_its_script_prints(number: int) -> None:
    (pool,) = yaml.safe_load((ROOT / "examples/own-programs.yml").read_text())["gpu_pools"]
    given = pool["validate"]["programs"][number]
    options = {key: given[key] for key in ("image", "script", "figure", "unit")}
    assert [(one.value, one.unit) for one in run("own", GPUS["L4"], **options).figures] == [
        (100.0, given["unit"])
    ]
    assert given["expected"] < 100


def test_the_old_training_prints_its_old_table() -> None:
    found = run("resnet50", GPUS["V100-16"], image="example.com/tf:19.06", variant="2019")
    assert [(one.name, one.value, one.device) for one in found.figures] == [
        ("images", 1180.0, found.uuids[0])
    ]
