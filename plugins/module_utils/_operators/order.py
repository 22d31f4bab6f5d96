# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""The order in which operators are upgraded, and the releases that their makers let an upgrade pass."""

from __future__ import annotations

import typing as t

from .._core.errors import InputError

NFD: t.Final = "nfd"
NETWORK: t.Final = "nvidia-network-operator"
GPU: t.Final = "gpu-operator-certified"
KMM: t.Final = "kernel-module-management"


class Place(t.NamedTuple):
    """Where an operator stands in the order. why: the reason; source: who says so."""

    package: str
    why: str
    source: str


# Read on 2026-08-31.
ORDER: t.Final = (
    Place(
        NFD,
        "the other operators choose their nodes by its labels",
        "docs.nvidia.com: GPU operator on OpenShift, prerequisites",
    ),
    Place(
        NETWORK,
        "the GPU driver builds nvidia-peermem for the NIC driver that runs",
        "docs.nvidia.com: GPU operator, GPUDirect RDMA, prerequisites",
    ),
    Place(GPU, "its driver comes after the NIC driver", "docs.nvidia.com: GPU operator, GPUDirect RDMA"),
    Place(
        KMM,
        "no operator above depends on its modules",
        "docs.redhat.com: Specialized hardware and driver enablement",
    ),
)
PACKAGES: t.Final = tuple(place.package for place in ORDER)
# Names that users know the packages by.
_ALSO: t.Final = {
    "gpu": GPU,
    "gpu-operator": GPU,
    "nic": NETWORK,
    "network-operator": NETWORK,
    "node-feature-discovery": NFD,
    "kmm": KMM,
}
# Packages whose makers support no upgrade past a release (docs.nvidia.com: GPU operator, platform support:
# "within a major release or to the next major release"; a major release is YY.MM).
STEPWISE: t.Final = (GPU,)


class Wish(t.NamedTuple):
    """One operator to upgrade. to: a CSV or a version; empty for the head. place: the option's path."""

    package: str
    channel: str = ""
    to: str = ""
    place: str = ""


def wishes(entries: t.Sequence[t.Mapping[str, t.Any]]) -> list[Wish]:
    """Return the entries of the option `operators`, in the order of upgrades. Raise InputError."""
    found: list[Wish] = []
    for index, entry in enumerate(entries):
        path = f"operators[{index}]"
        package = _ALSO.get(str(entry["name"]), str(entry["name"]))
        if package not in PACKAGES:
            raise InputError(
                "INPUT-VALUE",
                f"{path}.name is {entry['name']}, and this task upgrades {', '.join(PACKAGES)}.",
                f"Set gpu_upgrade_operators[{index}].name to one of them.",
            )
        if package in (one.package for one in found):
            raise InputError(
                "INPUT-VALUE",
                f"{path}.name is {entry['name']}, which is in the list twice.",
                f"Remove gpu_upgrade_operators[{index}].",
            )
        found.append(Wish(package, entry.get("channel") or "", entry.get("to") or "", path))
    return sorted(found, key=lambda one: PACKAGES.index(one.package))
