# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""The profile training: for nodes with eight GPUs that train together (HGX and DGX, A100 to B300)."""

from __future__ import annotations

import functools
import typing as t

from .accelerator import ACCELERATOR
from .model import Argument, Profile, Setting

_NVIDIA: t.Final = "NVIDIA skyhook-packages, nvidia-h100-multiNodeTraining"
_H100: t.Final = "NVIDIA skyhook-packages, nvidia-h100-performance"
_HPC: t.Final = "TuneD, profile hpc-compute"
_NODES: t.Final = "nodes that train together over Ethernet; InfiniBand and RoCE do not use these buffers"
_HGX: t.Final = "HGX and DGX nodes with x86 CPUs"
_buffer = functools.partial(Setting, "sysctl", hardware=_NODES, source=_NVIDIA)

TRAINING: t.Final = Profile(
    "training",
    "Train on several nodes with eight GPUs each",
    (
        _buffer("net.core.rmem_max", "536870912", "a socket may receive into 512 MiB"),
        _buffer("net.core.wmem_max", "536870912", "a socket may send from 512 MiB"),
        _buffer(
            "net.core.rmem_default", "134217728", "a socket receives into 128 MiB unless it asks otherwise"
        ),
        _buffer("net.core.wmem_default", "134217728", "a socket sends from 128 MiB unless it asks otherwise"),
        _buffer("net.ipv4.tcp_rmem", "4096 87380 268435456", "TCP may receive into up to 256 MiB"),
        _buffer("net.ipv4.tcp_wmem", "4096 65536 268435456", "TCP may send from up to 256 MiB"),
        _buffer("net.core.netdev_max_backlog", "10000", "bursts of packets wait and are not dropped"),
        _buffer("net.ipv4.tcp_max_syn_backlog", "8192", "many workers may connect at the same time"),
        Setting(
            "sysctl",
            "kernel.numa_balancing",
            "0",
            "the kernel does not move memory between NUMA nodes behind the back of NCCL",
            "nodes with two or more NUMA nodes",
            _HPC,
        ),
    ),
    base=ACCELERATOR,
    architectures=("amd64",),
    arguments=(
        Argument("iommu=pt", "devices of the host skip the IOMMU: DMA at full speed", _HGX, _H100),
        Argument("pci=realloc=off", "keeps the firmware's layout of the GPUs' large BARs", _HGX, _H100),
        Argument(
            "init_on_alloc=0",
            "the kernel does not write zeros into memory that it hands out",
            "every node",
            "NVIDIA skyhook-packages, nvidia-base",
        ),
    ),
)
