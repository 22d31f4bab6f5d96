# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""Machines and machine sets that mirror objects of Cluster API: their own fields cannot be written."""

from __future__ import annotations

import typing as t

from .._core.errors import AcceleratorError
from .._core.objects import KubeObject

_OURS: t.Final = "MachineAPI"


class MachineError(AcceleratorError):
    """Machines cannot be made or changed as asked."""


def mirrored(live: KubeObject) -> str:
    """Return the API that the object is written through; empty for the Machine API."""
    # The specification says what is wanted, the status what holds; between the two it is Migrating.
    said = (str(part.get("authoritativeAPI") or _OURS) for part in (live.get("status") or {}, live["spec"]))
    return next((authority for authority in said if authority != _OURS), "")


def check_machines(machines: t.Iterable[KubeObject]) -> None:
    """Raise MachineError if one of these Machines is a mirror; it can be one although its set is none."""
    found = {str(one["metadata"]["name"]): authority for one in machines if (authority := mirrored(one))}
    if found:
        names, authorities = ", ".join(sorted(found)), ", ".join(sorted(set(found.values())))
        raise MachineError(
            "MACH-MIRRORED",
            f"Machines are mirrors, their authoritativeAPI is {authorities}, so what is written here is "
            "refused or "
            f"overwritten: {names}. Nothing was changed.",
            "Change their objects of Cluster API instead, or set spec.authoritativeAPI of each to "
            "MachineAPI and wait until "
            "the status says so too.",
            evidence=[f"{name}: authoritativeAPI {authority}" for name, authority in sorted(found.items())],
        )
