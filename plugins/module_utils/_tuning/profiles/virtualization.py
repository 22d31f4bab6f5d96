# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""The profile virtualization: for nodes that pass their GPUs through to virtual machines."""

from __future__ import annotations

import typing as t

from .accelerator import ACCELERATOR
from .model import Argument, Profile, Setting

_HOST: t.Final = "TuneD, profile virtual-host"
_GUIDE: t.Final = "OpenShift Virtualization, preparing the host for GPU passthrough"

VIRTUALIZATION: t.Final = Profile(
    "virtualization",
    "Pass GPUs through to virtual machines",
    (
        Setting(
            "sysctl",
            "vm.dirty_background_ratio",
            "5",
            "writing to disk begins early, so that guests do not stall",
            "every node",
            _HOST,
        ),
        Setting(
            "cpu",
            "force_latency",
            "cstate.id_no_zero:3|70",
            "keeps CPUs out of deep sleep states, so that guests wake quickly",
            "every node",
            _HOST,
        ),
    ),
    base=ACCELERATOR,
    architectures=("amd64",),
    arguments=(
        Argument(
            "intel_iommu=on",
            "turns the IOMMU on, without which VFIO takes no device",
            "Intel CPUs; AMD CPUs ignore it, and their IOMMU is on",
            _GUIDE,
        ),
        Argument(
            "iommu=pt",
            "devices that stay with the host skip the IOMMU",
            "nodes with x86 CPUs",
            _GUIDE,
        ),
    ),
)
