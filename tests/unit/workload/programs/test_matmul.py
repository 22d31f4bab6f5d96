"""Program matmul: its script, and what its log says."""

from __future__ import annotations

import subprocess

import pytest

from ansible_collections.accelerators.openshift.plugins.module_utils._workload.programs import matmul
from ansible_collections.accelerators.openshift.plugins.module_utils._workload.programs.program import (
    Figure,
    GpuNode,
    Settings,
)

UUIDS = ("GPU-6c1440da-b4a3-51b0-929a-330ae814498b", "GPU-11111111-b4a3-51b0-929a-330ae814498b")
LIST = "".join(f"GPU {number}: NVIDIA H200 (UUID: {uuid})\n" for number, uuid in enumerate(UUIDS))
LINE = (
    "matmul gpu={gpu} type={type} size=8192 windows=20 seconds=10.2 median={median} least=600.1 "
    "greatest=680.0 finite={finite}\n"
)


def line(gpu: int = 0, median: float = 650.0, finite: str = "true") -> str:
    return LINE.format(gpu=gpu, type="bf16", median=median, finite=finite)


def test_each_gpu_has_its_median() -> None:
    found = matmul.parse(LIST + line(0) + line(1, median=610.5), Settings("matmul"))
    assert found.passed
    assert found.figures == (
        Figure("bf16", 650.0, "TFLOPS", UUIDS[0]),
        Figure("bf16", 610.5, "TFLOPS", UUIDS[1]),
    )
    assert found.extra == {"tflops": 630.25}


@pytest.mark.parametrize(
    ("log", "settings"),
    [
        (LIST + line(0), Settings("matmul")),
        (LIST + line(0) + line(1), Settings("matmul", types=("bf16", "fp8"))),
        (LIST, Settings("matmul")),
        (line(0), Settings("matmul")),
        (LIST + line(0) + line(1)[:60], Settings("matmul")),
    ],
    ids=["a GPU without a figure", "a type without a figure", "nothing", "no list of devices", "a cut line"],
)
def test_what_measured_nothing_did_not_pass(log: str, settings: Settings) -> None:
    assert not matmul.parse(log, settings).passed


def test_a_product_that_is_not_finite_is_a_fault_of_its_gpu() -> None:
    found = matmul.parse(LIST + line(0) + line(1, finite="false"), Settings("matmul"))
    assert not found.passed
    assert [(finding.device, finding.status) for finding in found.findings] == [(UUIDS[1], "fail")]


@pytest.mark.parametrize(
    ("compute", "types"),
    [((7, 5), ("fp16",)), ((8, 0), ("bf16",)), ((10, 0), ("bf16",)), (None, ("fp16",))],
)
def test_the_default_type_is_one_that_the_gpu_has(
    compute: tuple[int, int] | None, types: tuple[str, ...]
) -> None:
    assert matmul.types(Settings("matmul"), GpuNode(compute=compute)) == types


def test_fp8_needs_ada_or_newer() -> None:
    settings = Settings("matmul", types=("fp16", "fp8"))
    assert matmul.unfit(settings, GpuNode("NVIDIA-A100", (8, 0))) == "NVIDIA-A100 has no fp8"
    assert matmul.unfit(settings, GpuNode("NVIDIA-L4", (8, 9))) == ""


def test_the_script_is_valid_for_a_shell_and_for_python() -> None:
    script = matmul.script(Settings("matmul"), GpuNode(compute=(9, 0)))
    assert subprocess.run(["/bin/sh", "-n"], input=script, text=True, check=False).returncode == 0
    program = script.partition("<<'PROGRAM'\n")[2].partition("PROGRAM\n")[0]
    worker = program.partition("WORKER = '''")[2].partition("'''")[0]
    compile(program, "program", "exec")
    compile(worker, "worker", "exec")
    assert "python3 - 10 bf16 <<" in script
