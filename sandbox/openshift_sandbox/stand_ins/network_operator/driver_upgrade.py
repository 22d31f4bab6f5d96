# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Stand in for the network operator's driver upgrade, which moves from node to node by a label.

The real one drains each node and knows more rules.
"""

from __future__ import annotations

import typing as t

from openshift_sandbox.stand_ins.core.loop import Cluster, Object, Reconciler
from openshift_sandbox.stand_ins.gpu_operator.operand_pods import node_of
from openshift_sandbox.stand_ins.gpu_operator.readiness import is_ready, latest_revision
from openshift_sandbox.stand_ins.gpu_operator.rules.upgrade_states import (
    CORDON,
    DONE,
    PODS,
    REQUIRED,
    RESTART,
    UNCORDON,
    UNDER_WAY,
    after,
)
from openshift_sandbox.stand_ins.network_operator.node import is_nic_driver
from openshift_sandbox.stand_ins.network_operator.operator import NAME

STATE: t.Final = "nvidia.com/ofed-driver-upgrade-state"


class NicDriverUpgrade(Reconciler):
    kinds = ("ControllerRevision", "DaemonSet", "NicClusterPolicy", "Node", "Pod")

    def reconcile(self, cluster: Cluster, now: float) -> None:
        policy = cluster.find("NicClusterPolicy", NAME)
        rules = (((policy or {}).get("spec") or {}).get("ofedDriver") or {}).get("upgradePolicy") or {}
        if not rules.get("autoUpgrade"):
            return
        found = [
            (pod, node)
            for pod in cluster.objects("Pod")
            if is_nic_driver(pod) and (node := cluster.find("Node", node_of(pod) or ""))
        ]
        free = int(rules.get("maxParallelUpgrades", 1)) - sum(
            _state(node) in UNDER_WAY for _pod, node in found
        )
        for pod, node in found:
            state, stale = _state(node), self._stale(cluster, pod)
            if state == REQUIRED:
                following, free = (CORDON, free - 1) if free > 0 else (REQUIRED, free)
            else:
                following = RESTART if state == PODS else after(state, stale, is_ready(pod))
            if state == RESTART and stale:
                cluster.delete("Pod", pod["metadata"]["name"], pod["metadata"]["namespace"])
            elif following != state and (
                state in ("", DONE) or cluster.due(node["metadata"]["uid"], f"nic_upgrade {state}", 0.3)
            ):
                if state in (CORDON, UNCORDON):
                    cluster.patch(
                        "Node",
                        node["metadata"]["name"],
                        None,
                        {"spec": {"unschedulable": True if state == CORDON else None}},
                    )
                cluster.restart(node["metadata"]["uid"], f"nic_upgrade {following}")
                cluster.patch(
                    "Node", node["metadata"]["name"], None, {"metadata": {"labels": {STATE: following}}}
                )

    def _stale(self, cluster: Cluster, pod: Object) -> bool:
        owner = next(iter(pod["metadata"].get("ownerReferences") or []), {"name": ""})
        daemon_set = cluster.find("DaemonSet", owner["name"], pod["metadata"]["namespace"])
        newest = (
            latest_revision(cluster.objects("ControllerRevision", pod["metadata"]["namespace"]), daemon_set)
            if daemon_set
            else None
        )
        return (
            newest is not None
            and (pod["metadata"].get("labels") or {}).get("controller-revision-hash") != newest
        )


def _state(node: Object) -> str:
    return str((node["metadata"].get("labels") or {}).get(STATE, ""))
