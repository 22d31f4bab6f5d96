# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where a program that measures GPUs runs, and what good cards give there."""

from __future__ import annotations

import typing as t

from openshift_sandbox.hardware.gpus import Gpu, Nic
from openshift_sandbox.stand_ins.core.reconciler import Cluster, Object
from openshift_sandbox.stand_ins.core.troubles import place
from openshift_sandbox.stand_ins.gpu_operator.output import device_uuid


class Speeds(t.NamedTuple):
    """What a good card gives.

    host, pair: GB/s of copies from the host, and between two GPUs, 0 if they cannot. reduce: GB/s of
    bus bandwidth inside a node. images: img/s of ResNet-50. queries: qps. tokens: tok/s.
    """

    host: float = 12.3
    pair: float = 0.0
    reduce: float = 9.0
    images: float = 420.0
    queries: float = 900.0
    tokens: float = 600.0


# Beginning of the card's name -> its speeds; the longest one counts.
_SPEEDS: t.Final[dict[str, Speeds]] = {
    "": Speeds(),
    "Tesla V100-SXM2": Speeds(12.3, 48.2, 124.0, 1180.0, 2600.0, 1100.0),
    "Tesla T4": Speeds(6.2, 0.0, 5.1, 430.0, 1250.0, 620.0),
    "NVIDIA A10": Speeds(12.9, 0.0, 11.2, 820.0, 2300.0, 1500.0),
    "NVIDIA L4": Speeds(12.8, 0.0, 10.9, 790.0, 2500.0, 1400.0),
    "NVIDIA L40": Speeds(25.4, 24.2, 20.3, 1500.0, 5200.0, 3200.0),
    "NVIDIA A100": Speeds(25.1, 22.4, 19.2, 2250.0, 6100.0, 5100.0),
    "NVIDIA A100-SXM4": Speeds(25.2, 276.3, 232.0, 2480.0, 6800.0, 5600.0),
    "NVIDIA H100": Speeds(55.1, 392.0, 455.0, 3050.0, 11800.0, 9800.0),
    "NVIDIA H200": Speeds(55.4, 396.4, 466.0, 3120.0, 12100.0, 12400.0),
    "NVIDIA B200": Speeds(55.6, 778.0, 832.0, 4600.0, 19500.0, 21000.0),
    "NVIDIA B300": Speeds(56.1, 781.0, 841.0, 4700.0, 20100.0, 23500.0),
    "NVIDIA GB200": Speeds(121.0, 782.0, 840.0, 4650.0, 19800.0, 22400.0),
}


# GB/s between two GPUs above which they are behind NVSwitches.
_BY_SWITCH: t.Final = 250.0


class Place(t.NamedTuple):
    """Where a program runs. devices: numbers of the GPUs on the node. parts: MIG devices. nic: if it has one.

    partners: nodes whose pods work together with this one, itself among them. pod: the pod of the program.
    """

    cluster: Cluster
    node: Object
    gpu: Gpu
    devices: t.Sequence[int]
    parts: t.Sequence[str]
    script: str
    image: str = ""
    nic: Nic | None = None
    partners: t.Sequence[Object] = ()
    pod: Object = {}

    @property
    def speeds(self) -> Speeds:
        """Return what a good card of this model gives."""
        return _SPEEDS[max((name for name in _SPEEDS if self.gpu.name.startswith(name)), key=len)]

    def trouble(self, kind: str, index: int | None = None, node: Object | None = None) -> Object | None:
        """Return the trouble of this kind for the node, and for the GPU with this number on it."""
        found = self.cluster.troubles(kind, **place(node or self.node))
        return next((one for one in found if index is None or int(one.get("gpu", index)) == index), None)

    def share(self, index: int) -> float:
        """Return which share of what it should the GPU with this number on the node measures."""
        trouble = self.trouble("slow_gpu", index)
        return float(trouble.get("share", 0.6)) if trouble else 1.0

    @property
    def least(self) -> float:
        """Return the share of the slowest GPU, for which the others wait."""
        return min(map(self.share, self.devices), default=1.0)

    @property
    def uuids(self) -> list[str]:
        """Return the UUIDs of the GPUs."""
        return [device_uuid(self.node["metadata"]["name"], index) for index in self.devices]

    def readings(self) -> list[str]:
        """Return what nvidia-smi says about the GPUs while a program runs, and at its end."""
        lines = []
        for index, uuid in zip(self.devices, self.uuids, strict=True):
            is_hot = self.trouble("throttled", index) is not None
            reasons, heat = (0x44, 91) if is_hot else (0x04, 66)
            lines.append(f"reading gpu {uuid}, 0x{reasons:016X}, {heat}, 341.20, 0, 16, 16")
        lines += [f"reading rows {uuid}, No, No" for uuid in self.uuids]
        return [*lines, *self._fabric()] if self.speeds.pair > _BY_SWITCH else lines

    def _fabric(self) -> list[str]:
        """Return what nvidia-smi says about the NVLink fabric of GPUs behind NVSwitches."""
        lines = []
        for index, uuid in zip(self.devices, self.uuids, strict=True):
            trouble = self.trouble("fabric_fails", index) or {}
            state, status = trouble.get("state", "Completed"), trouble.get("status", "Success")
            lines.append(f"reading fabric {uuid}, {state}, {status}")
        return lines


class Output(t.NamedTuple):
    """What a program prints after the list of its devices, and the code with which it ends."""

    lines: t.Sequence[str] = ()
    code: int = 0
