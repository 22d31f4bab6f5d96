# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""Mirrors: Machines and machine sets that Cluster API controls; their own fields cannot be written."""

from __future__ import annotations

import typing as t

from .._core.errors import AcceleratorError
from .._core.objects import KubeObject

_OURS: t.Final = "MachineAPI"


class MachineError(AcceleratorError):
    """The Machine API cannot create or change machines as the pool asks."""


def mirrored(live: KubeObject) -> str:
    """Return the API that controls the object; empty if the Machine API does."""
    # spec holds the wanted API, status the current one; during a migration the status is `Migrating`.
    said = (str(part.get("authoritativeAPI") or _OURS) for part in (live.get("status") or {}, live["spec"]))
    return next((authority for authority in said if authority != _OURS), "")


def check_machines(machines: t.Iterable[KubeObject]) -> None:
    """Raise MachineError if a Machine is a mirror; it can be one although its set is not."""
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
