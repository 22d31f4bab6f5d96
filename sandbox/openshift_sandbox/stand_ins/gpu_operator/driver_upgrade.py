# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Stand in for the GPU operator's driver upgrade, which moves from node to node by a label.

Any change of the driver DaemonSet's pod template begins it. The real one polls every two minutes
(driver_upgrade_poll). Compared with the source of v26.7.0 (2026-11): a pod without a DaemonSet is replaced on
its own only with NVIDIADriver objects. With the policy's driver it is replaced when an annotation of the node
asks for an upgrade; then only pods with the label of the Driver Toolkit count. Evictions fail
after podDeletion.timeoutSeconds. Here a validation never times out, and a failed upgrade stays failed.
"""

from __future__ import annotations

import typing as t

from openshift_sandbox.stand_ins.core.drain import evict
from openshift_sandbox.stand_ins.core.loop import Cluster, Object, Reconciler
from openshift_sandbox.stand_ins.core.troubles import on_node
from openshift_sandbox.stand_ins.gpu_operator.driver_owners import OWNER, SKIP, UPGRADE as STATE, labels
from openshift_sandbox.stand_ins.gpu_operator.labels import PRESENT
from openshift_sandbox.stand_ins.gpu_operator.operand_pods import VALIDATOR, app_of, is_driver, node_of
from openshift_sandbox.stand_ins.gpu_operator.readiness import is_ready, latest_revision
from openshift_sandbox.stand_ins.gpu_operator.rules import digest
from openshift_sandbox.stand_ins.gpu_operator.rules.release import Release, running
from openshift_sandbox.stand_ins.gpu_operator.rules.turns import active
from openshift_sandbox.stand_ins.gpu_operator.rules.upgrade_states import (
    CORDON,
    DONE,
    FAILED,
    PODS,
    REQUIRED,
    RESTART,
    UNCORDON,
    VALIDATION,
    after,
    slots,
)
from openshift_sandbox.stand_ins.gpu_operator.workloads import ENDED, devices_wanted

REQUESTED: t.Final = "nvidia.com/gpu-driver-upgrade-requested"
ENABLED: t.Final = "nvidia.com/gpu-driver-upgrade-enabled"
CORDONED_BEFORE: t.Final = "nvidia.com/gpu-driver-upgrade.node-initial-state.unschedulable"
TOOLKIT: t.Final = {"openshift.driver-toolkit": "true"}
PLAIN: t.Final = "nvidia-driver-daemonset"


class Place(t.NamedTuple):
    """A node, its driver pod, and what the pod's DaemonSet wants; without a DaemonSet both are None."""

    node: Object
    pod: Object
    revision: str | None
    template: Object | None

    @property
    def name(self) -> str:
        return str(self.node["metadata"]["name"])

    @property
    def uid(self) -> str:
        return str(self.node["metadata"]["uid"])

    @property
    def state(self) -> str:
        return _state(self.node)

    @property
    def is_orphan(self) -> bool:
        return not self.pod["metadata"].get("ownerReferences")

    @property
    def is_behind(self) -> bool:
        current = labels(self.pod).get("controller-revision-hash")
        return self.revision is not None and current != self.revision

    @property
    def is_cordoned(self) -> bool:
        return bool(self.node["spec"].get("unschedulable"))

    def annotated(self, key: str) -> bool:
        return (self.node["metadata"].get("annotations") or {}).get(key) == "true"


