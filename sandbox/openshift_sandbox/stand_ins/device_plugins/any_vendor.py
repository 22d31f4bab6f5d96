# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Stand in for device plugins of other vendors than NVIDIA, and for their kubelet.

The real ones find devices; here the arguments of a Ready pod say what its node offers.
"""

from __future__ import annotations

import typing as t

from openshift_sandbox.stand_ins.core.reconciler import Cluster, Object, Reconciler
from openshift_sandbox.stand_ins.core.troubles import on_node
from openshift_sandbox.stand_ins.gpu_operator.operand_pods import node_of
from openshift_sandbox.stand_ins.gpu_operator.readiness import is_ready

RESOURCE: t.Final = "--resource-name="
DEVICES: t.Final = "--devices="


def offered(pod: Object) -> tuple[str, int] | None:
    """Return resource and number of devices from the arguments of a plugin's container, or None."""
    for container in pod["spec"]["containers"]:
        found = {
            start: one.removeprefix(start)
            for one in container.get("args") or ()
            for start in (RESOURCE, DEVICES)
            if one.startswith(start)
        }
        if len(found) == 2:
            return found[RESOURCE], int(found[DEVICES])
    return None


class DevicePlugins(Reconciler):
    kinds = ("Node", "Pod")

    def __init__(self) -> None:
        self._known: dict[str, set[str]] = {}

    def reconcile(self, cluster: Cluster, now: float) -> None:
        running: dict[str, dict[str, int]] = {}
        for pod in cluster.objects("Pod"):
            name, plugin = node_of(pod), offered(pod)
            if name and plugin and is_ready(pod):
                running.setdefault(name, {}).update([plugin])
        for node in cluster.objects("Node"):
            name = node["metadata"]["name"]
            wanted = running.get(name, {})
            self._known.setdefault(name, set()).update(wanted)
            if self._known[name]:
                self._advertise(
                    cluster, node, {resource: wanted.get(resource) for resource in self._known[name]}
                )

    def _advertise(self, cluster: Cluster, node: Object, wanted: t.Mapping[str, int | None]) -> None:
        """Write the resources of a node: a kubelet that once knew a plugin keeps its resource at zero."""
        status = node.get("status") or {}
        capacity, allocatable = {}, {}
        for resource, number in wanted.items():
            lost = on_node(cluster, "devices_lost", node) if number else None
            there = str(max((number or 0) - (int(lost.get("count", 1)) if lost else 0), 0))
            if (status.get("allocatable") or {}).get(resource) != there:
                allocatable[resource] = there
                capacity[resource] = str(number or 0)
        if allocatable:
            cluster.patch(
                "Node",
                node["metadata"]["name"],
                None,
                {"status": {"capacity": capacity, "allocatable": allocatable}},
                "status",
            )
