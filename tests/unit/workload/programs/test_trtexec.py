"""Program trtexec: throughput and latency of inference."""

from __future__ import annotations

import pytest

from ansible_collections.accelerators.openshift.plugins.module_utils._workload.programs import trtexec
from ansible_collections.accelerators.openshift.plugins.module_utils._workload.programs.program import (
    GpuNode,
    Settings,
)

UUIDS = ("GPU-6c1440da-b4a3-51b0-929a-330ae814498b", "GPU-11111111-b4a3-51b0-929a-330ae814498b")
LIST = "".join(f"GPU {number}: NVIDIA A100 (UUID: {uuid})\n" for number, uuid in enumerate(UUIDS))


SUMMARY = """\
[10/01/2026-10:00:00] [I] === Performance summary ===
[10/01/2026-10:00:00] [I] Throughput: 1234.5 qps
[10/01/2026-10:00:00] [I] Latency: min = 0.8 ms, max = 1.2 ms, mean = 0.9 ms, median = 0.89 ms, \
percentile(90%) = 1 ms, percentile(95%) = 1.1 ms, percentile(99%) = 1.19 ms
[10/01/2026-10:00:00] [I] Enqueue Time: min = 0.01 ms, max = 0.1 ms, mean = 0.02 ms, median = 0.02 ms
[10/01/2026-10:00:00] [W] * Throughput may be bound by Enqueue Time rather than GPU Compute and the GPU may be
"""
PASSED = "&&&& PASSED TensorRT.trtexec [TensorRT v100900] # trtexec --onnx=ResNet50.onnx\n"


def test_a_good_run_with_a_slow_host() -> None:
    found = trtexec.parse(LIST + SUMMARY + PASSED, Settings("trtexec"))
    assert found.passed
    assert [(one.name, one.value, one.better) for one in found.figures] == [
        ("throughput", 1234.5, "higher"),
        ("latency", 0.89, "lower"),
        ("latency_p99", 1.19, "lower"),
    ]
    assert [finding.status for finding in found.findings] == ["warn"]


@pytest.mark.parametrize(
    "log",
    [
        LIST,
        LIST + SUMMARY,
        LIST + SUMMARY + PASSED.replace("PASSED", "FAILED"),
        LIST + PASSED,
        SUMMARY + PASSED,
    ],
)
def test_what_did_not_pass(log: str) -> None:
    assert not trtexec.parse(log, Settings("trtexec")).passed


def test_the_script_is_for_any_release_of_the_image() -> None:
    assert "--duration=30" in trtexec.script(Settings("trtexec", seconds=30), GpuNode())