def _state(node: Object) -> str:
    return labels(node).get(STATE, "")


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

    def __init__(self) -> None:
        self._requested: set[str] = set()

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
        found = self._places(cluster, release.namespace, delegated)
        for rules, nodes in ruled:
            names = {node["metadata"]["name"] for node in nodes}
            if rules.get("autoUpgrade"):
                self._go_on(
                    cluster, release, delegated, rules, nodes, [one for one in found if one.name in names]
                )
            else:
                self._forget(cluster, nodes)

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
            trouble = on_node(cluster, "node_label", node) or {}
            if STATE in labels(node) and trouble.get("key") != STATE:
                self._patch(cluster, node, {"metadata": {"labels": {STATE: None}}})

    def _places(self, cluster: Cluster, namespace: str, delegated: bool) -> list[Place]:
        revisions = cluster.objects("ControllerRevision", namespace)
        sets = {
            one["metadata"]["uid"]: one for one in cluster.objects("DaemonSet", namespace) if is_driver(one)
        }
        found = []
        for pod in cluster.objects("Pod", namespace):
            node = cluster.find("Node", node_of(pod) or "")
            if node is None or not is_driver(pod) or not (delegated or _is_seen(pod)):
                continue
            owner = next(iter(pod["metadata"].get("ownerReferences") or []), {"uid": ""})
            made_by = sets.get(owner["uid"])
            newest = latest_revision(revisions, made_by) if made_by else None
            template = made_by["spec"]["template"]["spec"] if made_by else None
            found.append(Place(node, pod, newest, template))
        return found

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
        free = slots(
            rules,
            [_state(node) for node in nodes],
            sum(bool(node["spec"].get("unschedulable")) for node in nodes),
        )
        for one in found:
            if labels(one.node).get(SKIP) == "true":
                continue
            requested = one.annotated(REQUESTED)
            if one.state == REQUIRED and requested:
                self._requested.add(one.uid)
                self._patch(cluster, one.node, {"metadata": {"annotations": {REQUESTED: None}}})
            if one.state != REQUIRED:
                due = one.is_behind or requested or (one.is_orphan and delegated)
                self._step(cluster, one, rules, due)
            elif (free > 0 or one.is_cordoned) and self._due(cluster, one):
                free -= 1
                self._begin(cluster, one, release)

    def _begin(self, cluster: Cluster, one: Place, release: Release) -> None:
        """Begin with a node: by the full way, or by a restart where the driver itself stays the same."""
        requested = one.uid in self._requested
        self._requested.discard(one.uid)
        restarts = (
            release.has_digests
            and not requested
            and one.template is not None
            and digest.restart_only(one.pod["spec"], one.template)
        )
        if restarts:
            self._patch(cluster, one.node, {"spec": {"unschedulable": True}})
        self._mark(cluster, one, RESTART if restarts else CORDON)

    def _step(self, cluster: Cluster, one: Place, rules: Object, due: bool) -> None:
        state, stale, ready = one.state, one.is_orphan or one.is_behind, is_ready(one.pod)
        following = after(state, stale, ready, due=due, validates=True)
        if state == PODS:
            following = self._evict(cluster, one, rules)
        elif state == VALIDATION and self._validated(cluster, one.name):
            following = DONE if one.annotated(CORDONED_BEFORE) else UNCORDON
        if state == RESTART and stale and self._due(cluster, one):
            cluster.restart(one.uid, "driver_upgrade_poll")
            cluster.delete("Pod", one.pod["metadata"]["name"], one.pod["metadata"]["namespace"])
        elif state == RESTART and not stale:
            if cluster.due(one.uid, "driver_upgrade_poll", 0.3):
                cluster.restart(one.uid, "driver_upgrade_poll")
                if ready:
                    self._mark(cluster, one, VALIDATION)
        elif following != state and (state in ("", DONE) or self._due(cluster, one)):
            self._cordon(cluster, one, following)
            self._mark(cluster, one, following)

    def _cordon(self, cluster: Cluster, one: Place, following: str) -> None:
        """Cordon or uncordon a node as its step asks; one that was cordoned before stays cordoned."""
        if following == REQUIRED and one.is_cordoned:
            self._patch(cluster, one.node, {"metadata": {"annotations": {CORDONED_BEFORE: "true"}}})
        elif one.state == VALIDATION and following == DONE:
            self._patch(cluster, one.node, {"metadata": {"annotations": {CORDONED_BEFORE: None}}})
        elif one.state in (CORDON, UNCORDON):
            self._patch(cluster, one.node, {"spec": {"unschedulable": True if one.state == CORDON else None}})

    def _validated(self, cluster: Cluster, node: str) -> bool:
        pods = [pod for pod in cluster.objects("Pod") if app_of(pod) == VALIDATOR and node_of(pod) == node]
        return bool(pods) and all(map(is_ready, pods))

    def _evict(self, cluster: Cluster, one: Place, rules: Object) -> str:
        """Evict the pods that hold a GPU; return the next label.

        A pod without a controller goes only with `force`; otherwise the node stays cordoned.
        """
        deletion = rules.get("podDeletion") or {}
        force = deletion.get("force", False) or (rules.get("drain") or {}).get("force", False)
        holders = [
            pod
            for pod in cluster.objects("Pod")
            if node_of(pod) == one.name and devices_wanted(pod) and pod["status"].get("phase") not in ENDED
        ]
        if any(not pod["metadata"].get("ownerReferences") and not force for pod in holders):
            return FAILED
        is_late = cluster.due(one.uid, "pod_deletion", float(deletion.get("timeoutSeconds", 300)))
        if not holders or is_late:
            return FAILED if holders else RESTART
        if cluster.due(one.uid, "eviction_retry", 0.3):
            cluster.restart(one.uid, "eviction_retry")
            for pod in holders:
                evict(cluster, pod)
        return PODS

    def _mark(self, cluster: Cluster, one: Place, state: str) -> None:
        cluster.restart(one.uid, state)
        cluster.restart(one.uid, "pod_deletion")
        self._patch(cluster, one.node, {"metadata": {"labels": {STATE: state}}})

    def _patch(self, cluster: Cluster, node: Object, body: Object) -> None:
        cluster.patch("Node", node["metadata"]["name"], None, body)

    def _due(self, cluster: Cluster, one: Place) -> bool:
        return cluster.due(one.uid, one.state, cluster.delay("driver_upgrade_step", 0.3))
