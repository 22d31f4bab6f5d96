"""Program resnet50: pictures per second, in today's table and in that of 2019."""

from __future__ import annotations

import pytest

from ansible_collections.accelerators.openshift.plugins.module_utils._workload.programs import resnet50
from ansible_collections.accelerators.openshift.plugins.module_utils._workload.programs.program import (
    GpuNode,
    Settings,
)

UUIDS = ("GPU-6c1440da-b4a3-51b0-929a-330ae814498b", "GPU-11111111-b4a3-51b0-929a-330ae814498b")
LIST = "".join(f"GPU {number}: NVIDIA A100 (UUID: {uuid})\n" for number, uuid in enumerate(UUIDS))


OLD = """\
PY 3.6.8 | packaged by conda-forge
 Step Epoch Img/sec  Loss  LR
     1   1.0    27.0  7.842  8.814 2.00000
    10  10.0   344.4  5.290  6.263 1.62000
    20  20.0   864.8  0.155  1.130 1.24469
    30  30.0   865.3  0.001  0.978 0.91877
    60  60.0   868.9  0.000  0.948 0.23728
    80  80.0   865.8  0.000  0.942 0.02469
    90  90.0   700.8  0.000  0.942 0.00025
"""


def table(gpu: int, rate: float, loss: str = "5.912") -> str:
    lines = (
        f"gpu={gpu} {step:6d} {step:5.1f} {rate:7.1f}  {loss}  {loss} 0.10000" for step in (1, 10, 30, 40, 90)
    )
    return "\n".join([f"gpu={gpu} batch_size=256", *lines]) + "\n"


def test_the_table_of_2019() -> None:
    found = resnet50.parse(LIST + OLD, Settings("resnet50", variant="2019"))
    assert found.passed
    assert [(one.name, one.value, one.device) for one in found.figures] == [("images", 865.5, UUIDS[0])]
    assert found.extra == {"peak": 868.9}


def test_each_gpu_has_its_figure() -> None:
    found = resnet50.parse(LIST + table(0, 2500.0) + table(1, 2400.0), Settings("resnet50"))
    assert found.passed
    assert [(one.value, one.device) for one in found.figures] == [(2500.0, UUIDS[0]), (2400.0, UUIDS[1])]


@pytest.mark.parametrize(
    "log",
    [LIST, LIST + table(0, 2500.0), LIST + table(0, 2500.0) + table(1, 2400.0, "nan"), table(0, 2500.0)],
    ids=["nothing", "one GPU is missing", "a loss that is no number", "no devices"],
)
def test_what_did_not_pass(log: str) -> None:
    assert not resnet50.parse(log, Settings("resnet50")).passed


def test_the_scripts() -> None:
    assert "--num_iter=90" in resnet50.script(Settings("resnet50", variant="2019"), GpuNode())
    script = resnet50.script(Settings("resnet50"), GpuNode())
    program = script.partition("<<'PROGRAM'\n")[2].partition("PROGRAM\n")[0]
    compile(program, "program", "exec")
    compile(program.partition("WORKER = '''")[2].partition("'''")[0], "worker", "exec")
