"""Parsers of what programs print, on texts as the real programs print them."""

from __future__ import annotations

import inspect
import sys

import pytest

from ansible_collections.accelerators.openshift.plugins.module_utils._pools.programs import FIGURES, TYPES
from ansible_collections.accelerators.openshift.plugins.module_utils._workload.programs import devices
from ansible_collections.accelerators.openshift.plugins.module_utils._workload.programs.program import (
    GpuNode,
    Settings,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._workload.programs.registry import (
    PROGRAMS,
)

LIST = "GPU 0: Tesla V100-SXM2-16GB (UUID: GPU-6c1440da-b4a3-51b0-929a-330ae814498b)\n"
MIG = (
    "GPU 0: NVIDIA A100-SXM4-40GB (UUID: GPU-4cf8db2d-06c0-7d70-1a51-e59b25b2c16c)\n"
    "  MIG 1g.5gb      Device  0: (UUID: MIG-c6d4f1ef-42e4-5de3-91c7-45d71c87eb3f)\n"
    "  MIG 1g.5gb      Device  1: (UUID: MIG-cba663e8-9bed-5b25-b243-5985ef7c9beb)\n"
)
VECTOR_ADD = (
    "[Vector addition of 50000 elements]\n"
    "Copy input data from the host memory to the CUDA device\n"
    "CUDA kernel launch with 196 blocks of 256 threads\n"
    "Copy output data from the CUDA device to the host memory\n"
    "Test PASSED\n"
    "Done\n"
)
SMI = """\
+-----------------------------------------------------------------------------+
| NVIDIA-SMI 430.26       Driver Version: 430.26       CUDA Version: 10.2     |
|-------------------------------+----------------------+----------------------+
|   0  Tesla V100-SXM2...  On   | 00000000:00:1E.0 Off |                    0 |
| N/A   31C    P0    25W / 300W |      0MiB / 16160MiB |      0%      Default |
+-------------------------------+----------------------+----------------------+
"""
MATMUL = (
    "matmul gpu=0 type=fp16 size=8192 windows=20 seconds=10.2 median=678.9 least=660.1 greatest=680.0 "
    "finite=true\n"
)


def test_a_figure_that_a_user_may_name_is_one_that_its_program_measures() -> None:
    for program, names in FIGURES.items():
        source = inspect.getsource(sys.modules[PROGRAMS[program].parse.__module__])
        assert names == TYPES or [name for name in names if f'"{name}"' not in source] == []


def test_vectoradd() -> None:
    found = PROGRAMS["vectoradd"].parse(LIST + VECTOR_ADD, Settings("vectoradd")).as_result()
    assert found == {
        "passed": True,
        "figures": [],
        "findings": [],
        "not_applicable": "",
        "elements": 50000,
        "blocks": 196,
        "threads": 256,
        "uuids": ["GPU-6c1440da-b4a3-51b0-929a-330ae814498b"],
    }


@pytest.mark.parametrize(
    "log",
    [
        "",
        "Test FAILED",
        "Failed to allocate device vector A (error code unknown error)!",
        "will say Test PASSED later",
    ],
)
def test_vectoradd_that_did_not_pass(log: str) -> None:
    assert PROGRAMS["vectoradd"].parse(log, Settings("vectoradd")).passed is False


def test_nvidia_smi() -> None:
    found = PROGRAMS["nvidia_smi"].parse(LIST + SMI, Settings("nvidia_smi")).as_result()
    assert (found["passed"], found["driver_version"], found["cuda_version"], found["products"]) == (
        True,
        "430.26",
        "10.2",
        ["Tesla V100-SXM2-16GB"],
    )


def test_nvidia_smi_without_a_device() -> None:
    assert (
        PROGRAMS["nvidia_smi"]
        .parse(
            "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver.",
            Settings("nvidia_smi"),
        )
        .passed
        is False
    )


@pytest.mark.parametrize(
    "log",
    [
        "",
        LIST + MATMUL.replace("finite=true", "finite=false"),
        LIST + MATMUL.replace("median=678.9", "median=0.0"),
        "Traceback (most recent call last):",
    ],
)
def test_matmul_that_did_not_pass(log: str) -> None:
    assert PROGRAMS["matmul"].parse(log, Settings("matmul")).passed is False


def test_mig_devices_count_instead_of_their_gpu() -> None:
    assert devices.uuids(MIG) == [
        "MIG-c6d4f1ef-42e4-5de3-91c7-45d71c87eb3f",
        "MIG-cba663e8-9bed-5b25-b243-5985ef7c9beb",
    ]
    assert devices.uuids("no device") == []


@pytest.mark.parametrize("name", sorted(PROGRAMS))
def test_every_program_lists_its_devices_and_has_a_full_image(name: str) -> None:
    program, node = PROGRAMS[name], GpuNode("Tesla-T4", (7, 5))
    assert program.script(Settings(name), node).startswith("nvidia-smi -L\n")
    assert program.image(node).count("/") >= 2
    assert ":" in program.image(node)
