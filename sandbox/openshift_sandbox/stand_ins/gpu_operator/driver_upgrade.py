# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Stand in for the GPU operator's driver upgrade, which moves from node to node by a label.

Any change of the driver DaemonSet's pod template begins it. The real one looks when a label of a node
changes, and every two minutes (driver_upgrade_poll). Compared with the source of v26.7.0 (2026-11): a pod
without a DaemonSet is replaced on its own only with NVIDIADriver objects. With the policy's driver it is
replaced when an annotation of the node asks for an upgrade; then only pods with the label of the Driver
Toolkit count.
While a driver DaemonSet has fewer pods than it wants, no node moves. A failed upgrade of a node goes on by
itself as soon as the pod of the newest revision is Ready, whatever its validation said. The real one gives up
a driver pod after more than ten restarts, and here after the delay driver_upgrade_restarts.
"""

from __future__ import annotations

import time
import typing as t

from openshift_sandbox.stand_ins.core.reconciler import Cluster, Object, Reconciler
from openshift_sandbox.stand_ins.core.troubles import on_node, place
from openshift_sandbox.stand_ins.gpu_operator.driver_owners import OWNER, SKIP, UPGRADE as STATE, labels
from openshift_sandbox.stand_ins.gpu_operator.labels import PRESENT
from openshift_sandbox.stand_ins.gpu_operator.operand_pods import VALIDATOR, app_of, node_of
from openshift_sandbox.stand_ins.gpu_operator.readiness import is_ready, restarts
from openshift_sandbox.stand_ins.gpu_operator.rules import digest
from openshift_sandbox.stand_ins.gpu_operator.rules.release import Release, running
from openshift_sandbox.stand_ins.gpu_operator.rules.turns import active
from openshift_sandbox.stand_ins.gpu_operator.rules.upgrade_states import (
    CORDON,
    DONE,
    DRAIN,
    FAILED,
    JOBS,
    PODS,
    REQUIRED,
    RESTART,
    UNCORDON,
    VALIDATION,
    after,
    slots,
)
from openshift_sandbox.stand_ins.gpu_operator.upgrade import places, pods
from openshift_sandbox.stand_ins.gpu_operator.upgrade.manager import ENABLED
from openshift_sandbox.stand_ins.gpu_operator.upgrade.places import Place

REQUESTED: t.Final = "nvidia.com/gpu-driver-upgrade-requested"
CORDONED_BEFORE: t.Final = "nvidia.com/gpu-driver-upgrade.node-initial-state.unschedulable"
VALIDATES_SINCE: t.Final = "nvidia.com/gpu-driver-upgrade-validation-start-time"
# What empties a node, by the label that it has meanwhile.
EMPTYING: t.Final = {JOBS: pods.after_jobs, PODS: pods.after_deletion, DRAIN: pods.after_drain}


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

    def __init__(self) -> None:
        self._requested: set[str] = set()
        self._found: pods.Found = {}

    def reconcile(self, cluster: Cluster, now: float) -> None:
        release, policy = running(cluster), active(cluster.objects("ClusterPolicy"))
        configured = bool(policy or cluster.objects("GPUCluster"))
        if release is None or not (configured or release.has_digests):
            return
        # without a ClusterPolicy only NVIDIADriver objects bring drivers
        delegated = policy is None or bool((policy["spec"].get("driver") or {}).get("useNvidiaDriverCRD"))
        ruled = self._ruled(cluster, policy, delegated)
        if configured:
            driver = (policy["spec"].get("driver") or {}) if policy else {}
            self._announce(cluster, ruled, driver.get("enabled") is not False)
        if not any(rules.get("autoUpgrade") for rules, _nodes in ruled):
            self._forget(cluster, cluster.objects("Node"))
            return
        found = places.find(cluster, release.namespace, delegated)
        for rules, nodes in ruled:
            names = {node["metadata"]["name"] for node in nodes}
            if not rules.get("autoUpgrade"):
                self._forget(cluster, nodes)
            elif found is not None:
                due = [one for one in found if one.name in names and not _is_held(cluster, one.node)]
                self._go_on(cluster, release, delegated, rules, nodes, due)

    def _ruled(
        self, cluster: Cluster, policy: Object | None, delegated: bool
    ) -> list[tuple[Object, list[Object]]]:
        """Return nodes with their rules.

        Each NVIDIADriver has its own, and upgrades automatically by default. The policy has none while it
        serves virtual machines.
        """
        nodes = [node for node in cluster.objects("Node") if labels(node).get(PRESENT) == "true"]
        if policy and not delegated:
            driver, machines = (
                policy["spec"].get("driver") or {},
                policy["spec"].get("sandboxWorkloads") or {},
            )
            return [({} if machines.get("enabled") else driver.get("upgradePolicy") or {}, nodes)]
        owners = {
            one["metadata"]["name"]: {"autoUpgrade": True} | (one["spec"].get("upgradePolicy") or {})
            for one in cluster.objects("NVIDIADriver")
        }
        return [
            (rules, [node for node in nodes if labels(node).get(OWNER) == name])
            for name, rules in owners.items()
        ]

    def _announce(self, cluster: Cluster, ruled: list[tuple[Object, list[Object]]], installs: bool) -> None:
        """Write for k8s-driver-manager whether the upgrade of a node is this controller's."""
        for rules, nodes in ruled:
            wanted = "true" if installs and rules.get("autoUpgrade") else None
            for node in nodes:
                if (node["metadata"].get("annotations") or {}).get(ENABLED) != wanted:
                    self._patch(cluster, node, {"metadata": {"annotations": {ENABLED: wanted}}})

    def _forget(self, cluster: Cluster, nodes: list[Object]) -> None:
        for node in nodes:
            if STATE in labels(node) and not _is_held(cluster, node):
                self._patch(cluster, node, {"metadata": {"labels": {STATE: None}}})

    def _go_on(
        self,
        cluster: Cluster,
        release: Release,
        delegated: bool,
        rules: Object,
        nodes: list[Object],
        found: list[Place],
    ) -> None:
        # a node between two pods counts too
        free = slots(rules, list(map(places.state, nodes)), sum(map(places.is_unavailable, nodes)))
        for one in found:
            if one.is_behind and on_node(cluster, "driver_pods_restart", one.node):
                cluster.delete("Pod", one.pod["metadata"]["name"], one.pod["metadata"]["namespace"])
                continue
            requested = one.annotated(REQUESTED)
            if one.state == REQUIRED and requested:
                self._requested.add(one.uid)
                self._patch(cluster, one.node, {"metadata": {"annotations": {REQUESTED: None}}})
            if one.state != REQUIRED:
                due = one.is_behind or requested or (one.is_orphan and delegated)
                self._step(cluster, one, rules, due)
            elif labels(one.node).get(SKIP) == "true" or on_node(cluster, "driver_upgrade_stalls", one.node):
                continue
            elif (free > 0 or one.is_cordoned) and self._due(cluster, one):
                free -= 1
                self._begin(cluster, one, release)

    def _begin(self, cluster: Cluster, one: Place, release: Release) -> None:
        """Begin with a node: by the full way, or by a restart where the driver itself stays the same."""
        requested = one.uid in self._requested
        self._requested.discard(one.uid)
        in_place = (
            release.has_digests
            and not requested
            and one.template is not None
            and digest.restart_only(one.pod["spec"], one.template)
        )
        if in_place:
            self._patch(cluster, one.node, {"spec": {"unschedulable": True}})
        self._mark(cluster, one, RESTART if in_place else CORDON)

    def _step(self, cluster: Cluster, one: Place, rules: Object, due: bool) -> None:
        state, ready = one.state, is_ready(one.pod)
        ended = DONE if one.annotated(CORDONED_BEFORE) else UNCORDON
        following = after(state, one.is_stale, ready, due=due, validates=True)
        if state in EMPTYING:
            following = EMPTYING[state](cluster, one, rules, self._found)
        elif state == VALIDATION:
            following = self._validated(cluster, one, ended)
        elif state == FAILED and ready and not one.is_stale:
            following = ended
        if state == RESTART:
            self._restart(cluster, one)
        elif following != state and (state in ("", DONE) or self._due(cluster, one)):
            self._cordon(cluster, one, following)
            self._mark(cluster, one, following)

    def _restart(self, cluster: Cluster, one: Place) -> None:
        """Replace a driver pod that is behind; then look from time to time whether the new one is Ready."""
        if one.is_stale:
            if self._due(cluster, one):
                cluster.restart(one.uid, "driver_upgrade_poll")
                cluster.delete("Pod", one.pod["metadata"]["name"], one.pod["metadata"]["namespace"])
        elif cluster.due(one.uid, "driver_upgrade_poll", 0.3):
            cluster.restart(one.uid, "driver_upgrade_poll")
            if is_ready(one.pod):
                self._mark(cluster, one, VALIDATION)
            elif restarts(one.pod) and cluster.due(
                one.pod["metadata"]["uid"], "driver_upgrade_restarts", 30.0
            ):
                self._mark(cluster, one, FAILED)

    def _cordon(self, cluster: Cluster, one: Place, following: str) -> None:
        """Cordon or uncordon a node as its step asks; one that was cordoned before stays cordoned."""
        if following == REQUIRED and one.is_cordoned:
            self._patch(cluster, one.node, {"metadata": {"annotations": {CORDONED_BEFORE: "true"}}})
        elif one.state in (VALIDATION, FAILED) and following == DONE:
            self._patch(cluster, one.node, {"metadata": {"annotations": {CORDONED_BEFORE: None}}})
        elif one.state in (CORDON, UNCORDON):
            self._patch(cluster, one.node, {"spec": {"unschedulable": True if one.state == CORDON else None}})

    def _validated(self, cluster: Cluster, one: Place, ended: str) -> str:
        """Return the label after the validation; while it waits, an annotation says since when."""
        found = [
            pod for pod in cluster.objects("Pod") if app_of(pod) == VALIDATOR and node_of(pod) == one.name
        ]
        known = (one.node["metadata"].get("annotations") or {}).get(VALIDATES_SINCE)
        if not found:
            return VALIDATION
        is_late = cluster.due(one.uid, "driver_upgrade_validation", 600)
        if all(map(is_ready, found)) or is_late:
            cluster.restart(one.uid, "driver_upgrade_validation")
            if known:
                self._patch(cluster, one.node, {"metadata": {"annotations": {VALIDATES_SINCE: None}}})
            return ended if all(map(is_ready, found)) else FAILED
        if not known:
            since = str(int(time.time()))
            self._patch(cluster, one.node, {"metadata": {"annotations": {VALIDATES_SINCE: since}}})
        return VALIDATION

    def _mark(self, cluster: Cluster, one: Place, state: str) -> None:
        self._found.pop(one.uid, None)
        for step in (state, "pod_deletion", "driver_upgrade_drain", "driver_upgrade_jobs"):
            cluster.restart(one.uid, step)
        self._patch(cluster, one.node, {"metadata": {"labels": {STATE: state}}})

    def _patch(self, cluster: Cluster, node: Object, body: Object) -> None:
        cluster.patch("Node", node["metadata"]["name"], None, body)

    def _due(self, cluster: Cluster, one: Place) -> bool:
        return cluster.due(one.uid, one.state, cluster.delay("driver_upgrade_step", 0.3))


def _is_held(cluster: Cluster, node: Object) -> bool:
    """Return whether somebody holds the label of the upgrade's state (the trouble node_label)."""
    return any(one.get("key") == STATE for one in cluster.troubles("node_label", **place(node)))
