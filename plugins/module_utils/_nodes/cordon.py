# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""Cordons of nodes: whether a node is cordoned, since when, and whether this collection did it."""

from __future__ import annotations

import typing as t

from .._core.objects import KubeObject
from .taints import UNSCHEDULABLE, taints

# On nodes that this collection has cordoned; the value says why. A later run removes cordons that an earlier
# one left.
MARK: t.Final = "accelerators.openshift/cordoned"
FOR_POOL, FOR_ADMIN = "pool", "admin"


def is_cordoned(node: KubeObject) -> bool:
    """Return True if the scheduler puts no new pods on the node."""
    return bool((node.get("spec") or {}).get("unschedulable"))


def mark_of(node: KubeObject) -> str:
    """Return what this collection cordoned the node for (FOR_POOL, FOR_ADMIN), or an empty text."""
    return str((node["metadata"].get("annotations") or {}).get(MARK, ""))


def since(node: KubeObject) -> str:
    """Return when the node was cordoned, as the API writes times, or an empty text if no taint says it."""
    return next(
        (str(one.get("timeAdded") or "") for one in taints(node) if one.get("key") == UNSCHEDULABLE), ""
    )
