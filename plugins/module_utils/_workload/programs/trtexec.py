# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Program trtexec: TensorRT builds an engine of a small network and measures its inference.

Source of the output: TensorRT samples/common/sampleReporting.cpp.
"""

from __future__ import annotations

import re
import typing as t

from . import devices, images, readings
from .program import Figure, Finding, GpuNode, Program, Result, Settings

SECONDS: t.Final = 10
# An ONNX network of the samples that come with the image; its folder has moved between releases.
_FIND: t.Final = (
    "model=$(find / -xdev -name ResNet50.onnx -o -xdev -name mnist.onnx 2>/dev/null | sort | head -n 1)"
)
_RATE: t.Final = re.compile(r"Throughput: ([\d.]+) qps")
_LATENCY: t.Final = re.compile(
    r"Latency: min = [\d.]+ ms, .*?median = (?P<median>[\d.]+) ms.*?percentile\(99%\) = (?P<worst>[\d.]+) ms"
)
_END: t.Final = re.compile(r"^&&&& (PASSED|FAILED) TensorRT\.trtexec", re.MULTILINE)
_HOST: t.Final = re.compile(r"\* (Throughput may be bound by Enqueue Time[^\r\n]*)")


def script(settings: Settings, _node: GpuNode) -> str:
    """Return the script of a pod; it measures the first GPU."""
    places = "/usr/src/tensorrt/bin/trtexec /workspace/tensorrt/bin/trtexec"
    tool = f"tool=$(command -v trtexec || ls {places} 2>/dev/null | head -n 1)"
    seconds = settings.seconds or SECONDS
    run = f'"$tool" --onnx="$model" --warmUp=2000 --duration={seconds} --useCudaGraph 2>&1'
    return f"{devices.LIST}\nexport HOME=/tmp\n{_FIND}\n{tool}\n{readings.beside(run)}"


def parse(log: str, _settings: Settings) -> Result:
    """Return queries per second and the latency. A run without a throughput did not pass."""
    uuids, beside = tuple(devices.uuids(log)), readings.parse(log)
    rate, latency, end = _RATE.search(log), _LATENCY.search(log), _END.findall(log)
    findings = list(beside)
    if host := _HOST.search(log):
        findings.append(Finding("trtexec", "warn", f"the host is slow, not the GPU: {host[1]}"))
    if rate is None:
        findings.append(Finding("trtexec", "fail", "it measured nothing: no throughput in the log"))
        return Result(False, uuids, findings=tuple(findings))
    first = uuids[0] if uuids else ""
    figures = [Figure("throughput", float(rate[1]), "qps", first)]
    if latency:
        figures.append(Figure("latency", float(latency["median"]), "ms", first, "lower"))
        figures.append(Figure("latency_p99", float(latency["worst"]), "ms", first, "lower"))
    return Result(bool(uuids) and end[-1:] == ["PASSED"], uuids, tuple(figures), tuple(findings))


PROGRAM: t.Final = Program("node", image=images.tensorrt, script=script, parse=parse, cpu=2, memory=8192)
