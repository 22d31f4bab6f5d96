# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Stand in for the machine-config operator where it gives nodes their configuration and operating system.

It cordons, drains, "reboots" and uncordons one node after the other: zone by zone, the oldest first. The real
one restarts the node, which is NotReady for minutes, and some changes need no reboot. Here the node info
changes at once, the node's pods are created again, and every change of the content needs a reboot.
"""

from __future__ import annotations

import math
import typing as t

from openshift_sandbox.seed.booted import resources
from openshift_sandbox.seed.pools import KEYS
from openshift_sandbox.stand_ins.core import drain
from openshift_sandbox.stand_ins.core.boots import next_boot
from openshift_sandbox.stand_ins.core.conditions import holds
from openshift_sandbox.stand_ins.core.reconciler import Cluster, Object, Reconciler
from openshift_sandbox.stand_ins.core.troubles import on_node, place
from openshift_sandbox.stand_ins.machine_config.keys import FAILING, says
from openshift_sandbox.stand_ins.machine_config.pools import is_available, members
from openshift_sandbox.stand_ins.machine_config.render import UPDATE, UPDATE_FIELDS

WORKER: t.Final = "node-role.kubernetes.io/worker"
ZONE: t.Final = "topology.kubernetes.io/zone"
HOUR: t.Final = 3600.0
DEGRADED: t.Final = "unexpected on-disk state validating against {}: content mismatch for file"
NOT_DRAINED: t.Final = (
    "failed to drain node: {} after 1 hour. Please see machine-config-controller logs for more information"
)
STEPS: t.Final = ("eviction_retry", "os_update_drain_timeout", "os_update_reboot")


class MachineConfigDaemon(Reconciler):
    kinds = ("MachineConfig", "MachineConfigPool", "Node", "Pod")

    def reconcile(self, cluster: Cluster, now: float) -> None:
        pools, nodes = cluster.objects("MachineConfigPool"), cluster.objects("Node")
        for pool in pools:
            wanted = (pool["spec"].get("configuration") or {}).get("name")
            if wanted and not pool["spec"].get("paused"):
                for node in chosen(cluster, pool, members(pool["metadata"]["name"], nodes, pools)):
                    self._begin(cluster, node, wanted)
        for node in cluster.objects("Node"):
            if says(node, "state") not in (None, "Done"):
                self._go_on(cluster, node)

    def _begin(self, cluster: Cluster, node: Object, wanted: str) -> None:
        for step in STEPS:
            cluster.restart(node["metadata"]["uid"], step)
        note(cluster, node, desiredConfig=wanted, state="Working", reason=None)

    def _go_on(self, cluster: Cluster, node: Object) -> None:
        name, desired = node["metadata"]["name"], says(node, "desiredConfig")
        trouble = on_node(cluster, "node_degraded", node)
        if is_updated(cluster, node):
            if node["spec"].get("unschedulable"):
                cluster.patch("Node", name, None, {"spec": {"unschedulable": None}})
            note(cluster, node, state="Done", reason=None)
        elif trouble:
            reason = str(trouble.get("reason") or DEGRADED.format(desired))
            note(cluster, node, state=str(trouble.get("state", "Degraded")), reason=reason)
        elif not needs_reboot(cluster, node):
            note(cluster, node, currentConfig=desired)
        else:
            self._reboot(cluster, node)

    def _reboot(self, cluster: Cluster, node: Object) -> None:
        """Cordon and drain the node, then start it again with what it lacks."""
        name, uid = node["metadata"]["name"], node["metadata"]["uid"]
        if not node["spec"].get("unschedulable"):
            cluster.patch("Node", name, None, {"spec": {"unschedulable": True}})
        if not self._drained(cluster, node):
            return
        if says(node, "state") != "Rebooting":
            note(cluster, node, state="Rebooting", reason=None)
        if cluster.due(uid, "os_update_reboot", 1.0):
            cluster.patch("Node", name, None, {"status": booted(cluster, node)}, "status")
            drain.bury(cluster, name)
            note(cluster, node, currentConfig=says(node, "desiredConfig"))

    def _drained(self, cluster: Cluster, node: Object) -> bool:
        uid, name = node["metadata"]["uid"], node["metadata"]["name"]
        if says(node, "state") == "Rebooting":
            return True
        left = [
            pod
            for pod in cluster.objects("Pod")
            if pod["spec"].get("nodeName") == name and drain.evictable(pod)
        ]
        going = [pod for pod in left if not pod["metadata"].get("deletionTimestamp")]
        if going and cluster.due(uid, "eviction_retry", 0.5):
            cluster.restart(uid, "eviction_retry")
            for pod in going:
                drain.evict(cluster, pod)
        if left and cluster.due(uid, "os_update_drain_timeout", HOUR):
            note(cluster, node, state="Degraded", reason=NOT_DRAINED.format(name))
        return not left


def chosen(cluster: Cluster, pool: Object, nodes: t.Sequence[Object]) -> list[Object]:
    """Return the nodes of a pool to begin with now: as many as maxUnavailable allows, by zone and age.

    Nodes that are not Ready, cordoned or being updated count as unavailable; so do those that failed with the
    wanted configuration.
    """
    wanted = pool["spec"]["configuration"]["name"]
    unavailable = [node for node in nodes if not is_available(node)]
    waiting, failed = [], 0
    for node in nodes:
        if says(node, "state") is None:
            continue
        if says(node, "desiredConfig") == wanted and (
            says(node, "state") != "Done" or is_updated(cluster, node)
        ):
            failed += says(node, "state") in FAILING
        elif holds(node, "Ready") and not node["spec"].get("unschedulable"):
            waiting.append(node)
    capacity = max_unavailable(pool, len(nodes)) - len(unavailable) - failed
    return sorted(waiting, key=_turn)[: max(0, capacity)]


def max_unavailable(pool: Object, count: int) -> int:
    """Return how many nodes of a pool may be unavailable at a time: at least one."""
    value = pool["spec"].get("maxUnavailable", 1)
    if isinstance(value, str) and value.endswith("%"):
        return max(1, math.floor(count * int(value.removesuffix("%")) / 100))
    return max(1, int(value))


def needs_reboot(cluster: Cluster, node: Object) -> bool:
    """Return whether a node has to start again: the wanted configuration has another content."""
    current, desired = (str(says(node, key) or "") for key in ("currentConfig", "desiredConfig"))
    return current.rpartition("-")[2] != desired.rpartition("-")[2] or bool(pending_update(cluster, node))


def is_updated(cluster: Cluster, node: Object) -> bool:
    """Return whether a node has its configuration and its operating system."""
    return says(node, "currentConfig") == says(node, "desiredConfig") and not pending_update(cluster, node)


def pending_update(cluster: Cluster, node: Object) -> Object | None:
    """Return the update of the operating system that a node lacks, or None."""
    info = node["status"].get("nodeInfo") or {}
    for update in cluster.troubles(UPDATE):
        new = (update["new_kernel"], update["new_ostree_version"])
        if meant(node, update) and not (info["kernelVersion"] == new[0] and new[1] in info["osImage"]):
            return update
    return None


def meant(node: Object, update: Object) -> bool:
    """Return whether an update is for a node."""
    where = place(node)
    return WORKER in (node["metadata"].get("labels") or {}) and all(
        update.get(field) in (None, where[field]) for field in UPDATE_FIELDS
    )


def booted(cluster: Cluster, node: Object) -> Object:
    """Return what changes in the status of a node that starts again."""
    update = pending_update(cluster, node)
    changed = {"bootID": next_boot(node)}
    if update:
        changed |= {
            "kernelVersion": update["new_kernel"],
            "osImage": f"Red Hat Enterprise Linux CoreOS {update['new_ostree_version']} (Plow)",
        }
    config = cluster.find("MachineConfig", str(says(node, "desiredConfig")))
    found = resources(node["status"], config["spec"]) if config and "capacity" in node["status"] else {}
    gone = {
        field: {key: None for key in node["status"][field] if key not in kept} | kept
        for field, kept in found.items()
    }
    return {"nodeInfo": changed} | gone


def note(cluster: Cluster, node: Object, **notes: str | None) -> None:
    """Write annotations of the machine-config operator that differ."""
    live = cluster.find("Node", node["metadata"]["name"]) or node
    annotations = {f"{KEYS}{key}": value for key, value in notes.items() if says(live, key) != value}
    if annotations:
        cluster.patch("Node", node["metadata"]["name"], None, {"metadata": {"annotations": annotations}})


def _turn(node: Object) -> tuple[str, str, str]:
    metadata = node["metadata"]
    zone = (metadata.get("labels") or {}).get(ZONE, "")
    return zone, metadata.get("creationTimestamp", ""), metadata["name"]
