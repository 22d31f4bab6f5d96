# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which scripted troubles apply to a node: by node, pool, kernel, zone or instance type.

A trouble that names none of them applies to every node.
"""

from __future__ import annotations

import typing as t

from openshift_sandbox.stand_ins.core.reconciler import Cluster, Object

LABELS: t.Final = {
    "pool": "accelerators.openshift/pool",
    "zone": "topology.kubernetes.io/zone",
    "instance_type": "node.kubernetes.io/instance-type",
}


def place(node: Object) -> dict[str, str | None]:
    """Return the fields of a node that troubles may name."""
    labels = node["metadata"].get("labels") or {}
    kernel = node.get("status", {}).get("nodeInfo", {}).get("kernelVersion")
    where: dict[str, str | None] = {field: labels.get(key) for field, key in LABELS.items()}
    return where | {
        "node": node["metadata"]["name"],
        "kernel": labels.get("feature.node.kubernetes.io/kernel-version.full", kernel),
    }


def on_node(cluster: Cluster, kind: str, node: Object) -> Object | None:
    """Return the first trouble of a type that applies to a node, or None."""
    return cluster.trouble(kind, **place(node))
