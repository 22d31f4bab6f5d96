# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Program nvidia_smi: which devices and which driver a container sees. It runs no CUDA."""

from __future__ import annotations

import re
import typing as t

from . import devices, images
from .program import GpuNode, Program, Result, Settings

SCRIPT: t.Final = f"{devices.LIST}\nnvidia-smi"


def script(_settings: Settings, _node: GpuNode) -> str:
    """Return the script of a pod with one device."""
    return SCRIPT


def parse(log: str, _settings: Settings) -> Result:
    """Return the driver and the products that the container sees."""
    driver = re.search(r"Driver Version:\s*([\d.]+)", log)
    cuda = re.search(r"CUDA Version:\s*([\d.]+)", log)
    uuids = tuple(devices.uuids(log))
    return Result(
        passed=bool(driver) and bool(uuids),
        uuids=uuids,
        extra={
            "driver_version": driver[1] if driver else "",
            "cuda_version": cuda[1] if cuda else "",
            "products": re.findall(r"^GPU \d+: (.+?) \(UUID:", log, re.MULTILINE),
        },
    )


PROGRAM: t.Final = Program("device", image=images.samples, script=script, parse=parse, memory=512)
