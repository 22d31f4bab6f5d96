"""Program vllm: tokens per second and latency of a server."""

from __future__ import annotations

import pytest

from ansible_collections.accelerators.openshift.plugins.module_utils._workload.programs import vllm
from ansible_collections.accelerators.openshift.plugins.module_utils._workload.programs.program import (
    GpuNode,
    Settings,
)

UUIDS = ("GPU-6c1440da-b4a3-51b0-929a-330ae814498b", "GPU-11111111-b4a3-51b0-929a-330ae814498b")
LIST = "".join(f"GPU {number}: NVIDIA A100 (UUID: {uuid})\n" for number, uuid in enumerate(UUIDS))


TEXT = """\
============ Serving Benchmark Result ============
Successful requests:                     256
Failed requests:                         {failed}
Benchmark duration (s):                  12.34
Request throughput (req/s):              20.75
Output token throughput (tok/s):         2655.50
Total token throughput (tok/s):          5311.00
---------------Time to First Token----------------
Mean TTFT (ms):                          812.10
Median TTFT (ms):                        790.00
P99 TTFT (ms):                           1500.00
-----Time per Output Token (excl. 1st token)------
Median TPOT (ms):                        31.20
==================================================
"""


def test_a_good_run() -> None:
    found = vllm.parse(LIST + TEXT.format(failed=0), Settings("vllm"))
    assert found.passed
    assert [(one.name, one.value, one.better) for one in found.figures] == [
        ("output_tokens", 2655.5, "higher"),
        ("total_tokens", 5311.0, "higher"),
        ("ttft", 790.0, "lower"),
        ("tpot", 31.2, "lower"),
    ]


@pytest.mark.parametrize(
    "log", [LIST + TEXT.format(failed=3), LIST, LIST + TEXT[:200], TEXT.format(failed=0)]
)
def test_what_did_not_pass(log: str) -> None:
    assert not vllm.parse(log, Settings("vllm")).passed


def test_the_server_gets_all_gpus_of_the_pod() -> None:
    script = vllm.script(Settings("vllm", model="my/model"), GpuNode(devices=4))
    assert "vllm serve my/model" in script
    assert "--tensor-parallel-size 4" in script
