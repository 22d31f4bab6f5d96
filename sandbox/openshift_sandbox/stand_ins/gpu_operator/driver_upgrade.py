# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Stand in for the GPU operator's driver upgrade, which moves from node to node by a label.

The real one polls, so each node takes two minutes longer. Compared with the source of v26.7.0 (2026-11): a
pod without a DaemonSet is replaced on its own only with NVIDIADriver objects. With the policy's driver it is
replaced when an annotation of the node asks for an upgrade; then only pods with the label of the Driver
Toolkit count, and none while virtual machines are enabled.
"""

from __future__ import annotations

import math
import typing as t

from openshift_sandbox.stand_ins.core.loop import Cluster, Object, Reconciler
from openshift_sandbox.stand_ins.gpu_operator.driver_owners import OWNER, SKIP, labels
from openshift_sandbox.stand_ins.gpu_operator.labels import PRESENT
from openshift_sandbox.stand_ins.gpu_operator.operand_pods import is_driver, node_of
from openshift_sandbox.stand_ins.gpu_operator.operator import NAME, active
from openshift_sandbox.stand_ins.gpu_operator.readiness import is_ready, latest_revision
from openshift_sandbox.stand_ins.gpu_operator.workloads import ENDED, devices_wanted

STATE: t.Final = "nvidia.com/gpu-driver-upgrade-state"
REQUESTED: t.Final = "nvidia.com/gpu-driver-upgrade-requested"
TOOLKIT: t.Final = {"openshift.driver-toolkit": "true"}
PLAIN: t.Final = "nvidia-driver-daemonset"
DONE, REQUIRED, FAILED = "upgrade-done", "upgrade-required", "upgrade-failed"
CORDON, JOBS, PODS, RESTART, UNCORDON = (
    "cordon-required",
    "wait-for-jobs-required",
    "pod-deletion-required",
    "pod-restart-required",
    "uncordon-required",
)
UNDER_WAY: t.Final = (CORDON, JOBS, PODS, RESTART, UNCORDON)


def slots(policy: Object, states: t.Sequence[str], unavailable: int) -> int:
    """Return how many more nodes may begin.

    maxParallelUpgrades limits it (0: no limit), and so does maxUnavailable, which counts every cordoned node.
    """
    total, running = len(states), sum(state in UNDER_WAY for state in states)
    parallel = int(policy.get("maxParallelUpgrades", 1))
    most = str(policy.get("maxUnavailable") or "25%")
    allowed = math.ceil(total * int(most[:-1]) / 100) if most.endswith("%") else int(most)
    return max(0, min((parallel or total) - running, allowed - unavailable))


def after(state: str, stale: bool, ready: bool, due: bool | None = None) -> str:
    """Return the next label of a node, or the same one while it has to wait.

    `due`: whether to begin, if a stale pod alone is not a reason.
    """
    if state in ("", DONE) and (stale if due is None else due):
        return REQUIRED
    if state == "" and ready:
        return DONE
    if state == RESTART:
        return UNCORDON if ready and not stale else RESTART
    return {CORDON: JOBS, JOBS: PODS, UNCORDON: DONE}.get(state, state)


def _is_seen(pod: Object) -> bool:
    """Return whether the upgrade of the policy's driver counts a pod.

    Its own, and others with the toolkit's label.
    """
    owners = pod["metadata"].get("ownerReferences") or []
    return any(owner["name"].startswith(PLAIN) for owner in owners) or TOOLKIT.items() <= labels(pod).items()


class DriverUpgrade(Reconciler):
    kinds = (
        "ClusterPolicy",
        "ControllerRevision",
        "DaemonSet",
        "Deployment",
        "GPUCluster",
        "NVIDIADriver",
        "Node",
        "Pod",
    )

    def reconcile(self, cluster: Cluster, now: float) -> None:
        policy = active(cluster.objects("ClusterPolicy"))
        deployment = next(
            (one for one in cluster.objects("Deployment") if one["metadata"]["name"] == NAME), None
        )
        if (
            deployment is None
            or not (policy or cluster.objects("GPUCluster"))
            or not cluster.available(NAME, deployment["metadata"]["namespace"])
        ):
            return
        # without a ClusterPolicy only NVIDIADriver objects bring drivers
        driver = (policy["spec"].get("driver") or {}) if policy else {"useNvidiaDriverCRD": True}
        if (
            not driver.get("useNvidiaDriverCRD")
            and policy
            and (policy["spec"].get("sandboxWorkloads") or {}).get("enabled")
        ):
            return
        namespace, delegated = deployment["metadata"]["namespace"], bool(driver.get("useNvidiaDriverCRD"))
        pods = [
            pod
            for pod in cluster.objects("Pod", namespace)
            if is_driver(pod) and (delegated or _is_seen(pod))
        ]
        found = [(pod, node) for pod in pods if (node := cluster.find("Node", node_of(pod) or ""))]
        for rules, nodes in self._ruled(cluster, driver):
            names = {node["metadata"]["name"] for node in nodes}
            if rules.get("autoUpgrade"):
                self._go_on(
                    cluster,
                    namespace,
                    delegated,
                    rules,
                    nodes,
                    [one for one in found if one[1]["metadata"]["name"] in names],
                )

    def _ruled(self, cluster: Cluster, driver: Object) -> list[tuple[Object, list[Object]]]:
        """Return nodes with their rules.

        Each NVIDIADriver has its own, and upgrades automatically by default.
        """
        nodes = [node for node in cluster.objects("Node") if labels(node).get(PRESENT) == "true"]
        if not driver.get("useNvidiaDriverCRD"):
            return [(driver.get("upgradePolicy") or {}, nodes)]
        owners = {
            one["metadata"]["name"]: {"autoUpgrade": True} | (one["spec"].get("upgradePolicy") or {})
            for one in cluster.objects("NVIDIADriver")
        }
        return [
            (rules, [node for node in nodes if labels(node).get(OWNER) == name])
            for name, rules in owners.items()
        ]

    def _go_on(
        self,
        cluster: Cluster,
        namespace: str,
        delegated: bool,
        rules: Object,
        nodes: list[Object],
        found: list[tuple[Object, Object]],
    ) -> None:
        revisions = self._revisions(cluster, namespace)
        # a node between two pods counts too
        free = slots(
            rules,
            [self._state(node) for node in nodes],
            sum(bool(node["spec"].get("unschedulable")) for node in nodes),
        )
        for pod, node in found:
            if (node["metadata"].get("labels") or {}).get(SKIP) == "true":
                continue
            owner = next(iter(pod["metadata"].get("ownerReferences") or []), {"uid": ""})
            newest = revisions.get(owner["uid"])
            # a pod has no owner when its DaemonSet was deleted without its pods
            orphan, behind = (
                not owner["uid"],
                newest is not None and labels(pod).get("controller-revision-hash") != newest,
            )
            requested = (node["metadata"].get("annotations") or {}).get(REQUESTED) == "true"
            state = self._state(node)
            if state == REQUIRED and requested:
                cluster.patch(
                    "Node", node["metadata"]["name"], None, {"metadata": {"annotations": {REQUESTED: None}}}
                )
            if state == REQUIRED and free > 0 and self._due(cluster, node, state):
                free -= 1
                self._mark(cluster, node, CORDON)
            elif state != REQUIRED:
                following = after(
                    state, orphan or behind, is_ready(pod), due=behind or requested or (orphan and delegated)
                )
                self._step(cluster, pod, node, state, following, rules, orphan or behind)

    def _step(
        self,
        cluster: Cluster,
        pod: Object,
        node: Object,
        state: str,
        following: str,
        rules: Object,
        stale: bool,
    ) -> None:
        name = node["metadata"]["name"]
        if state == PODS:
            following = self._evict(cluster, name, rules)
        if state == RESTART and stale and self._due(cluster, node, state):
            cluster.delete("Pod", pod["metadata"]["name"], pod["metadata"]["namespace"])
        elif following != state and (state in ("", DONE) or self._due(cluster, node, state)):
            if state in (CORDON, UNCORDON):
                cluster.patch(
                    "Node", name, None, {"spec": {"unschedulable": True if state == CORDON else None}}
                )
            self._mark(cluster, node, following)

    def _evict(self, cluster: Cluster, node: str, rules: Object) -> str:
        """Remove the pods that hold a GPU; return the next label.

        A pod without a controller goes only with `force`; otherwise the node stays cordoned.
        """
        force = (rules.get("podDeletion") or {}).get("force", False) or (rules.get("drain") or {}).get(
            "force", False
        )
        holders = [
            pod
            for pod in cluster.objects("Pod")
            if node_of(pod) == node and devices_wanted(pod) and pod["status"].get("phase") not in ENDED
        ]
        if any(not pod["metadata"].get("ownerReferences") and not force for pod in holders):
            return FAILED
        for pod in holders:
            cluster.delete("Pod", pod["metadata"]["name"], pod["metadata"]["namespace"])
        return PODS if holders else RESTART

    def _mark(self, cluster: Cluster, node: Object, state: str) -> None:
        cluster.restart(node["metadata"]["uid"], state)
        cluster.patch("Node", node["metadata"]["name"], None, {"metadata": {"labels": {STATE: state}}})

    def _due(self, cluster: Cluster, node: Object, state: str) -> bool:
        return cluster.due(node["metadata"]["uid"], state, cluster.delay("driver_upgrade_step", 0.3))

    def _state(self, node: Object) -> str:
        return str((node["metadata"].get("labels") or {}).get(STATE, ""))

    def _revisions(self, cluster: Cluster, namespace: str) -> dict[str, str | None]:
        known = cluster.objects("ControllerRevision", namespace)
        return {
            one["metadata"]["uid"]: latest_revision(known, one)
            for one in cluster.objects("DaemonSet", namespace)
            if is_driver(one)
        }
