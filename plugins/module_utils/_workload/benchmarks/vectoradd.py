# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Benchmark vectoradd: CUDA's sample, the smallest program that proves driver, runtime and device."""

from __future__ import annotations

import re
import typing as t

from . import devices

IMAGE: t.Final = "nvcr.io/nvidia/k8s/cuda-sample:vectoradd-cuda12.5.0-ubi8"
SCRIPT: t.Final = f"{devices.LIST}\n/cuda-samples/vectorAdd"


def parse(log: str) -> dict[str, t.Any]:
    """Return C(passed), the figures and the devices (C(uuids)) in a log."""
    elements = re.search(r"Vector addition of (\d+) elements", log)
    launch = re.search(r"(\d+) blocks of (\d+) threads", log)
    return {
        "passed": re.search(r"^Test PASSED\s*$", log, re.MULTILINE) is not None,
        "elements": int(elements[1]) if elements else None,
        "blocks": int(launch[1]) if launch else None,
        "threads": int(launch[2]) if launch else None,
        "uuids": devices.uuids(log),
    }
