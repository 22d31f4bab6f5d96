# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""Queries for the objects that a wait for a pool reads."""

from __future__ import annotations

from ..._core.ownership import pool_label, selector
from ..._kube.client import Query
from ..._kube.kinds import known


def hosts(platform: str, namespace: str) -> dict[str, Query]:
    """Return the query for hosts on bare metal, where no Machine reports its host's fault."""
    return {"hosts": Query(known("BareMetalHost"), namespace)} if platform == "BareMetal" else {}


def queries(pool: str, namespace: str) -> dict[str, Query]:
    labels = selector(pool_label(pool))
    kinds = {"machine_sets": "MachineSet", "machines": "Machine", "nodes": "Node"}
    return {
        key: Query(known(kind), None if kind == "Node" else namespace, labels=labels)
        for key, kind in kinds.items()
    }
