# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The operands that the GPU operator (v26.7) runs on GPU nodes, as data."""

from __future__ import annotations

import typing as t
from dataclasses import dataclass

Object = dict[str, t.Any]

DEPLOY: t.Final = "nvidia.com/gpu.deploy."
DRIVER_VERSION: t.Final = "595.91.07"
DRIVER_COMPONENT: t.Final = {"app.kubernetes.io/component": "nvidia-driver"}


@dataclass(frozen=True)
class Operand:
    """One DaemonSet of the operator; `component` is the suffix of its nvidia.com/gpu.deploy label."""

    state: str
    name: str
    component: str
    spec_key: str
    account: str
    containers: tuple[str, ...]
    init: tuple[str, ...] = ("toolkit-validation",)
    image: tuple[str, str, str] = ("nvcr.io/nvidia/cloud-native", "gpu-operator-validator", "v26.7.0")
    selector: tuple[tuple[str, str], ...] = ()
    enabled_by_default: bool = True
    host_pid: bool = False


DRIVER: t.Final = Operand(
    "state-driver",
    "nvidia-driver-daemonset",
    "driver",
    "driver",
    "nvidia-driver",
    ("nvidia-driver-ctr",),
    ("k8s-driver-manager",),
    ("nvcr.io/nvidia", "driver", DRIVER_VERSION),
    host_pid=True,
)

PLUGIN: t.Final = ("nvcr.io/nvidia", "k8s-device-plugin", "v0.19.0")

OPERANDS: t.Final[tuple[Operand, ...]] = (
    DRIVER,
    Operand(
        "state-container-toolkit",
        "nvidia-container-toolkit-daemonset",
        "container-toolkit",
        "toolkit",
        "nvidia-container-toolkit",
        ("nvidia-container-toolkit-ctr",),
        ("driver-validation",),
        ("nvcr.io/nvidia/k8s", "container-toolkit", "v1.19.0"),
        host_pid=True,
    ),
    Operand(
        "state-operator-validation",
        "nvidia-operator-validator",
        "operator-validator",
        "validator",
        "nvidia-operator-validator",
        ("nvidia-operator-validator",),
        ("driver-validation", "toolkit-validation", "cuda-validation", "plugin-validation"),
    ),
    Operand(
        "state-device-plugin",
        "nvidia-device-plugin-daemonset",
        "device-plugin",
        "devicePlugin",
        "nvidia-device-plugin",
        ("nvidia-device-plugin",),
        image=PLUGIN,
    ),
    Operand(
        "state-mps-control-daemon",
        "nvidia-device-plugin-mps-control-daemon",
        "device-plugin",
        "devicePlugin",
        "nvidia-device-plugin",
        ("mps-control-daemon-ctr",),
        ("toolkit-validation", "mps-control-daemon-mounts"),
        PLUGIN,
        (("nvidia.com/mps.capable", "true"),),
        host_pid=True,
    ),
    Operand(
        "state-dcgm",
        "nvidia-dcgm",
        "dcgm",
        "dcgm",
        "nvidia-dcgm",
        ("nvidia-dcgm-ctr",),
        image=("nvcr.io/nvidia/cloud-native", "dcgm", "4.5.2-1"),
    ),
    Operand(
        "state-dcgm-exporter",
        "nvidia-dcgm-exporter",
        "dcgm-exporter",
        "dcgmExporter",
        "nvidia-dcgm-exporter",
        ("nvidia-dcgm-exporter",),
        image=("nvcr.io/nvidia/k8s", "dcgm-exporter", "4.5.2-4.8.1"),
    ),
    Operand(
        "gpu-feature-discovery",
        "gpu-feature-discovery",
        "gpu-feature-discovery",
        "gfd",
        "nvidia-gpu-feature-discovery",
        ("gpu-feature-discovery",),
        image=PLUGIN,
    ),
    Operand(
        "state-mig-manager",
        "nvidia-mig-manager",
        "mig-manager",
        "migManager",
        "nvidia-mig-manager",
        ("nvidia-mig-manager",),
        image=("nvcr.io/nvidia/cloud-native", "k8s-mig-manager", "v0.14.0"),
        host_pid=True,
    ),
    Operand(
        "state-node-status-exporter",
        "nvidia-node-status-exporter",
        "node-status-exporter",
        "nodeStatusExporter",
        "nvidia-node-status-exporter",
        ("nvidia-node-status-exporter",),
        (),
        enabled_by_default=False,
    ),
)


def enabled(operand: Operand, spec: Object) -> bool:
    """Return whether a ClusterPolicy switches an operand on."""
    part = spec.get(operand.spec_key) or {}
    if operand is DRIVER and part.get("useNvidiaDriverCRD"):
        return False
    return bool(part.get("enabled", operand.enabled_by_default))
