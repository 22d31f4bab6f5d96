# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Program vectoradd: CUDA's sample, the smallest program that proves driver, runtime and device."""

from __future__ import annotations

import re
import typing as t

from . import devices, images
from .program import GpuNode, Program, Result, Settings

SCRIPT: t.Final = f"{devices.LIST}\n/cuda-samples/vectorAdd"


def script(_settings: Settings, _node: GpuNode) -> str:
    """Return the script of a pod with one device."""
    return SCRIPT


def parse(log: str, _settings: Settings) -> Result:
    """Return whether the vectors were added, and their size."""
    elements = re.search(r"Vector addition of (\d+) elements", log)
    launch = re.search(r"(\d+) blocks of (\d+) threads", log)
    return Result(
        passed=re.search(r"^Test PASSED\s*$", log, re.MULTILINE) is not None,
        uuids=tuple(devices.uuids(log)),
        extra={
            "elements": int(elements[1]) if elements else None,
            "blocks": int(launch[1]) if launch else None,
            "threads": int(launch[2]) if launch else None,
        },
    )


PROGRAM: t.Final = Program("device", image=images.samples, script=script, parse=parse, memory=512)
