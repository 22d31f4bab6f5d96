# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Program compute_domain: a pod in a ComputeDomain has one IMEX channel, by which NVLink joins nodes."""

from __future__ import annotations

import re
import typing as t

from . import devices, images
from .program import Finding, GpuNode, Program, Result, Settings

CHANNEL: t.Final = "WORK-IMEX-CHANNEL"
FOLDER: t.Final = "/dev/nvidia-caps-imex-channels"
SCRIPT: t.Final = f'{devices.LIST}\necho "imex channels:" $(ls {FOLDER} 2>/dev/null)'
_CHANNELS: t.Final = re.compile(r"^imex channels:(.*)$", re.MULTILINE)


def script(_settings: Settings, _node: GpuNode) -> str:
    """Return the script of a pod that claims one channel."""
    return SCRIPT


def unfit(_settings: Settings, node: GpuNode) -> str:
    """Return why the node can have no channel."""
    return "" if node.clique else "it is in no NVLink domain: it has no label nvidia.com/gpu.clique"


def parse(log: str, _settings: Settings) -> Result:
    """Return which channels the pod has; exactly one is right."""
    line = _CHANNELS.search(log)
    channels = line[1].split() if line else []
    why = f"{FOLDER} has {len(channels)} devices ({', '.join(channels) or 'none'})"
    return Result(
        passed=len(channels) == 1,
        uuids=tuple(devices.uuids(log)),
        findings=() if line is None or len(channels) == 1 else (Finding("imex", "fail", why, code=CHANNEL),),
        extra={"channels": channels},
    )


PROGRAM: t.Final = Program(
    "node", images.samples, script, parse, unfit=unfit, memory=512, claims_channel=True
)
