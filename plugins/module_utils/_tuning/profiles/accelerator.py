# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""The profile accelerator: for every node with a GPU or another accelerator."""

from __future__ import annotations

import typing as t

from .model import Profile, Setting

_TUNED: t.Final = "TuneD, profile accelerator-performance"
_THROUGHPUT: t.Final = "TuneD, profile throughput-performance"

ACCELERATOR: t.Final = Profile(
    "accelerator",
    "Keep the CPUs fast, so that they feed the accelerators without a pause",
    (
        Setting(
            "cpu",
            "governor",
            "performance",
            "keeps the CPU at its highest frequency",
            "nodes whose CPU frequency the system sets; virtual machines ignore it",
            _TUNED,
        ),
        Setting(
            "cpu",
            "energy_perf_bias",
            "performance",
            "asks the CPU to prefer speed to saving power",
            "Intel CPUs; others ignore it",
            _TUNED,
        ),
        Setting(
            "cpu",
            "min_perf_pct",
            "100",
            "keeps the driver intel_pstate at its highest step",
            "Intel CPUs; others ignore it",
            _TUNED,
        ),
        Setting(
            "cpu",
            "force_latency",
            "99",
            "keeps CPUs out of sleep states that take longer than 99 microseconds to leave",
            "every node",
            _TUNED,
        ),
        Setting(
            "disk",
            "readahead",
            ">4096",
            "reads at least 4 MiB ahead from disks, which helps with data sets and checkpoints",
            "every node",
            _TUNED,
        ),
        Setting(
            "sysctl",
            "vm.dirty_ratio",
            "40",
            "writes of checkpoints wait only when 40 % of the memory is not yet on disk",
            "every node",
            _THROUGHPUT,
        ),
        Setting(
            "sysctl",
            "vm.dirty_background_ratio",
            "10",
            "writing to disk begins when 10 % of the memory is not yet on disk",
            "every node",
            _THROUGHPUT,
        ),
        Setting(
            "sysctl",
            "vm.swappiness",
            "10",
            "keeps the memory of processes, and drops cached files first",
            "every node",
            _TUNED,
        ),
    ),
)
