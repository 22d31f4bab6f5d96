# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""The tuning of one pool: what it asks for, and the facts of its machines."""

from __future__ import annotations

import typing as t
from dataclasses import dataclass, field

NEVER: t.Final = "never"
PLANNED: t.Final = "planned"


@dataclass(frozen=True)
class HugePages:
    """Huge pages of one size. size: C(2M) or C(1G). numa_node: None spreads them over all NUMA nodes."""

    size: str
    count: int
    numa_node: int | None = None


@dataclass(frozen=True)
class Isolation:
    """CPUs for the system and for the pods, as lists such as C(0-3,48-51); empty means computed."""

    reserved: str = ""
    isolated: str = ""


@dataclass(frozen=True)
class Tuning:
    """The tuning of one pool.

    name: the pool's. label: the labels of its nodes. path: of the option, for messages. data: the text of a
    TuneD profile of the user's own. defer: the profile takes effect with the next restart of a node.
    advised: options that the profile advises and the pool leaves out. topology: the kubelet's policy, or
    empty. vfio: PCI ids of devices for virtual machines. reboot: C(never) or C(planned). instance_type: empty
    if unknown. vcpus, memory_gib, numa_nodes and threads_per_core are 0 if unknown.
    """

    name: str
    label: t.Mapping[str, str]
    path: str = "tuning"
    profile: str = ""
    data: str = ""
    sysctl: t.Mapping[str, str] = field(default_factory=dict)
    defer: bool = False
    kernel_arguments: tuple[str, ...] = ()
    isolate: Isolation | None = None
    huge_pages: tuple[HugePages, ...] = ()
    advised: tuple[str, ...] = ()
    topology: str = ""
    vfio: tuple[str, ...] = ()
    reboot: str = NEVER
    arch: str = "amd64"
    instance_type: str = ""
    vcpus: int = 0
    memory_gib: int = 0
    numa_nodes: int = 0
    threads_per_core: int = 0

    @property
    def reboots(self) -> bool:
        """Return True if the tuning has a setting that only a restart of the node brings into effect."""
        return bool(self.kernel_arguments or self.isolate or self.huge_pages or self.topology or self.vfio)
