# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Stand in for the machine-config operator in an update of the operating system.

It cordons, drains, "reboots" and uncordons one node after the other. The real one writes a new image and
restarts the node, which is NotReady for minutes; here the node info changes at once, and the node's pods are
created again.
"""

from __future__ import annotations

import hashlib
import typing as t

from openshift_sandbox.stand_ins.core import drain
from openshift_sandbox.stand_ins.core.loop import Cluster, Object, Reconciler
from openshift_sandbox.stand_ins.core.troubles import place
from openshift_sandbox.stand_ins.machine_config.pools import KEYS, pool_of

TROUBLE: t.Final = "os_update"
FIELDS: t.Final = ("node", "pool", "zone")
WORKER: t.Final = "node-role.kubernetes.io/worker"
HOUR: t.Final = 3600.0


class MachineConfigDaemon(Reconciler):
    kinds = ("MachineConfigPool", "Node", "Pod")

    def reconcile(self, cluster: Cluster, now: float) -> None:
        for update in cluster.troubles(TROUBLE):
            nodes = [node for node in cluster.objects("Node") if meant(node, update)]
            for name in {
                str(pool["metadata"]["name"])
                for node in nodes
                if (pool := pool_of(node, cluster.objects("MachineConfigPool")))
            }:
                self._roll(cluster, update, name, nodes)

    def _roll(self, cluster: Cluster, update: Object, name: str, nodes: list[Object]) -> None:
        """Update one node of a pool at a time, the default of maxUnavailable.

        A paused pool starts with none.
        """
        pools = cluster.objects("MachineConfigPool")
        pool = cluster.find("MachineConfigPool", name)
        ours = [node for node in nodes if pool and pool_of(node, pools) == pool]
        if pool is None or pool["spec"].get("paused"):
            return
        busy = next((node for node in ours if says(node, "state") != "Done"), None)
        waiting = next((node for node in ours if not is_updated(node, update)), None)
        if busy:
            self._go_on(cluster, update, busy)
        elif waiting:
            self._begin(cluster, update, pool, waiting)

    def _begin(self, cluster: Cluster, update: Object, pool: Object, node: Object) -> None:
        name, wanted = pool["metadata"]["name"], configuration(pool, update)
        if pool["spec"]["configuration"]["name"] != wanted and not any(update.get(field) for field in FIELDS):
            cluster.patch("MachineConfigPool", name, None, {"spec": {"configuration": {"name": wanted}}})
        for step in ("eviction_retry", "os_update_drain_timeout", "os_update_reboot"):
            cluster.restart(node["metadata"]["uid"], step)
        note(cluster, node, desiredConfig=wanted, state="Working")

    def _go_on(self, cluster: Cluster, update: Object, node: Object) -> None:
        name, uid = node["metadata"]["name"], node["metadata"]["uid"]
        if is_updated(node, update):
            cluster.patch("Node", name, None, {"spec": {"unschedulable": None}})
            note(cluster, node, currentConfig=says(node, "desiredConfig"), state="Done", reason=None)
            return
        if not node["spec"].get("unschedulable"):
            cluster.patch("Node", name, None, {"spec": {"unschedulable": True}})
        if self._drained(cluster, node) and cluster.due(uid, "os_update_reboot", 1.0):
            cluster.patch("Node", name, None, {"status": {"nodeInfo": rebooted(node, update)}}, "status")
            drain.bury(cluster, name)

    def _drained(self, cluster: Cluster, node: Object) -> bool:
        uid, name = node["metadata"]["uid"], node["metadata"]["name"]
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
        if left and cluster.due(uid, "os_update_drain_timeout", HOUR) and says(node, "state") == "Working":
            note(cluster, node, state="Degraded", reason=f"failed to drain node: {name} after 1 hour")
        return not left


def meant(node: Object, update: Object) -> bool:
    """Return whether an update is for a node."""
    where = place(node)
    return WORKER in (node["metadata"].get("labels") or {}) and all(
        update.get(field) in (None, where[field]) for field in FIELDS
    )


def configuration(pool: Object, update: Object) -> str:
    """Return the name of the configuration with the new operating system."""
    digest = hashlib.sha256(f"{update['new_ostree_version']}/{update['new_kernel']}".encode()).hexdigest()[
        :32
    ]
    return f"rendered-{pool['metadata']['name']}-{digest}"


def is_updated(node: Object, update: Object) -> bool:
    """Return whether a node runs the new operating system."""
    info = node["status"]["nodeInfo"]
    return bool(
        info["kernelVersion"] == update["new_kernel"] and update["new_ostree_version"] in info["osImage"]
    )


def rebooted(node: Object, update: Object) -> Object:
    """Return the node info that changes with the update."""
    boot = hashlib.sha256(
        f"{node['status']['nodeInfo']['bootID']}/{update['new_kernel']}".encode()
    ).hexdigest()
    return {
        "kernelVersion": update["new_kernel"],
        "osImage": f"Red Hat Enterprise Linux CoreOS {update['new_ostree_version']} (Plow)",
        "bootID": "-".join((boot[:8], boot[8:12], boot[12:16], boot[16:20], boot[20:32])),
    }


def says(node: Object, key: str) -> str | None:
    """Return an annotation of the machine-config operator, or None."""
    return (node["metadata"].get("annotations") or {}).get(f"{KEYS}{key}")


def note(cluster: Cluster, node: Object, **notes: str | None) -> None:
    """Write annotations of the machine-config operator."""
    annotations = {f"{KEYS}{key}": value for key, value in notes.items()}
    cluster.patch("Node", node["metadata"]["name"], None, {"metadata": {"annotations": annotations}})
