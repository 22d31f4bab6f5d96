# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Stand in for the GPU operator (v26.7): it turns a ClusterPolicy into objects and a status.

The real one also runs the operands of Kata containers and of confidential computing.
"""

from __future__ import annotations

import typing as t

from openshift_sandbox.client import ApiError
from openshift_sandbox.stand_ins.core.reconciler import Cluster, Reconciler
from openshift_sandbox.stand_ins.core.troubles import on_node
from openshift_sandbox.stand_ins.gpu_operator import (
    assets,
    daemon_sets,
    driver_owners,
    labels as gpu_labels,
    operands,
    readiness,
)
from openshift_sandbox.stand_ins.gpu_operator.daemon_sets import APPLIED, ImageError
from openshift_sandbox.stand_ins.gpu_operator.operands import (
    DRIVER,
    DRIVER_COMPONENT,
    MACHINE_OPERANDS,
    OPERANDS,
    VGPU_MANAGER,
    Object,
    Operand,
)
from openshift_sandbox.stand_ins.gpu_operator.rules import facts, release
from openshift_sandbox.stand_ins.gpu_operator.rules.release import Release
from openshift_sandbox.stand_ins.gpu_operator.rules.turns import Turns, active, news

TOOLKIT_STREAM: t.Final = ("driver-toolkit", "openshift")
MONITORING: t.Final = "openshift.io/cluster-monitoring"


class ReconcileError(Exception):
    """The text that the operator writes with the reason ReconcileFailed."""


class GpuOperator(Reconciler):
    kinds = (
        "ClusterPolicy",
        "ClusterVersion",
        "ConfigMap",
        "ControllerRevision",
        "DaemonSet",
        "Deployment",
        "GPUCluster",
        "ImageStream",
        "Infrastructure",
        "Namespace",
        "Node",
        "Pod",
        "Proxy",
    )

    def __init__(self) -> None:
        self._applied: set[tuple[str, str]] = set()
        self._turns = Turns()

    def reconcile(self, cluster: Cluster, now: float) -> None:
        running, policies = release.running(cluster), cluster.objects("ClusterPolicy")
        self._turns.begin(release.process(cluster) if running else None)
        singleton = active(policies)
        if running is None or singleton is None:
            return
        if not cluster.due(singleton["metadata"]["uid"], "gpu_operator", 0.3):
            return
        self._label_nodes(cluster, singleton)
        policy = self._turns.take(policies, news(cluster.objects("Node"), cluster.objects("GPUCluster")))
        if policy is not None:
            verdict = self._verdict(cluster, policy, running)
            found = readiness.status(verdict, policy.get("status") or {}, running.namespace)
            readiness.write(cluster, "ClusterPolicy", policy, found)

    def _verdict(self, cluster: Cluster, policy: Object, running: Release) -> Object:
        nodes = cluster.objects("Node")
        labels = [node["metadata"].get("labels") or {} for node in nodes]
        gpu_nodes = any(one.get(gpu_labels.PRESENT) == "true" for one in labels)
        try:
            versions = self._prerequisites(cluster, nodes, policy)
            self._monitored(cluster, running.namespace)
            waiting = [
                state
                for state in assets.STATES
                if not self._state_ready(cluster, state, policy, running, versions if gpu_nodes else None)
            ]
        except ReconcileError as error:
            return readiness.not_ready("ReconcileFailed", str(error))
        if (policy["spec"].get("driver") or {}).get("useNvidiaDriverCRD") and driver_owners.unfinished(nodes):
            return readiness.not_ready("OperandNotReady", driver_owners.UNFINISHED)
        if waiting and not cluster.trouble("clusterpolicy_lies"):
            return readiness.operands_not_ready(waiting)
        if not any(gpu_labels.has_features(one) for one in labels):
            return readiness.ready(readiness.NO_LABELS)
        return readiness.ready(readiness.RECONCILED if gpu_nodes else readiness.NO_GPU_NODES)

    def _prerequisites(self, cluster: Cluster, nodes: list[Object], policy: Object) -> dict[str, str | None]:
        for other in cluster.objects("GPUCluster"):
            name = other["metadata"]["name"]
            raise ReconcileError(
                f'conflicting GPUCluster resource "{name}" detected; ClusterPolicy and GPUCluster '
                "cannot co-exist"
            )
        if facts.completed_version(cluster.find("ClusterVersion", "version")) is None:
            raise ReconcileError("failed to find Completed Cluster Version")
        for kind, plural in (("Proxy", "proxies"), ("Infrastructure", "infrastructures")):
            if cluster.find(kind, "cluster") is None:
                raise ReconcileError(f'{plural}.config.openshift.io "cluster" not found')
        if text := facts.unknown_system(nodes):
            raise ReconcileError(text)
        if not (policy["spec"].get("operator") or {}).get("use_ocp_driver_toolkit", True):
            return {}
        if not cluster.served("ImageStream"):
            raise ReconcileError('no matches for kind "ImageStream" in version "image.openshift.io/v1"')
        return facts.toolkit_images(cluster.find("ImageStream", *TOOLKIT_STREAM), nodes)

    def _state_ready(
        self,
        cluster: Cluster,
        state: str,
        policy: Object,
        running: Release,
        versions: dict[str, str | None] | None,
    ) -> bool:
        """Bring about one state; return whether it is ready.

        Without versions there is no GPU node, and DaemonSets stay as they are.
        """
        operand = next((one for one in (*OPERANDS, *MACHINE_OPERANDS) if one.state == state), None)
        wanted = operand is None or operands.enabled(operand, policy["spec"])
        try:
            if wanted:
                self._apply_assets(cluster, state, policy, running.namespace)
            if operand is None or versions is None:
                return True
            return self._daemon_sets_ready(cluster, operand, policy, running, versions if wanted else None)
        except (ApiError, ImageError) as error:
            raise ReconcileError(
                f"Failed to reconcile {state}: {getattr(error, 'message', error)}"
            ) from error

    def _daemon_sets_ready(
        self,
        cluster: Cluster,
        operand: Operand,
        policy: Object,
        running: Release,
        versions: dict[str, str | None] | None,
    ) -> bool:
        """Apply the DaemonSets of an operand.

        Return whether they are ready. Without versions it is switched off.
        """
        if operand is DRIVER and versions is not None:
            daemon_sets.refuse_unmounted(cluster, policy["spec"].get("driver") or {}, running.namespace)
        if versions is None or cluster.trouble("operand_missing", operand=operand.name):
            desired = []
        elif operand is DRIVER and (policy["spec"].get("driver") or {}).get("usePrecompiled"):
            desired = daemon_sets.precompiled_daemon_sets(
                policy, running, facts.kernels(cluster.objects("Node"), running)
            )
        elif operand in (DRIVER, VGPU_MANAGER):
            system = next(iter(facts.kernels(cluster.objects("Node"), running).values()), "")
            desired = daemon_sets.driver_daemon_sets(policy, running, versions, system, operand)
        else:
            desired = [daemon_sets.daemon_set(operand, policy, running)]
        self._remove_others(
            cluster, operand, policy, running.namespace, {one["metadata"]["name"] for one in desired}
        )
        applied = [self._applied_daemon_set(cluster, one) for one in desired]
        return all(self._ready(cluster, one) for one in applied)

    def _applied_daemon_set(self, cluster: Cluster, desired: Object) -> Object:
        wanted = daemon_sets.with_hash(desired)
        live = cluster.find("DaemonSet", wanted["metadata"]["name"], wanted["metadata"]["namespace"])
        if (
            live
            and (live["metadata"].get("annotations") or {}).get(APPLIED)
            == wanted["metadata"]["annotations"][APPLIED]
        ):
            return live
        return cluster.apply(wanted)

    def _ready(self, cluster: Cluster, live: Object) -> bool:
        if live["spec"]["updateStrategy"]["type"] != "OnDelete":
            return readiness.daemon_set_ready(live)
        uid, namespace = live["metadata"]["uid"], live["metadata"]["namespace"]
        pods = [
            pod
            for pod in cluster.objects("Pod", namespace)
            if any(owner["uid"] == uid for owner in pod["metadata"].get("ownerReferences", []))
        ]
        revision = readiness.latest_revision(cluster.objects("ControllerRevision", namespace), live)
        return readiness.daemon_set_ready(live, pods, revision)

    def _remove_others(
        self, cluster: Cluster, operand: Operand, policy: Object, namespace: str, keep: set[str]
    ) -> None:
        """Delete DaemonSets of operands that are switched off, and of RHCOS versions that no node has."""
        for live in cluster.objects("DaemonSet", namespace):
            metadata = live["metadata"]
            left = operand is DRIVER and bool((policy["spec"].get("driver") or {}).get("useNvidiaDriverCRD"))
            ours = any(
                owner["uid"] == policy["metadata"]["uid"] for owner in metadata.get("ownerReferences", [])
            )
            driver = DRIVER_COMPONENT.items() <= (metadata.get("labels") or {}).items()
            same = driver if operand is DRIVER else metadata["name"] == operand.name
            if operand is VGPU_MANAGER:
                same = metadata["name"].startswith(operand.name)
            if ours and same and metadata["name"] not in keep and not metadata.get("deletionTimestamp"):
                cluster.delete("DaemonSet", metadata["name"], namespace, orphan=left)

    def _apply_assets(self, cluster: Cluster, state: str, policy: Object, namespace: str) -> None:
        """Apply the other objects, once in the life of a ClusterPolicy.

        The real operator also repairs them later.
        """
        mark = (policy["metadata"]["uid"], state)
        if mark in self._applied:
            return
        for obj in assets.assets(state, policy, namespace):
            cluster.apply(obj)
        self._applied.add(mark)

    def _monitored(self, cluster: Cluster, namespace: str) -> None:
        found = cluster.find("Namespace", namespace)
        if (
            found
            and namespace == "nvidia-gpu-operator"
            and MONITORING not in (found["metadata"].get("labels") or {})
        ):
            cluster.patch("Namespace", namespace, None, {"metadata": {"labels": {MONITORING: "true"}}})

    def _label_nodes(self, cluster: Cluster, policy: Object) -> None:
        spec = policy["spec"]
        manager, sandbox = spec.get("migManager") or {}, spec.get("sandboxWorkloads") or {}
        for node in cluster.objects("Node"):
            labels = node["metadata"].get("labels") or {}
            changes = gpu_labels.label_changes(labels, sandbox) | gpu_labels.uncut(labels, manager)
            if changes and not on_node(cluster, "labels_frozen", node):
                cluster.patch("Node", node["metadata"]["name"], None, {"metadata": {"labels": changes}})
