# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Stand in for the GPU operator (v26.7): it turns a ClusterPolicy into objects and a status.

The real one also serves virtual machines.
"""

from __future__ import annotations

import typing as t

from openshift_sandbox.client import ApiError
from openshift_sandbox.stand_ins.core.loop import Cluster, Reconciler
from openshift_sandbox.stand_ins.core.troubles import on_node
from openshift_sandbox.stand_ins.gpu_operator import (
    assets,
    daemon_sets,
    driver_owners,
    labels as gpu_labels,
    operands,
    readiness,
)
from openshift_sandbox.stand_ins.gpu_operator.daemon_sets import APPLIED, KERNEL, OSTREE, ImageError
from openshift_sandbox.stand_ins.gpu_operator.operands import (
    DRIVER,
    DRIVER_COMPONENT,
    OPERANDS,
    Object,
    Operand,
)

NAME: t.Final = "gpu-operator"
TOOLKIT_STREAM: t.Final = ("driver-toolkit", "openshift")
MONITORING: t.Final = "openshift.io/cluster-monitoring"
RELEASE: t.Final = "feature.node.kubernetes.io/system-os_release."


class ReconcileError(Exception):
    """The text that the operator writes with the reason ReconcileFailed."""


def active(policies: t.Sequence[Object]) -> Object | None:
    """Return the ClusterPolicy that counts: the oldest, then the first by name. Others are ignored."""
    return min(
        policies,
        key=lambda one: (one["metadata"]["creationTimestamp"], one["metadata"]["name"]),
        default=None,
    )


def completed_version(cluster_version: Object | None) -> str | None:
    """Return the version of the last completed update, or None."""
    history = ((cluster_version or {}).get("status") or {}).get("history") or []
    return next((one["version"] for one in history if one.get("state") == "Completed"), None)


def toolkit_images(stream: Object | None, nodes: t.Iterable[Object]) -> dict[str, str | None]:
    """Return the Driver Toolkit image of each RHCOS version on GPU nodes.

    None when the toolkit cannot be used.
    """
    if stream is None:
        return {}
    images: dict[str, str | None] = {}
    for tag in stream.get("spec", {}).get("tags") or []:
        images[tag["name"]] = (tag.get("from") or {}).get("name")
    for tag in stream.get("status", {}).get("tags") or []:
        images.setdefault(
            tag["tag"], next((item.get("dockerImageReference") for item in tag.get("items") or []), None)
        )
    versions = {
        labels[OSTREE]
        for node in nodes
        if (labels := node["metadata"].get("labels") or {}).get(gpu_labels.PRESENT) == "true"
        and OSTREE in labels
    }
    return {version: images.get(version) for version in sorted(versions)}


def kernels(nodes: t.Iterable[Object]) -> dict[str, str]:
    """Return the operating system of each kernel on GPU nodes, as the end of an image tag.

    For RHEL, releases before 26.7 add its minor version.
    """
    found = [
        labels
        for node in nodes
        if (labels := node["metadata"].get("labels") or {}).get(gpu_labels.PRESENT) == "true"
        and KERNEL in labels
    ]
    return {
        labels[KERNEL]: _system(labels.get(f"{RELEASE}ID", ""), labels.get(f"{RELEASE}VERSION_ID", ""))
        for labels in found
    }


def _system(name: str, version: str) -> str:
    return f"{name}{version.partition('.')[0] if name == 'rhel' else version}"


class GpuOperator(Reconciler):
    kinds = (
        "ClusterPolicy",
        "ClusterVersion",
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

    def reconcile(self, cluster: Cluster, now: float) -> None:
        deployment = next(
            (one for one in cluster.objects("Deployment") if one["metadata"]["name"] == NAME), None
        )
        policies = cluster.objects("ClusterPolicy")
        if deployment is None or not cluster.available(NAME, deployment["metadata"]["namespace"]):
            return
        namespace, singleton = deployment["metadata"]["namespace"], active(policies)
        if singleton is None or not cluster.due(singleton["metadata"]["uid"], "gpu_operator", 0.3):
            return
        self._label_nodes(cluster)
        for policy in policies:
            if policy["metadata"].get("deletionTimestamp"):
                continue
            if policy is not singleton:
                self._write(cluster, policy, {"state": "ignored", "namespace": namespace})
                continue
            verdict = self._verdict(cluster, daemon_sets.with_own_driver(policy, deployment), namespace)
            self._write(cluster, policy, readiness.status(verdict, policy.get("status") or {}, namespace))

    def _verdict(self, cluster: Cluster, policy: Object, namespace: str) -> Object:
        nodes = cluster.objects("Node")
        labels = [node["metadata"].get("labels") or {} for node in nodes]
        gpu_nodes = any(one.get(gpu_labels.PRESENT) == "true" for one in labels)
        try:
            versions = self._prerequisites(cluster, nodes, policy)
            self._monitored(cluster, namespace)
            waiting = [
                state
                for state in assets.STATES
                if not self._state_ready(cluster, state, policy, namespace, versions if gpu_nodes else None)
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
        if completed_version(cluster.find("ClusterVersion", "version")) is None:
            raise ReconcileError("failed to find Completed Cluster Version")
        for kind, plural in (("Proxy", "proxies"), ("Infrastructure", "infrastructures")):
            if cluster.find(kind, "cluster") is None:
                raise ReconcileError(f'{plural}.config.openshift.io "cluster" not found')
        if not (policy["spec"].get("operator") or {}).get("use_ocp_driver_toolkit", True):
            return {}
        if not cluster.served("ImageStream"):
            raise ReconcileError('no matches for kind "ImageStream" in version "image.openshift.io/v1"')
        return toolkit_images(cluster.find("ImageStream", *TOOLKIT_STREAM), nodes)

    def _state_ready(
        self,
        cluster: Cluster,
        state: str,
        policy: Object,
        namespace: str,
        versions: dict[str, str | None] | None,
    ) -> bool:
        """Bring about one state; return whether it is ready.

        Without versions there is no GPU node, and DaemonSets stay as they are.
        """
        operand = next((one for one in OPERANDS if one.state == state), None)
        wanted = operand is None or operands.enabled(operand, policy["spec"])
        try:
            if wanted:
                self._apply_assets(cluster, state, policy, namespace)
            if operand is None or versions is None:
                return True
            return self._daemon_sets_ready(cluster, operand, policy, namespace, versions if wanted else None)
        except (ApiError, ImageError) as error:
            raise ReconcileError(
                f"Failed to reconcile {state}: {getattr(error, 'message', error)}"
            ) from error

    def _daemon_sets_ready(
        self,
        cluster: Cluster,
        operand: Operand,
        policy: Object,
        namespace: str,
        versions: dict[str, str | None] | None,
    ) -> bool:
        """Apply the DaemonSets of an operand.

        Return whether they are ready. Without versions it is switched off.
        """
        if versions is None or cluster.trouble("operand_missing", operand=operand.name):
            desired = []
        elif operand is DRIVER and (policy["spec"].get("driver") or {}).get("usePrecompiled"):
            desired = daemon_sets.precompiled_daemon_sets(policy, namespace, kernels(cluster.objects("Node")))
        elif operand is DRIVER:
            desired = daemon_sets.driver_daemon_sets(
                policy, namespace, versions, next(iter(kernels(cluster.objects("Node")).values()), "")
            )
        else:
            desired = [daemon_sets.daemon_set(operand, policy, namespace)]
        self._remove_others(cluster, operand, policy, namespace, {one["metadata"]["name"] for one in desired})
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

    def _label_nodes(self, cluster: Cluster) -> None:
        for node in cluster.objects("Node"):
            changes = gpu_labels.label_changes(node["metadata"].get("labels") or {})
            if changes and not on_node(cluster, "labels_frozen", node):
                cluster.patch("Node", node["metadata"]["name"], None, {"metadata": {"labels": changes}})

    def _write(self, cluster: Cluster, policy: Object, status: Object) -> None:
        before = policy.get("status") or {}
        if any(before.get(field) != value for field, value in status.items()):
            cluster.patch("ClusterPolicy", policy["metadata"]["name"], None, {"status": status}, "status")
