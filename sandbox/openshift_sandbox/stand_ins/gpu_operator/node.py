# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Stand in for the kubelet's device manager: a node advertises nvidia.com/gpu while its plugin pod is Ready.

The real one asks the plugin about each device.
"""

from __future__ import annotations

import typing as t

from openshift_sandbox.hardware import instance_types
from openshift_sandbox.stand_ins.core.boots import has_restarted
from openshift_sandbox.stand_ins.core.loop import Cluster, Object, Reconciler
from openshift_sandbox.stand_ins.core.troubles import on_node
from openshift_sandbox.stand_ins.gpu_operator import mig
from openshift_sandbox.stand_ins.gpu_operator.operand_pods import app_of, ready_on

PLUGIN: t.Final = "nvidia-device-plugin-daemonset"
RESOURCE: t.Final = "nvidia.com/gpu"


def resources(present: int, lost: int, plugin_ready: bool, before: Object) -> tuple[str | None, str | None]:
    """Return the new capacity and allocatable.

    A kubelet that once knew a plugin keeps its resource at zero.
    """
    if plugin_ready:
        return str(present), str(max(present - lost, 0))
    if RESOURCE not in (before.get("allocatable") or {}):
        return None, None
    return (before.get("capacity") or {}).get(RESOURCE), "0"


def lost_gpus(cluster: Cluster, node: Object) -> Object | None:
    """Return the trouble gpu_lost of the node, or None; a node may have lost a GPU only until it reboots."""
    found = on_node(cluster, "gpu_lost", node)
    return None if found and found.get("until") == "reboot" and has_restarted(node) else found


class GpuNode(Reconciler):
    kinds = ("ClusterPolicy", "Node", "Pod")

    def reconcile(self, cluster: Cluster, now: float) -> None:
        plugins = ready_on(cluster.objects("Pod"), lambda pod: app_of(pod) == PLUGIN)
        for node in cluster.objects("Node"):
            made_of = instance_types.of_node(node)
            if made_of is None or not made_of.has_nvidia_gpus:
                continue
            uid, registered = node["metadata"]["uid"], node["metadata"]["name"] in plugins
            if not registered:
                cluster.restart(uid, "device_plugin")
            elif not cluster.due(uid, "device_plugin", 0.3):
                continue
            self._advertise(cluster, node, made_of.gpus, registered)

    def _advertise(self, cluster: Cluster, node: Object, gpus: int, registered: bool) -> None:
        short, lost = on_node(cluster, "device_plugin_short", node), lost_gpus(cluster, node)
        policy = next(iter(cluster.objects("ClusterPolicy")), {})
        cut = mig.offered(
            mig.layout_of(node),
            gpus,
            ((policy.get("spec") or {}).get("mig") or {}).get("strategy", "single"),
        )
        present = int(short["count"]) if short else cut.pop(RESOURCE)
        before = node.get("status") or {}
        found = {RESOURCE: resources(present, int(lost.get("count", 1)) if lost else 0, registered, before)}
        slices = {name: number for name, number in cut.items() if name != RESOURCE} if registered else {}
        gone = [
            name
            for name in before.get("allocatable") or {}
            if name.startswith("nvidia.com/mig-") and name not in slices
        ]
        found |= {name: (str(number), str(number)) for name, number in slices.items()} | dict.fromkeys(
            gone, ("0", "0")
        )
        known = {
            name: ((before.get("capacity") or {}).get(name), (before.get("allocatable") or {}).get(name))
            for name in found
        }
        if known != found:
            body = {
                "capacity": {name: one for name, (one, _two) in found.items()},
                "allocatable": {name: two for name, (_one, two) in found.items()},
            }
            cluster.patch("Node", node["metadata"]["name"], None, {"status": body}, "status")
