# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What nfd-worker finds on a simulated node besides PCI devices.

It depends on the family of the instance type, and covers only the features that people use.
"""

from __future__ import annotations

import typing as t

from openshift_sandbox.hardware.instance_types import of_node
from openshift_sandbox.stand_ins.core.reconciler import Object

# Family of instance types -> vendor, CPU family and model, as in /proc/cpuinfo.
_INTEL: t.Final = {
    "85": ("m5", "p3dn", "p4d", "p4de", "g4dn"),
    "79": ("p3", "p2"),
    "106": ("m6i",),
    "143": ("p5", "p5e", "p5en", "p6-b200", "p6-b300"),
}
_AMD: t.Final = {"49": ("g5", "g4ad"), "1": ("g6", "g6e", "m6a", "g7e")}
_FLAGS: t.Final = ("ADX", "AESNI", "AVX", "AVX2", "FMA3")
_MORE_FLAGS: t.Final = {
    "85": ("AVX512BW", "AVX512F", "AVX512VNNI"),
    "106": ("AVX512BITALG", "AVX512BW", "AVX512F", "AVX512VNNI", "SHA"),
    "143": (
        "AMXBF16",
        "AMXINT8",
        "AMXTILE",
        "AVX512BF16",
        "AVX512BW",
        "AVX512F",
        "AVX512FP16",
        "AVX512VNNI",
        "SHA",
    ),
}
_ARM_FLAGS: t.Final = ("AES", "ASIMD", "ASIMDDP", "ATOMICS", "SHA2")
# Servers of this size and larger have two sockets, and two NUMA nodes.
_TWO_SOCKETS: t.Final = 64
_KERNEL_OPTIONS: t.Final = ("NO_HZ", "NO_HZ_FULL")


def cpu_of(node: Object) -> dict[str, str]:
    """Return vendor, family and model of the CPU of a node."""
    if _is_arm(node):
        return {"vendor_id": "ARM", "family": "0", "id": "3340"}
    family = _family(node)
    if model := next((model for model, families in _AMD.items() if family in families), ""):
        return {"vendor_id": "AMD", "family": "23" if model == "49" else "25", "id": model}
    return {
        "vendor_id": "Intel",
        "family": "6",
        "id": next((model for model, families in _INTEL.items() if family in families), "106"),
    }


def cpuid_of(node: Object) -> tuple[str, ...]:
    """Return the CPUID flags of a node."""
    if _is_arm(node):
        return _ARM_FLAGS
    cpu = cpu_of(node)
    return (*_FLAGS, *(_MORE_FLAGS.get(cpu["id"], ()) if cpu["vendor_id"] == "Intel" else ("SHA",)))


def labels_of(node: Object) -> dict[str, str]:
    """Return the labels of the sources cpu, kernel, memory, network and storage, without their prefix."""
    labels = {f"cpu-model.{key}": value for key, value in cpu_of(node).items()}
    labels |= {f"cpu-cpuid.{flag}": "true" for flag in cpuid_of(node)}
    labels |= {f"kernel-config.{option}": "true" for option in _KERNEL_OPTIONS}
    labels |= {
        "cpu-hardware_multithreading": "false" if _is_arm(node) else "true",
        "kernel-selinux.enabled": "true",
        "storage-nonrotationaldisk": "true",
    }
    if has_numa(node):
        labels["memory-numa"] = "true"
    if has_sriov(node):
        labels |= {"network-sriov.capable": "true"}
    return labels


def has_numa(node: Object) -> bool:
    """Return whether a node has more than one NUMA node."""
    hardware = of_node(node)
    return bool(hardware and hardware.vcpus >= _TWO_SOCKETS)


def has_sriov(node: Object) -> bool:
    """Return whether the node sees a whole adapter: a virtual machine sees only a function of one."""
    return _name(node).endswith("metal") or not _name(node)


def _is_arm(node: Object) -> bool:
    return bool(node["status"]["nodeInfo"].get("architecture") == "arm64")


def _name(node: Object) -> str:
    return str((node["metadata"].get("labels") or {}).get("node.kubernetes.io/instance-type", ""))


def _family(node: Object) -> str:
    return _name(node).partition(".")[0]
