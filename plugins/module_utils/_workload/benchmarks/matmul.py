# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Benchmark matmul: matrix multiplication in half precision. Its TFLOPS show whether a device is slow."""

from __future__ import annotations

import re
import typing as t

from . import devices

IMAGE: t.Final = "nvcr.io/nvidia/pytorch:24.12-py3"
_PROGRAM: t.Final = """\
import time, torch
size, rounds = 8192, 50
left, right = (torch.randn(size, size, device="cuda", dtype=torch.float16) for _ in range(2))
left @ right
torch.cuda.synchronize()
start = time.perf_counter()
for _ in range(rounds):
    product = left @ right
torch.cuda.synchronize()
seconds = time.perf_counter() - start
finite = bool(torch.isfinite(product).all())
device, tflops = torch.cuda.get_device_name().replace(' ', '-'), 2 * size ** 3 * rounds / seconds / 1e12
print(f"matmul device={device} size={size} dtype=float16 rounds={rounds} seconds={seconds:.3f} "
      f"tflops={tflops:.1f} finite={str(finite).lower()}")
"""
SCRIPT: t.Final = f"{devices.LIST}\npython3 - <<'PROGRAM'\n{_PROGRAM}PROGRAM"
_LINE = re.compile(
    r"^matmul device=(?P<device>\S+) size=(?P<size>\d+) .*"
    r"seconds=(?P<seconds>[\d.]+) tflops=(?P<tflops>[\d.]+) finite=(?P<finite>\w+)",
    re.MULTILINE,
)


def parse(log: str) -> dict[str, t.Any]:
    """Return C(passed), the figures and the devices (C(uuids)) in a log."""
    line = _LINE.search(log)
    return {
        "passed": line is not None and line["finite"] == "true" and float(line["tflops"]) > 0,
        "device": line["device"] if line else "",
        "size": int(line["size"]) if line else None,
        "seconds": float(line["seconds"]) if line else None,
        "tflops": float(line["tflops"]) if line else None,
        "uuids": devices.uuids(log),
    }
