# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""Ownership: the label on objects that this collection created, and on no others."""

from __future__ import annotations

import typing as t

MANAGER: t.Final = "accelerators.openshift"
MANAGED_BY: t.Final[dict[str, str]] = {"app.kubernetes.io/managed-by": MANAGER}
POOL: t.Final = "accelerators.openshift/pool"


def pool_label(name: str) -> dict[str, str]:
    """Return the label that ties nodes, machines and machine sets to their pool."""
    return {POOL: name}


def owned(obj: t.Mapping[str, t.Any] | None) -> bool:
    """Return True if this collection created the object."""
    labels = ((obj or {}).get("metadata") or {}).get("labels") or {}
    return all(labels.get(key) == value for key, value in MANAGED_BY.items())


def pool_of(obj: t.Mapping[str, t.Any]) -> str:
    """Return the name of the pool that the object belongs to, or ""."""
    return str((obj.get("metadata", {}).get("labels") or {}).get(POOL, ""))


def selector(labels: t.Mapping[str, str]) -> str:
    """Return a label selector, as the API's query parameter has it."""
    return ",".join(f"{key}={value}" for key, value in sorted(labels.items()))
