# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""Ownership: the label that only objects created by this collection have, and the label of a pool."""

from __future__ import annotations

import typing as t

MANAGER: t.Final = "accelerators.openshift"
MANAGED_BY: t.Final[dict[str, str]] = {"app.kubernetes.io/managed-by": MANAGER}
POOL: t.Final = "accelerators.openshift/pool"
# The label that says what a namespace was created for.
PURPOSE: t.Final = "accelerators.openshift/purpose"
VALIDATION: t.Final = "validation"
TEAM: t.Final = "team"


def pool_label(name: str) -> dict[str, str]:
    """Return the label that assigns nodes, machines and machine sets to their pool."""
    return {POOL: name}


def owned(obj: t.Mapping[str, t.Any] | None) -> bool:
    """Return True if the object has the label of this collection; None has not."""
    labels = ((obj or {}).get("metadata") or {}).get("labels") or {}
    return all(labels.get(key) == value for key, value in MANAGED_BY.items())


def pool_of(obj: t.Mapping[str, t.Any]) -> str:
    """Return the name of the pool that the object belongs to, or ""."""
    return str((obj.get("metadata", {}).get("labels") or {}).get(POOL, ""))


def selector(labels: t.Mapping[str, str]) -> str:
    """Return the labels as the text of the API's query parameter labelSelector."""
    return ",".join(f"{key}={value}" for key, value in sorted(labels.items()))
