# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What device plugins of virtual machines offer on a node: each plugin answers only for its own resources."""

from __future__ import annotations

import typing as t

from openshift_sandbox.stand_ins.core.reconciler import Cluster, Object

OFFERED: t.Final = "sandbox.openshift/offered-by-{}"
"""Annotation of a Node: the resources that a plugin has offered there."""


def offer(cluster: Cluster, node: Object, plugin: str, found: t.Mapping[str, int]) -> None:
    """Write the devices of a plugin into the status of a node. What it no longer offers goes to zero."""
    name, key = node["metadata"]["name"], OFFERED.format(plugin)
    before = str((node["metadata"].get("annotations") or {}).get(key) or "")
    gone = [resource for resource in before.split(",") if resource and resource not in found]
    amounts = {resource: str(count) for resource, count in found.items()} | dict.fromkeys(gone, "0")
    status = node.get("status") or {}
    changes = {
        field: {one: value for one, value in amounts.items() if (status.get(field) or {}).get(one) != value}
        for field in ("capacity", "allocatable")
    }
    if any(changes.values()):
        cluster.patch("Node", name, None, {"status": changes}, "status")
    told = ",".join(sorted(found))
    if told != before:
        cluster.patch("Node", name, None, {"metadata": {"annotations": {key: told or None}}})
