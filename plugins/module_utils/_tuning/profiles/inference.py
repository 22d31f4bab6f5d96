# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""The profile inference: for nodes that answer requests with a low and even latency."""

from __future__ import annotations

import typing as t

from .accelerator import ACCELERATOR
from .model import Profile, Setting

_NVIDIA: t.Final = "NVIDIA skyhook-packages, nvidia-h100-inference"
_LATENCY: t.Final = "TuneD, profile latency-performance"
_NETWORK: t.Final = "TuneD, profile network-latency"

INFERENCE: t.Final = Profile(
    "inference",
    "Answer requests with a low and even latency",
    (
        Setting(
            "cpu",
            "force_latency",
            "cstate.id_no_zero:1|3",
            "keeps CPUs in the lightest sleep state, so that they wake at once",
            "every node; a virtual machine without sleep states gets 3 microseconds",
            _LATENCY,
        ),
        Setting(
            "sysctl",
            "vm.swappiness",
            "1",
            "keeps the memory of processes as long as it can",
            "every node",
            _NVIDIA,
        ),
        Setting(
            "sysctl",
            "vm.dirty_ratio",
            "10",
            "no process waits for a long write to disk",
            "every node",
            _LATENCY,
        ),
        Setting(
            "sysctl",
            "vm.dirty_background_ratio",
            "3",
            "writing to disk begins early, in small parts",
            "every node",
            _LATENCY,
        ),
        Setting(
            "sysctl",
            "net.core.busy_read",
            "50",
            "a read from a socket polls the network device for 50 microseconds",
            "network devices that support it",
            _NETWORK,
        ),
        Setting(
            "sysctl",
            "net.core.busy_poll",
            "50",
            "a poll of sockets polls the network device for 50 microseconds",
            "network devices that support it",
            _NETWORK,
        ),
        Setting(
            "sysctl",
            "kernel.numa_balancing",
            "0",
            "the kernel does not move memory between NUMA nodes during a request",
            "nodes with two or more NUMA nodes",
            _NETWORK,
        ),
    ),
    base=ACCELERATOR,
    isolates=True,
    huge_pages=(("2M", 8192),),
)
