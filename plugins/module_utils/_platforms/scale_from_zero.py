# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""Annotations of a machine set that describe a node which does not exist yet to the autoscaler."""

from __future__ import annotations

import typing as t

from .._catalogue.well_known import GPU
from .platform import Reports

PREFIX: t.Final = "capacity.cluster-autoscaler.kubernetes.io/"
CPU, MEMORY, GPUS, GPU_TYPE, LABELS = (
    f"{PREFIX}{name}" for name in ("cpu", "memory", "gpu-count", "gpu-type", "labels")
)
_MIB_OF_GIB: t.Final = 1024
# OpenShift's autoscaler uses only this resource for the GPUs of a node that does not exist yet. It ignores
# the annotation gpu-type.
BOOKED: t.Final = GPU


class Sized(t.Protocol):
    """The facts of a candidate's machines. expected: resource to the number of devices of a node."""

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


def capacity(reports: Reports, candidate: Sized) -> dict[str, str]:
    """Return the annotations for facts that the platform's controller does not write, or gets wrong.

    The keys are upstream's: the autoscaler prefers them, and no provider's controller writes them. Some
    controllers count devices of other vendors as NVIDIA's.
    """
    resource = BOOKED
    if candidate.vendor != "nvidia":
        resource = next((name for name in candidate.expected if "/" in name), BOOKED)
    if reports == "all" and resource == BOOKED:
        return {}
    found = {GPUS: str(candidate.gpus_per_node), GPU_TYPE: resource}
    if reports != "all":
        found[LABELS] = f"kubernetes.io/arch={candidate.arch}"
    if reports != "size" and candidate.vcpus and candidate.memory_gib:
        memory = round(candidate.memory_gib * _MIB_OF_GIB)
        found |= {CPU: str(candidate.vcpus), MEMORY: f"{memory}Mi"}
    return found


def lacks_size(reports: Reports | None, candidate: Sized) -> list[str]:
    """Return the missing keys of a candidate without which its machine set cannot scale up from 0.

    reports: None if the platform is not known.
    """
    if reports != "nothing":
        return []
    return [key for key in ("vcpus", "memory_gib") if not getattr(candidate, key)]
