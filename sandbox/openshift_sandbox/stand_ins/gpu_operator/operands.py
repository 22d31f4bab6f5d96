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
    """One DaemonSet of the operator.

    `component` is the suffix of its nvidia.com/gpu.deploy label. `image` is the name of its image in the
    operator's env.
    """

    state: str
    name: str
    component: str
    spec_key: str
    account: str
    containers: tuple[str, ...]
    init: tuple[str, ...] = ("toolkit-validation",)
    image: str = "VALIDATOR_IMAGE"
    selector: tuple[tuple[str, str], ...] = ()
    enabled_by_default: bool = True
    host_pid: bool = False
    for_machines: bool = False
    """It runs where GPUs belong to virtual machines, and is off unless the policy says otherwise."""


DRIVER: t.Final = Operand(
    "state-driver",
    "nvidia-driver-daemonset",
    "driver",
    "driver",
    "nvidia-driver",
    ("nvidia-driver-ctr",),
    ("k8s-driver-manager",),
    "DRIVER_IMAGE",
    host_pid=True,
)

PLUGIN: t.Final = "DEVICE_PLUGIN_IMAGE"

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
        "CONTAINER_TOOLKIT_IMAGE",
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
        image="DCGM_IMAGE",
    ),
    Operand(
        "state-dcgm-exporter",
        "nvidia-dcgm-exporter",
        "dcgm-exporter",
        "dcgmExporter",
        "nvidia-dcgm-exporter",
        ("nvidia-dcgm-exporter",),
        image="DCGM_EXPORTER_IMAGE",
    ),
    Operand(
        "gpu-feature-discovery",
        "gpu-feature-discovery",
        "gpu-feature-discovery",
        "gfd",
        "nvidia-gpu-feature-discovery",
        ("gpu-feature-discovery",),
        image="GFD_IMAGE",
    ),
    Operand(
        "state-mig-manager",
        "nvidia-mig-manager",
        "mig-manager",
        "migManager",
        "nvidia-mig-manager",
        ("nvidia-mig-manager",),
        image="MIG_MANAGER_IMAGE",
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


def _machines(name: str, component: str, key: str, container: str, **more: t.Any) -> Operand:
    account = name.removesuffix("-daemonset")
    state = "state-sandbox-validation" if key == "validator" else f"state-{component}"
    found = {"enabled_by_default": key == "validator", "for_machines": True} | more
    return Operand(state, name, component, key, account, (container,), **found)


VGPU_MANAGER: t.Final = _machines(
    "nvidia-vgpu-manager-daemonset",
    "vgpu-manager",
    "vgpuManager",
    "nvidia-vgpu-manager-ctr",
    init=("k8s-driver-manager",),
    image="VGPU_MANAGER_IMAGE",
    host_pid=True,
)

MACHINE_OPERANDS: t.Final[tuple[Operand, ...]] = (
    VGPU_MANAGER,
    _machines(
        "nvidia-vgpu-device-manager",
        "vgpu-device-manager",
        "vgpuDeviceManager",
        "nvidia-vgpu-device-manager",
        init=("vgpu-manager-validation",),
        image="VGPU_DEVICE_MANAGER_IMAGE",
    ),
    _machines(
        "nvidia-sandbox-validator",
        "sandbox-validator",
        "validator",
        "nvidia-sandbox-validator",
        init=("vfio-pci-validation", "vgpu-manager-validation", "vgpu-devices-validation"),
    ),
    _machines(
        "nvidia-vfio-manager",
        "vfio-manager",
        "vfioManager",
        "nvidia-vfio-manager",
        init=("k8s-driver-manager",),
        image="VFIO_MANAGER_IMAGE",
    ),
    _machines(
        "nvidia-sandbox-device-plugin-daemonset",
        "sandbox-device-plugin",
        "sandboxDevicePlugin",
        "nvidia-sandbox-device-plugin-ctr",
        init=("vfio-pci-validation", "vgpu-devices-validation"),
        image="SANDBOX_DEVICE_PLUGIN_IMAGE",
    ),
)
"""The operands of nodes whose GPUs belong to virtual machines."""


def enabled(operand: Operand, spec: Object) -> bool:
    """Return whether a ClusterPolicy switches an operand on."""
    part = spec.get(operand.spec_key) or {}
    if operand is DRIVER and part.get("useNvidiaDriverCRD"):
        return False
    if operand.for_machines and not (spec.get("sandboxWorkloads") or {}).get("enabled"):
        return False
    if operand.for_machines and operand.enabled_by_default:
        return True
    return bool(part.get("enabled", operand.enabled_by_default))
