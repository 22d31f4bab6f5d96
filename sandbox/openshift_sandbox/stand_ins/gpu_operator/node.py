# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Stand in for the kubelet's device manager: a node advertises GPUs while its plugin pod serves them.

The real one asks the plugin about each device, and forgets the capacity of a resource that is gone after five
minutes; here at once.
"""

from __future__ import annotations

import typing as t

from openshift_sandbox.hardware import instance_types
from openshift_sandbox.stand_ins.core.boots import has_restarted
from openshift_sandbox.stand_ins.core.reconciler import Cluster, Object, Reconciler
from openshift_sandbox.stand_ins.core.troubles import on_node
from openshift_sandbox.stand_ins.gpu_operator.operand_pods import app_of, node_of, ready_on, runs
from openshift_sandbox.stand_ins.gpu_operator.sharing import config, geometry, process

PLUGIN: t.Final = "nvidia-device-plugin-daemonset"
MPS_DAEMON: t.Final = "nvidia-device-plugin-mps-control-daemon"
RESOURCE: t.Final = "nvidia.com/gpu"
Amounts = tuple[str | None, str | None]
"""Capacity and allocatable of a resource."""


def ours(resource: str) -> bool:
    """Return whether the device plugin of GPUs offers a resource of this name."""
    return resource in (RESOURCE, RESOURCE + config.RENAMED) or resource.startswith(geometry.PART)


def amounts(offered: t.Mapping[str, int], lost: t.Mapping[str, int], before: Object) -> dict[str, Amounts]:
    """Return the resources of a node whose plugin serves; those that it served before go to zero."""
    found: dict[str, Amounts] = {name: ("0", "0") for name in before.get("allocatable") or {} if ours(name)}
    return found | {
        name: (str(count), str(max(count - lost.get(name, 0), 0))) for name, count in offered.items()
    }


def withdrawn(before: Object) -> dict[str, Amounts]:
    """Return the resources of a node whose plugin is gone: a kubelet that knew them keeps them at zero."""
    capacity = before.get("capacity") or {}
    return {name: (capacity.get(name), "0") for name in before.get("allocatable") or {} if ours(name)}


def plugins(pods: t.Sequence[Object]) -> dict[str, Object]:
    """Return the plugin pods that serve, by node; with MPS only those whose node has a Ready MPS daemon."""
    daemons = ready_on(pods, lambda pod: app_of(pod) == MPS_DAEMON)
    found = {}
    for pod in pods:
        name = node_of(pod)
        if not name or app_of(pod) != PLUGIN or not runs(pod):
            continue
        if name in daemons or process.config(pod).strategy != config.MPS:
            found[name] = pod
    return found


def lost_gpus(cluster: Cluster, node: Object) -> Object | None:
    """Return the trouble gpu_lost of the node, or None; a node may have lost a GPU only until it reboots."""
    found = on_node(cluster, "gpu_lost", node)
    return None if found and found.get("until") == "reboot" and has_restarted(node) else found


class GpuNode(Reconciler):
    kinds = ("Node", "Pod")

    def reconcile(self, cluster: Cluster, now: float) -> None:
        serving = plugins(cluster.objects("Pod"))
        for node in cluster.objects("Node"):
            made_of = instance_types.of_node(node)
            if made_of is None or not made_of.has_nvidia_gpus:
                continue
            uid, plugin = node["metadata"]["uid"], serving.get(node["metadata"]["name"])
            if plugin is None:
                cluster.restart(uid, "device_plugin")
                self._advertise(cluster, node, withdrawn(node.get("status") or {}))
            elif cluster.due(uid, "device_plugin", 0.3):
                self._advertise(cluster, node, self._offered(cluster, node, made_of.gpus, plugin))

    def _offered(self, cluster: Cluster, node: Object, gpus: int, plugin: Object) -> dict[str, Amounts]:
        lost = lost_gpus(cluster, node)
        shared = process.config(plugin)
        devices = geometry.devices(geometry.cuts(node, gpus), process.mig_strategy(plugin))
        gone = {RESOURCE: int(lost.get("count", 1))} if lost else {}
        return amounts(shared.offered(devices), shared.offered(gone), node.get("status") or {})

    def _advertise(self, cluster: Cluster, node: Object, found: t.Mapping[str, Amounts]) -> None:
        status = node.get("status") or {}
        capacity, allocatable = status.get("capacity") or {}, status.get("allocatable") or {}
        if any((capacity.get(name), allocatable.get(name)) != one for name, one in found.items()):
            body = {
                "capacity": {name: one for name, (one, _two) in found.items()},
                "allocatable": {name: two for name, (_one, two) in found.items()},
            }
            cluster.patch("Node", node["metadata"]["name"], None, {"status": body}, "status")
