# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""What a machine set tells the autoscaler of a node that does not exist yet, where the platform's own controller does not."""

from __future__ import annotations

import typing as t

from ansible_collections.accelerators.openshift.plugins.module_utils._catalogue.well_known import GPU

PREFIX: t.Final = "capacity.cluster-autoscaler.kubernetes.io/"
CPU, MEMORY, GPUS, GPU_TYPE, LABELS = (
    f"{PREFIX}{name}" for name in ("cpu", "memory", "gpu-count", "gpu-type", "labels")
)
_MIB_OF_GIB: t.Final = 1024
# Whose machine-set controller writes machine.openshift.io/vCPU, memoryMb and GPU, and the architecture as a label.
_TELL_ALL: t.Final = ("aws", "azure", "gcp")
# Whose writes vCPU and memoryMb.
_TELL_SIZE: t.Final = ("vsphere", "openstack", "nutanix", "ibm")
# The one resource that OpenShift's autoscaler books for a GPU of a node that is not there, whatever gpu-type says.
BOOKED: t.Final = GPU


class Sized(t.Protocol):
    """What must be known of a candidate's machines. expected: devices of a node, by resource."""

    @property
    def arch(self) -> str: ...
    @property
    def vendor(self) -> str: ...
    @property
    def gpus_per_node(self) -> int: ...
    @property
    def vcpus(self) -> int | None: ...
    @property
    def memory_gib(self) -> float | None: ...
    @property
    def expected(self) -> t.Mapping[str, int]: ...


def capacity(platform: str, candidate: Sized) -> dict[str, str]:
    """In upstream's keys, which the autoscaler prefers and which no provider's controller writes; empty where the provider says it all.

    platform: as a pool calls it. Where the controller counts devices that are not NVIDIA's as if they were, ours name them rightly.
    """
    resource = (
        next((name for name in candidate.expected if "/" in name), BOOKED)
        if candidate.vendor != "nvidia"
        else BOOKED
    )
    if platform in _TELL_ALL and resource == BOOKED:
        return {}
    told = {GPUS: str(candidate.gpus_per_node), GPU_TYPE: resource}
    if platform not in _TELL_ALL:
        told[LABELS] = f"kubernetes.io/arch={candidate.arch}"
    if platform not in _TELL_SIZE and candidate.vcpus and candidate.memory_gib:
        told |= {CPU: str(candidate.vcpus), MEMORY: f"{round(candidate.memory_gib * _MIB_OF_GIB)}Mi"}
    return told


def lacks_size(platform: str | None, candidate: Sized) -> list[str]:
    """What must be known of the machines for a set to grow from nothing, and is not."""
    if platform is None or platform in (*_TELL_ALL, *_TELL_SIZE):
        return []
    return [key for key in ("vcpus", "memory_gib") if not getattr(candidate, key)]
