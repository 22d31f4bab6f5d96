# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""Holders of devices: pods that other people, or a killed run, left on the nodes to validate."""

from __future__ import annotations

import typing as t

from .._core.objects import KubeObject
from .._core.ownership import owned
from .._nodes import devices as node_devices
from .params import GpuWorkloadParams
from .pods import HOSTNAME, RUN_LABEL, geometry_of, has_ended, host_of

# Resource -> who holds it -> how many of it.
Held = t.Mapping[str, t.Mapping[str, int]]


def is_ours(obj: KubeObject, params: GpuWorkloadParams) -> bool:
    """Return whether a run of this module made the pod or the claim."""
    metadata = obj["metadata"]
    return metadata.get("namespace") == params["namespace"] and owned(obj) and RUN_LABEL in metadata["labels"]


def leftovers(
    present: t.Iterable[KubeObject], params: GpuWorkloadParams, nodes: t.Iterable[KubeObject]
) -> list[KubeObject]:
    """Return the pods that a killed run left on these nodes; a run on other nodes may still need its own."""
    hosts = {host_of(node) for node in nodes}
    return [
        one
        for one in present
        if is_ours(one, params) and one["spec"].get("nodeSelector", {}).get(HOSTNAME) in hosts
    ]


def requested(pod: KubeObject, resource: str) -> int:
    """Return what the scheduler counts: the sum of the pod's containers, or its largest init container."""

    def of(kind: str) -> list[int]:
        return [
            node_devices.count((one.get("resources", {}).get("limits") or {}).get(resource, 0))
            for one in pod["spec"].get(kind) or []
        ]

    return max([sum(of("containers")), *of("initContainers")])


def requests(
    node: KubeObject, present: t.Iterable[KubeObject], params: GpuWorkloadParams
) -> dict[str, dict[str, int]]:
    """Return what other people's pods on the node request: resource -> pod -> number."""
    live = [one for one in present if not has_ended(one) and not is_ours(one, params)]
    return {
        resource: {
            f"{one['metadata']['namespace']}/{one['metadata']['name']}": requested(one, resource)
            for one in live
        }
        for resource in geometry_of(node, params["resources"])
    }


def lines(nodes: t.Iterable[KubeObject], held: t.Mapping[str, Held], params: GpuWorkloadParams) -> list[str]:
    """Return a line for each node where others leave too few devices free. held: by the name of the node."""
    return [line for node in nodes for line in _lines(node, held.get(node["metadata"]["name"], {}), params)]


def _lines(node: KubeObject, present: Held, params: GpuWorkloadParams) -> list[str]:
    found = []
    for resource, number in geometry_of(node, params["resources"]).items():
        held = {name: count for name, count in sorted(present.get(resource, {}).items()) if count}
        offered = node_devices.offered(node, resource)
        free = offered - sum(held.values())
        if free < number and held:
            who = ", ".join(f"{name} ({count})" for name, count in held.items())
            what = f"{free} of {offered} {resource} free, {number} needed; held by {who}"
            found.append(f"{node['metadata']['name']}: {what}")
    return found
