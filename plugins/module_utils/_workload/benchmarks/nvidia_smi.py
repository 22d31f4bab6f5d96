# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Benchmark nvidia_smi: which devices and which driver a container sees. It runs no CUDA."""

from __future__ import annotations

import re
import typing as t

from . import devices

IMAGE: t.Final = "nvcr.io/nvidia/k8s/cuda-sample:vectoradd-cuda12.5.0-ubi8"
SCRIPT: t.Final = f"{devices.LIST}\nnvidia-smi"


def parse(log: str) -> dict[str, t.Any]:
    """Return C(passed), the figures and the devices (C(uuids)) in a log."""
    driver = re.search(r"Driver Version:\s*([\d.]+)", log)
    cuda = re.search(r"CUDA Version:\s*([\d.]+)", log)
    found = devices.uuids(log)
    return {
        "passed": bool(driver) and bool(found),
        "driver_version": driver[1] if driver else "",
        "cuda_version": cuda[1] if cuda else "",
        "products": re.findall(r"^GPU \d+: (.+?) \(UUID:", log, re.MULTILINE),
        "uuids": found,
    }
