# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The ports of a machine's RDMA-capable network adapters. Each adapter has one port."""

from __future__ import annotations

import hashlib
import typing as t

from openshift_sandbox.hardware.gpus import InstanceType, Nic


class Port(t.NamedTuple):
    """One port, as /sys shows it."""

    name: str
    pci: str
    rdma: str
    mac: str
    nic: Nic


def ports(node: str, made_of: InstanceType | None) -> list[Port]:
    """Return the ports of a node, in the order of their slots."""
    if made_of is None or made_of.nic is None:
        return []
    pattern = "ibs{}" if made_of.nic.link == "IB" else "ens{}f0np0"
    return [
        Port(
            pattern.format(slot + 1),
            f"0000:{0x1A + 0x10 * slot:02x}:00.0",
            f"mlx5_{slot}",
            mac(node, pattern.format(slot + 1)),
            made_of.nic,
        )
        for slot in range(made_of.nics)
    ]


def mac(node: str, name: str) -> str:
    """Return the MAC address of an interface, the same in every run."""
    digest = hashlib.sha256(f"{node}/{name}".encode()).hexdigest()
    return ":".join(["a0", "88", "c2", digest[:2], digest[2:4], digest[4:6]])


def function(pci: str, number: int) -> str:
    """Return the PCI address of a virtual function: seven on the first device, then eight on each."""
    base, place = pci.rpartition(":")[0], number + 1
    return f"{base}:{place // 8:02x}.{place % 8}"
