# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The configurations of the vGPU device manager, and how many vGPUs of each type GPUs have.

Compared with vgpu-device-manager v0.5. The real one also cuts GPUs by MIG, and has filters of many models.
"""

from __future__ import annotations

import json
import typing as t

import yaml

from openshift_sandbox.hardware.instance_types import InstanceType
from openshift_sandbox.hardware.machine_devices import SLICES

Object = dict[str, t.Any]
Cut = dict[str, int]

LAYOUT: t.Final = "sandbox.openshift/vgpu-layout"
"""Annotation of a Node: the types of vGPU of each of its GPUs, as JSON."""
DEFAULT_CONFIG: t.Final = "default-vgpu-devices-config"
FILE: t.Final = "config.yaml"
# The first GPU of a machine; the sandbox numbers the others.
FIRST_BUS: t.Final = 0x1E


def address(index: int) -> str:
    """Return the PCI address of a GPU."""
    return f"0000:{FIRST_BUS + index:02x}:00.0"


def filter_of(device: str) -> str:
    """Return a device as the filters of a configuration name it."""
    return f"0x{device.upper()}10DE"


def shipped() -> str:
    """Return the configurations that the operator brings: one for each type, and two halves as default."""
    configs: Object = {
        "default": [
            {"devices": "all", "device-filter": [filter_of(device)], "vgpu-devices": {slices.half(): 2}}
            for device, slices in SLICES.items()
        ]
    }
    for slices in SLICES.values():
        for kind, count in slices.types().items():
            configs[kind] = [{"devices": "all", "vgpu-devices": {kind: count}}]
    return yaml.safe_dump({"version": "v1", "vgpu-configs": configs}, sort_keys=True)


def layout(node: Object, gpus: int) -> list[Cut]:
    """Return the vGPUs that the GPUs of a node have now."""
    told = (node["metadata"].get("annotations") or {}).get(LAYOUT)
    return json.loads(told) if told else [{} for _index in range(gpus)]


def wanted(text: str, name: str, made_of: InstanceType, before: list[Cut]) -> list[Cut] | None:
    """Return the layout that a configuration asks for, or None where it is not there.

    GPUs that no entry is for keep theirs.
    """
    entries = ((yaml.safe_load(text) or {}).get("vgpu-configs") or {}).get(name)
    if entries is None:
        return None
    found, device = list(before), made_of.gpu.pci_device if made_of.gpu else ""
    for entry in entries:
        filters = entry.get("device-filter")
        listed = [filters] if isinstance(filters, str) else filters
        if listed and filter_of(device) not in listed:
            continue
        for index in range(made_of.gpus):
            if entry.get("devices") == "all" or index in (entry.get("devices") or []):
                found[index] = dict(entry.get("vgpu-devices") or {})
    return found


def misfit(device: str, target: t.Sequence[Cut]) -> str:
    """Return why GPUs of this model cannot have these vGPUs, or an empty text."""
    types = SLICES[device].types() if device in SLICES else {}
    for index, cut in enumerate(target):
        for kind, count in cut.items():
            if kind not in types:
                where = f"(index={index}, address={address(index)})"
                return f"vGPU type {kind} is not supported on GPU {where}"
            if len(cut) > 1 or count > types[kind]:
                return (
                    f"failed to create {count} {kind} vGPU devices on the GPU. ensure '{count}' does not "
                    f"exceed the maximum supported instances for '{kind}'"
                )
    return ""


def counts(found: t.Iterable[Cut]) -> Cut:
    """Return how many vGPUs of each type there are together."""
    total: Cut = {}
    for cut in found:
        total |= {kind: total.get(kind, 0) + count for kind, count in cut.items()}
    return total
