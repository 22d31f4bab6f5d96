# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""Which objects are ours: the label that is set on what we created, and on nothing else."""

from __future__ import annotations

import typing as t

MANAGER: t.Final = "accelerators.openshift"
MANAGED_BY: t.Final[dict[str, str]] = {"app.kubernetes.io/managed-by": MANAGER}
POOL: t.Final = "accelerators.openshift/pool"


def pool_label(name: str) -> dict[str, str]:
    """The label that ties nodes, machines and machine sets to their pool."""
    return {POOL: name}


def owned(obj: t.Mapping[str, t.Any] | None) -> bool:
    """Did we create this object?"""
    labels = ((obj or {}).get("metadata") or {}).get("labels") or {}
    return all(labels.get(key) == value for key, value in MANAGED_BY.items())


def pool_of(obj: t.Mapping[str, t.Any]) -> str:
    """Name of the pool that the object belongs to, or an empty string."""
    return str((obj.get("metadata", {}).get("labels") or {}).get(POOL, ""))


def selector(labels: t.Mapping[str, str]) -> str:
    """Labels as the API's query parameter wants them."""
    return ",".join(f"{key}={value}" for key, value in sorted(labels.items()))
