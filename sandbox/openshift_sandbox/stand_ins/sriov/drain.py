# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Stand in for the drain controller of the SR-IOV operator: one node at a time, or as its pool configuration
allows.

It pauses the MachineConfigPool of a node while it drains. The real one gives up an attempt after 90 s, and
tries again.
"""

from __future__ import annotations

import math
import typing as t

from openshift_sandbox.stand_ins.core import events
from openshift_sandbox.stand_ins.core.drain import evict, evictable
from openshift_sandbox.stand_ins.core.reconciler import Cluster, Object, Reconciler
from openshift_sandbox.stand_ins.core.selectors import matches
from openshift_sandbox.stand_ins.machine_config.pools import members, pool_of
from openshift_sandbox.stand_ins.sriov.names import (
    COMPLETE,
    CURRENT,
    DRAIN,
    DRAINING,
    IDLE,
    NAMESPACE,
    PREFIX,
    REBOOT,
    STATE,
    annotation,
    config_of,
)
from openshift_sandbox.stand_ins.sriov.policies import labels_of

COMPONENT: t.Final = "sriov-network-operator"
PAUSED: t.Final = "Paused"


class SriovDrain(Reconciler):
    kinds = (
        "Deployment",
        "MachineConfigPool",
        "Node",
        "Pod",
        "SriovNetworkNodeState",
        "SriovNetworkPoolConfig",
        "SriovOperatorConfig",
    )

    def reconcile(self, cluster: Cluster, now: float) -> None:
        if config_of(cluster) is None:
            return
        for state in cluster.objects("SriovNetworkNodeState", NAMESPACE):
            node = cluster.find("Node", state["metadata"]["name"])
            if node is None or not annotation(node, STATE) or not annotation(state, CURRENT):
                continue
            asked, current = annotation(node, STATE), annotation(state, CURRENT)
            if asked == IDLE and current in (COMPLETE, DRAINING):
                self._complete(cluster, state, node)
            elif asked in (DRAIN, REBOOT) and current == IDLE and self._may_begin(cluster, node):
                self._mark(cluster, state, DRAINING)
            elif asked in (DRAIN, REBOOT) and current == DRAINING:
                self._drain(cluster, state, node, asked == REBOOT)

    def _may_begin(self, cluster: Cluster, node: Object) -> bool:
        """Return whether the pool of the node allows one more. Without a pool configuration one may."""
        pools = cluster.objects("SriovNetworkPoolConfig", NAMESPACE)
        mine = [one for one in pools if _selects(one, node)]
        if len(mine) > 1:
            return False
        nodes = [
            one
            for one in cluster.objects("Node")
            if (_selects(mine[0], one) if mine else not any(_selects(pool, one) for pool in pools))
        ]
        names = {one["metadata"]["name"] for one in nodes}
        going = [
            state
            for state in cluster.objects("SriovNetworkNodeState", NAMESPACE)
            if state["metadata"]["name"] in names and annotation(state, CURRENT) in (DRAINING, COMPLETE)
        ]
        return len(going) < (most(mine[0]["spec"].get("maxUnavailable"), len(nodes)) if mine else 1)

    def _drain(self, cluster: Cluster, state: Object, node: Object, is_full: bool) -> None:
        name, uid = node["metadata"]["name"], state["metadata"]["uid"]
        if not self._pause(cluster, node):
            return
        if not node["spec"].get("unschedulable"):
            cluster.patch("Node", name, None, {"spec": {"unschedulable": True}})
        left = [
            pod
            for pod in cluster.objects("Pod")
            if pod["spec"].get("nodeName") == name and evictable(pod) and (is_full or uses_sriov(pod))
        ]
        if not left:
            cluster.restart(uid, "drain_timeout")
            events.record(cluster, state, COMPONENT, "DrainController", "node drain completed", "Warning")
            self._mark(cluster, state, COMPLETE)
            return
        if cluster.due(uid, "drain_timeout", 2.0):
            events.record(cluster, state, COMPONENT, "DrainController", "failed to drain node", "Warning")
        if cluster.due(uid, "eviction_retry", 0.5):
            cluster.restart(uid, "eviction_retry")
            for pod in left:
                evict(cluster, pod)
            cluster.due(uid, "eviction_retry", 0.5)

    def _complete(self, cluster: Cluster, state: Object, node: Object) -> None:
        if node["spec"].get("unschedulable"):
            cluster.patch("Node", node["metadata"]["name"], None, {"spec": {"unschedulable": None}})
        pool = pool_of(node, cluster.objects("MachineConfigPool"))
        if pool is not None and annotation(pool, STATE) == PAUSED:
            others = members(
                pool["metadata"]["name"], cluster.objects("Node"), cluster.objects("MachineConfigPool")
            )
            busy = [
                one
                for one in others
                if one["metadata"]["name"] != node["metadata"]["name"]
                and annotation(one, STATE) not in ("", IDLE)
            ]
            if not busy:
                body = {"metadata": {"annotations": {STATE: IDLE}}, "spec": {"paused": False}}
                cluster.patch("MachineConfigPool", pool["metadata"]["name"], None, body)
        events.record(cluster, state, COMPONENT, "DrainController", "node un drain completed", "Warning")
        self._mark(cluster, state, IDLE)

    def _pause(self, cluster: Cluster, node: Object) -> bool:
        """Pause the pool of the node, unless it is updating; return whether it is paused by us."""
        pool = pool_of(node, cluster.objects("MachineConfigPool"))
        if pool is None:
            return True
        if annotation(pool, STATE) == PAUSED and pool["spec"].get("paused"):
            return True
        status = (pool.get("status") or {}).get("configuration") or {}
        if (pool["spec"].get("configuration") or {}).get("name") != status.get("name"):
            return False
        body = {"metadata": {"annotations": {STATE: PAUSED}}, "spec": {"paused": True}}
        cluster.patch("MachineConfigPool", pool["metadata"]["name"], None, body)
        return True

    def _mark(self, cluster: Cluster, state: Object, value: str) -> None:
        body = {"metadata": {"annotations": {CURRENT: value}}}
        cluster.patch("SriovNetworkNodeState", state["metadata"]["name"], NAMESPACE, body)


def most(wanted: int | str | None, nodes: int) -> int:
    """Return how many nodes of a pool may be drained at once; without a wish all of them."""
    if wanted is None:
        return nodes
    if isinstance(wanted, str) and wanted.endswith("%"):
        return math.floor(int(wanted[:-1]) * nodes / 100)
    return int(wanted)


def uses_sriov(pod: Object) -> bool:
    """Return whether a container of the pod requests a device of the operator."""
    return any(
        name.startswith(PREFIX)
        for one in pod["spec"]["containers"]
        for name in (one.get("resources") or {}).get("requests") or {}
    )


def _selects(pool: Object, node: Object) -> bool:
    return matches(pool["spec"].get("nodeSelector") or {}, labels_of(node))
