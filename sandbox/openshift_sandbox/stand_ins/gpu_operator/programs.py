# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Stand in for programs that measure GPUs: they print what the real ones print, with numbers of a table.

Trouble `slow_gpu` (share, gpu) makes one GPU of a node, or all of them, measure that share of what it should;
`throttled` says in the readings beside it that heat slows it down.
"""

from __future__ import annotations

import re
import typing as t

from openshift_sandbox.hardware.gpus import Gpu
from openshift_sandbox.stand_ins.core.reconciler import Cluster, Object
from openshift_sandbox.stand_ins.core.troubles import on_node
from openshift_sandbox.stand_ins.gpu_operator.output import device_uuid


class Place(t.NamedTuple):
    """Where a program runs. devices: numbers of the GPUs on the node. parts: MIG devices."""

    cluster: Cluster
    node: Object
    gpu: Gpu
    devices: t.Sequence[int]
    parts: t.Sequence[str]
    script: str

    def share(self, index: int) -> float:
        """Return which share of what it should the GPU with this number on the node measures."""
        trouble = on_node(self.cluster, "slow_gpu", self.node)
        if trouble is None or int(trouble.get("gpu", index)) != index:
            return 1.0
        return float(trouble.get("share", 0.6))

    def reading(self, index: int) -> str:
        """Return what nvidia-smi says about the GPU while a program runs."""
        trouble = on_node(self.cluster, "throttled", self.node)
        is_hot = trouble is not None and int(trouble.get("gpu", index)) == index
        uuid, reasons, heat = device_uuid(self.node["metadata"]["name"], index), 0x04, 66
        if is_hot:
            reasons, heat = 0x44, 91
        return f"reading gpu {uuid}, 0x{reasons:016X}, {heat}, 341.20, 0, 16, 16"


# Type -> share of what the GPU does in half precision.
_TYPES: t.Final = {"fp32": 0.08, "tf32": 0.45, "bf16": 1.0, "fp16": 1.0, "fp8": 1.85}


def matmul(place: Place) -> list[str]:
    """Return the lines of the program matmul of gpu_workload: one for each device and type."""
    asked = re.search(r"python3 - \d+ (\S+) <<", place.script)
    lines = [place.reading(index) for index in place.devices]
    units = [int(part.partition(":")[0]) for part in place.parts] or list(place.devices)
    for name in (asked[1] if asked else "fp16").split(","):
        for number, index in enumerate(units):
            value = place.gpu.fp16_tflops * _TYPES[name] * place.share(index) / (7 if place.parts else 1)
            lines.append(
                f"matmul gpu={number} type={name} size=8192 windows=20 seconds=10.2 median={value:.1f} "
                f"least={value * 0.99:.1f} greatest={value * 1.01:.1f} finite=true"
            )
    return lines


_PROGRAMS: t.Final[dict[str, t.Callable[[Place], list[str]]]] = {"matmul": matmul}


def output(what: str | None, place: Place) -> list[str]:
    """Return what the program prints after the list of its devices, nothing for one that is not here."""
    return _PROGRAMS[what](place) if what in _PROGRAMS else []
