"""Program gpu_burn: speed, errors and temperature of each GPU."""

from __future__ import annotations

import pytest

from ansible_collections.accelerators.openshift.plugins.module_utils._workload.programs import gpu_burn
from ansible_collections.accelerators.openshift.plugins.module_utils._workload.programs.program import (
    GpuNode,
    Settings,
)

UUIDS = ("GPU-6c1440da-b4a3-51b0-929a-330ae814498b", "GPU-11111111-b4a3-51b0-929a-330ae814498b")
LIST = "".join(f"GPU {number}: NVIDIA A100 (UUID: {uuid})\n" for number, uuid in enumerate(UUIDS))


PROGRESS = (
    "\r10.0%  proc'd: 1234 (12345 Gflop/s) - 1230 (12300 Gflop/s)   errors: 0 - 0   temps: 55 C - 57 C "
    "\r100.0%  proc'd: 9999 (12100 Gflop/s) - 9990 (12050 Gflop/s)   errors: {errors}   temps: 71 C - 70 C \n"
)
END = "Killing processes with SIGTERM (soft kill)\nTested 2 GPUs:\n\tGPU 0: OK\n\tGPU 1: {verdict}\n"


def log(errors: str = "0 - 0", verdict: str = "OK") -> str:
    return LIST + PROGRESS.format(errors=errors) + END.format(verdict=verdict)


def test_a_good_run() -> None:
    found = gpu_burn.parse(log(), Settings("gpu_burn"))
    assert found.passed
    assert [(one.name, one.value, one.device) for one in found.figures] == [
        ("burn", 12100.0, UUIDS[0]),
        ("burn", 12050.0, UUIDS[1]),
        ("heat", 71.0, UUIDS[0]),
        ("heat", 70.0, UUIDS[1]),
    ]


@pytest.mark.parametrize(
    ("text", "device", "words"),
    [
        (log("0 - 12  (WARNING!)", "FAULTY"), UUIDS[1], "12 wrong results"),
        (log().partition("\tGPU 1")[0], UUIDS[1], "no verdict"),
        (LIST, UUIDS[0], "no verdict"),
    ],
)
def test_a_bad_run_names_the_gpu(text: str, device: str, words: str) -> None:
    found = gpu_burn.parse(text, Settings("gpu_burn"))
    assert not found.passed
    assert found.findings[0].device == device
    assert words in found.findings[0].text


def test_mig_devices_are_not_for_it() -> None:
    assert "MIG" in gpu_burn.unfit(Settings("gpu_burn"), GpuNode(mig=True))
    assert gpu_burn.unfit(Settings("gpu_burn"), GpuNode()) == ""
