# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""Fingerprints of validated nodes: a later run validates only nodes that changed since."""

from __future__ import annotations

import typing as t

from .._core.objects import KubeObject
from .._nodes import devices as node_devices
from .pods import GpuWorkloadParams

NAME: t.Final = "gpu-validation-fingerprints"


def fingerprint(node: KubeObject, benchmark: str) -> str:
    """Return what a validation holds for: the benchmark, the node's boot, driver and geometry."""
    return f"benchmark={benchmark} {node_devices.fingerprint(node)}"


def changed(
    nodes: t.Iterable[KubeObject], benchmark: str, memory: KubeObject | None, force: bool
) -> list[KubeObject]:
    """Return the nodes to validate: those whose fingerprint changed, or all with force."""
    stored = (memory or {}).get("data") or {}
    return [
        node
        for node in nodes
        if force or stored.get(node["metadata"]["name"]) != fingerprint(node, benchmark)
    ]


def build(
    params: GpuWorkloadParams,
    memory: KubeObject | None,
    validated: t.Iterable[KubeObject],
    existing: t.Iterable[KubeObject],
) -> KubeObject:
    """Return the ConfigMap of all fingerprints.

    Nodes that are gone leave it; nodes of other pools stay in it.
    """
    names = {node["metadata"]["name"] for node in existing}
    data = {name: value for name, value in ((memory or {}).get("data") or {}).items() if name in names}
    data |= {node["metadata"]["name"]: fingerprint(node, params["benchmark"]) for node in validated}
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": NAME, "namespace": params["namespace"]},
        "data": dict(sorted(data.items())),
    }
