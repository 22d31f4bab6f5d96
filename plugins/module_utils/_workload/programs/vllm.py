# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Program vllm: a language model server with invented weights answers requests; tokens per second, latency.

Source of the output: vllm/benchmarks/serve.py. The tokenizer of the model has to be reachable, or in the
image: a disconnected cluster needs an image with it.
"""

from __future__ import annotations

import re
import typing as t

from . import devices, images, readings
from .program import Figure, Finding, GpuNode, Program, Result, Settings

MODEL: t.Final = "Qwen/Qwen3-8B"
_REQUESTS: t.Final = 256
# Line of the result -> figure, unit, whether more is better.
_LINES: t.Final = {
    r"Output token throughput \(tok/s\)": ("output_tokens", "tok/s", "higher"),
    r"Total [Tt]oken throughput \(tok/s\)": ("total_tokens", "tok/s", "higher"),
    r"Median TTFT \(ms\)": ("ttft", "ms", "lower"),
    r"Median TPOT \(ms\)": ("tpot", "ms", "lower"),
}


def script(settings: Settings, node: GpuNode) -> str:
    """Return the script: it starts the server on all GPUs of the pod, waits for it, and sends requests."""
    model = settings.model or MODEL
    serve = f"vllm serve {model} --load-format dummy --port 8000 --max-model-len 2048"
    serve += f" --tensor-parallel-size {max(1, node.devices)}"
    bench = (
        f"vllm bench serve --backend vllm --model {model} --port 8000 --dataset-name random "
        f"--random-input-len 128 --random-output-len 128 --num-prompts {_REQUESTS} --num-warmups 16"
    )
    wait = (
        "for try in $(seq 240); do kill -0 $server 2>/dev/null || break\n"
        "  python3 -c 'import urllib.request as r; "
        'r.build_opener().open("http://127.0.0.1:8000/health", timeout=2)\' '
        "2>/dev/null && break\n  sleep 5\ndone"
    )
    run = f"{serve} > /tmp/server.log 2>&1 &\nserver=$!\n{wait}\n{bench} 2>&1\nended=$?\n"
    run += "[ $ended -eq 0 ] || tail -n 30 /tmp/server.log\nkill $server 2>/dev/null"
    return f"{devices.LIST}\nexport HOME=/tmp\n{readings.beside(f'{{ {run}; (exit $ended); }}')}"


def parse(log: str, _settings: Settings) -> Result:
    """Return the figures of the whole node. A failed request, or no throughput, did not pass."""
    uuids, beside = tuple(devices.uuids(log)), readings.parse(log)
    part = log.rpartition("Serving Benchmark Result")[2] if "Serving Benchmark Result" in log else ""
    figures = [
        Figure(name, float(found[1]), unit, better=t.cast(t.Literal["higher", "lower"], better))
        for pattern, (name, unit, better) in _LINES.items()
        if (found := re.search(rf"^{pattern}:\s+([\d.]+)\s*$", part, re.MULTILINE))
    ]
    failed = re.search(r"^Failed requests:\s+(\d+)\s*$", part, re.MULTILINE)
    findings = list(beside)
    if failed and int(failed[1]):
        findings.append(Finding("vllm", "fail", f"{failed[1]} requests failed"))
    if not any(figure.name == "output_tokens" and figure.value > 0 for figure in figures):
        findings.append(Finding("vllm", "fail", "it measured nothing: no throughput in the log"))
    is_good = bool(uuids) and not any(finding.status == "fail" for finding in findings)
    return Result(is_good, uuids, tuple(figures), tuple(findings))


PROGRAM: t.Final = Program(
    "node",
    image=images.vllm,
    script=script,
    parse=parse,
    seconds=lambda _settings: 1200,
    cpu=4,
    memory=16384,
    shared_memory=4,
)
