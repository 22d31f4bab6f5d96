# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Stand in for the network operator's driver upgrade, which moves from node to node by a label.

Where the policy's upgradePolicy has a drain, it evicts the pods of the node and gives up after
timeoutSeconds. The real one also waits for jobs (waitForCompletion), and it uncordons a node whose upgrade
failed once the new driver runs. This one reads neither waitForCompletion nor the selector of pods to drain.
"""

from __future__ import annotations

import typing as t

from openshift_sandbox.stand_ins.core.drain import evict, evictable
from openshift_sandbox.stand_ins.core.reconciler import Cluster, Object, Reconciler
from openshift_sandbox.stand_ins.gpu_operator.operand_pods import node_of
from openshift_sandbox.stand_ins.gpu_operator.readiness import is_ready, latest_revision
from openshift_sandbox.stand_ins.gpu_operator.rules.upgrade_states import (
    CORDON,
    DONE,
    FAILED,
    JOBS,
    NOT_BEGUN,
    REQUIRED,
    RESTART,
    UNCORDON,
    after,
)
from openshift_sandbox.stand_ins.network_operator.node import is_nic_driver
from openshift_sandbox.stand_ins.network_operator.operator import NAME

STATE: t.Final = "nvidia.com/ofed-driver-upgrade-state"
# The GPU operator deletes pods with GPUs; this operator drains the whole node.
DRAIN: t.Final = "drain-required"
KEPT: t.Final = "nvidia.com/ofed-driver-upgrade-drain.skip"


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
            _state(node) not in NOT_BEGUN for _pod, node in found
        )
        for pod, node in found:
            state, stale = _state(node), self._stale(cluster, pod)
            if state == REQUIRED:
                following, free = (CORDON, free - 1) if free > 0 else (REQUIRED, free)
            elif state == DRAIN:
                following = self._drain(cluster, node, rules.get("drain"))
            else:
                following = DRAIN if state == JOBS else after(state, stale, is_ready(pod))
            if state == RESTART and stale:
                cluster.delete("Pod", pod["metadata"]["name"], pod["metadata"]["namespace"])
            elif following != state and (
                state in ("", DONE) or cluster.due(node["metadata"]["uid"], f"nic_upgrade {state}", 0.3)
            ):
                self._mark(cluster, node, state, following)

    def _mark(self, cluster: Cluster, node: Object, state: str, following: str) -> None:
        name, uid = node["metadata"]["name"], node["metadata"]["uid"]
        if state in (CORDON, UNCORDON):
            cluster.patch("Node", name, None, {"spec": {"unschedulable": True if state == CORDON else None}})
        cluster.restart(uid, f"nic_upgrade {following}")
        cluster.restart(uid, "nic_drain")
        cluster.patch("Node", name, None, {"metadata": {"labels": {STATE: following}}})

    def _drain(self, cluster: Cluster, node: Object, drain: Object | None) -> str:
        """Evict the pods of the node as `kubectl drain` does; return the next label."""
        name, uid = node["metadata"]["name"], node["metadata"]["uid"]
        if drain is None or not drain.get("enable", True):
            return RESTART
        left = [pod for pod in cluster.objects("Pod") if node_of(pod) == name and _is_drained(pod)]
        if any(_is_refused(pod, drain) for pod in left):
            return FAILED
        seconds = float(drain.get("timeoutSeconds", 300))
        is_late = bool(seconds) and cluster.due(uid, "nic_drain", seconds)
        if not left or is_late:
            return FAILED if left else RESTART
        if cluster.due(uid, "nic_eviction_retry", 0.3):
            cluster.restart(uid, "nic_eviction_retry")
            for pod in left:
                evict(cluster, pod)
        return DRAIN

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


def _is_drained(pod: Object) -> bool:
    return evictable(pod) and (pod["metadata"].get("labels") or {}).get(KEPT) != "true"


def _is_refused(pod: Object, drain: Object) -> bool:
    """Return whether the drain gives up at once: it lost data, or nobody would make the pod again."""
    has_data = any("emptyDir" in one for one in pod["spec"].get("volumes") or [])
    is_alone = not pod["metadata"].get("ownerReferences")
    return bool((has_data and not drain.get("deleteEmptyDir")) or (is_alone and not drain.get("force")))
