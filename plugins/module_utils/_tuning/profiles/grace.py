# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""The profile grace: for nodes with Grace CPUs (GH200, GB200)."""

from __future__ import annotations

import typing as t

from .accelerator import ACCELERATOR
from .model import Argument, Profile, Setting

_GB200: t.Final = "NVIDIA skyhook-packages, nvidia-gb200-performance"
_GRACE: t.Final = "GH200 and GB200, whose GPU memory is a NUMA node of the system"

GRACE: t.Final = Profile(
    "grace",
    "Run Grace CPUs with the GPUs that are joined to them",
    (
        Setting(
            "sysctl",
            "kernel.numa_balancing",
            "0",
            "the kernel does not move pages between the memory of CPU and GPU; the sysctl does at once what "
            "numa_balancing=disable does after a reboot",
            _GRACE,
            _GB200,
        ),
        Setting(
            "sysctl",
            "fs.inotify.max_user_instances",
            "65535",
            "many pods on 72 or 144 cores may watch files",
            _GRACE,
            _GB200,
        ),
        Setting(
            "sysctl",
            "fs.inotify.max_user_watches",
            "524288",
            "many pods on 72 or 144 cores may watch files",
            _GRACE,
            _GB200,
        ),
    ),
    base=ACCELERATOR,
    architectures=("arm64",),
    arguments=(
        Argument(
            "iommu.passthrough=1", "devices of the host skip the SMMU: DMA at full speed", _GRACE, _GB200
        ),
        Argument(
            "init_on_alloc=0", "the kernel does not write zeros into memory that it hands out", _GRACE, _GB200
        ),
    ),
)
