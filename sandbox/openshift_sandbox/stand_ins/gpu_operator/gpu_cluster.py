# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Stand in for the GPU operator's GPUCluster controller (v26.7): DaemonSets, DeviceClasses and status.

The real one also runs compute domains, DCGM and its claims, and a policy that protects ResourceSlices.
"""

from __future__ import annotations

import typing as t

from openshift_sandbox.stand_ins.core.reconciler import Cluster, Reconciler
from openshift_sandbox.stand_ins.gpu_operator import daemon_sets, labels as gpu_labels, readiness
from openshift_sandbox.stand_ins.gpu_operator.daemon_sets import APPLIED, HOLD
from openshift_sandbox.stand_ins.gpu_operator.operands import DEPLOY, Object
from openshift_sandbox.stand_ins.gpu_operator.rules.release import Release, running
from openshift_sandbox.stand_ins.gpu_operator.rules.turns import active

PLUGIN, VALIDATOR, EXPORTER = (
    "nvidia-dra-driver-kubelet-plugin",
    "nvidia-dra-validator",
    "nvidia-dcgm-exporter-dra",
)
DRIVER: t.Final = "gpu.nvidia.com"
# DaemonSet -> component of its nvidia.com/gpu.deploy label.
COMPONENTS: t.Final = {PLUGIN: "dra-driver", VALIDATOR: "dra-validator", EXPORTER: "dcgm-exporter-dra"}
NODE_LABELS: t.Final = ("driver", *COMPONENTS.values())
FINALIZER: t.Final = "nvidia.com/gpu-cluster"
ADMIN_ACCESS: t.Final = "resource.kubernetes.io/admin-access"
CLASSES: t.Final = {DRIVER: "gpu", "mig.nvidia.com": "mig"}
# DaemonSet -> the name of its image in the operator's env.
IMAGES: t.Final = {PLUGIN: "DRA_DRIVER_IMAGE", VALIDATOR: "VALIDATOR_IMAGE", EXPORTER: "DCGM_EXPORTER_IMAGE"}
DONE: t.Final = ("Reconciled", "All resources have been successfully reconciled")


def device_class(name: str, kind: str) -> Object:
    """Return a DeviceClass."""
    expression = f"device.driver == '{DRIVER}' && device.attributes['{DRIVER}'].type == '{kind}'"
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "DeviceClass",
        "metadata": {"name": name},
        "spec": {"selectors": [{"cel": {"expression": expression}}]},
    }


def daemon_set(gpu_cluster: Object, name: str, release: Release) -> Object:
    """Return a DaemonSet of the DRA stack. Raises ImageError."""
    shared = gpu_cluster["spec"].get("daemonsets") or {}
    # The upgrade controller finds the validator by the label that it has in the other stack.
    labels = {
        "app": "nvidia-operator-validator" if name == VALIDATOR else name,
        "app.kubernetes.io/component": name,
    }
    part = gpu_cluster["spec"].get({PLUGIN: "draDriver", EXPORTER: "dcgmExporter"}.get(name, "")) or {}
    image = daemon_sets.image_path(IMAGES[name], part, release.images)
    pod = {
        "nodeSelector": {f"{DEPLOY}{COMPONENTS[name]}": "true"},
        "tolerations": shared.get("tolerations") or [],
        "priorityClassName": shared.get("priorityClassName") or "system-node-critical",
        "containers": [{"name": name, "image": image}],
    }
    if name == PLUGIN:
        validator = daemon_sets.image_path(IMAGES[VALIDATOR], {}, release.images)
        pod["initContainers"] = [{"name": "driver-validation", "image": validator}]
    hold = {HOLD: "init" if name == PLUGIN else "ready"}
    spec = {
        "selector": {"matchLabels": labels},
        "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": "100%"}},
        "template": {"metadata": {"labels": labels, "annotations": hold}, "spec": pod},
    }
    owner = {
        "apiVersion": "nvidia.com/v1alpha1",
        "kind": "GPUCluster",
        "name": gpu_cluster["metadata"]["name"],
        "uid": gpu_cluster["metadata"]["uid"],
    }
    metadata = {
        "name": name,
        "namespace": release.namespace,
        "labels": labels,
        "ownerReferences": [owner | {"controller": True, "blockOwnerDeletion": True}],
    }
    return daemon_sets.with_hash(
        {"apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": metadata, "spec": spec}
    )


class GpuCluster(Reconciler):
    kinds = (
        "ClusterPolicy",
        "DaemonSet",
        "Deployment",
        "DeviceClass",
        "GPUCluster",
        "Namespace",
        "Node",
        "Pod",
    )

    def reconcile(self, cluster: Cluster, now: float) -> None:
        release = running(cluster)
        if release is None:
            return
        namespace = release.namespace
        for one in cluster.objects("GPUCluster"):
            finalizers = one["metadata"].get("finalizers") or []
            if one["metadata"].get("deletionTimestamp"):
                self._drain(cluster, one, namespace, finalizers)
            elif FINALIZER not in finalizers:
                cluster.patch(
                    "GPUCluster",
                    one["metadata"]["name"],
                    None,
                    {"metadata": {"finalizers": [*finalizers, FINALIZER]}},
                )
            elif policy := active(cluster.objects("ClusterPolicy")):
                rule = "a ClusterPolicy CR and GPUCluster CR may not exist at the same time"
                text = f'A ClusterPolicy CR "{policy["metadata"]["name"]}" exists; {rule}'
                self._write(cluster, one, readiness.not_ready("PrerequisiteNotMet", text), namespace)
            else:
                self._bring(cluster, one, release)

    def _bring(self, cluster: Cluster, one: Object, release: Release) -> None:
        namespace = release.namespace
        home = cluster.find("Namespace", namespace)
        if home and (home["metadata"].get("labels") or {}).get(ADMIN_ACCESS) != "true":
            cluster.patch("Namespace", namespace, None, {"metadata": {"labels": {ADMIN_ACCESS: "true"}}})
        for node in cluster.objects("Node"):
            labels = node["metadata"].get("labels") or {}
            changes = dra_labels(labels)
            if changes:
                cluster.patch("Node", node["metadata"]["name"], None, {"metadata": {"labels": changes}})
        for name, kind in CLASSES.items():
            if cluster.find("DeviceClass", name) is None:
                cluster.apply(device_class(name, kind))
        exporter = (one["spec"].get("dcgmExporter") or {}).get("enabled") is not False
        live = [
            self._applied(cluster, daemon_set(one, name, release))
            for name in COMPONENTS
            if name != EXPORTER or exporter
        ]
        if all(readiness.daemon_set_ready(made) for made in live):
            self._write(cluster, one, readiness.ready(DONE), namespace)
        else:
            self._write(
                cluster,
                one,
                readiness.not_ready("OperandNotReady", "Waiting for operand pods to be ready"),
                namespace,
            )

    def _applied(self, cluster: Cluster, wanted: Object) -> Object:
        live = cluster.find("DaemonSet", wanted["metadata"]["name"], wanted["metadata"]["namespace"])
        if (
            live
            and (live["metadata"].get("annotations") or {}).get(APPLIED)
            == wanted["metadata"]["annotations"][APPLIED]
        ):
            return live
        return cluster.apply(wanted)

    def _drain(self, cluster: Cluster, one: Object, namespace: str, finalizers: list[str]) -> None:
        """Delete the validator first: it holds a claim that the plugin has to release."""
        if FINALIZER not in finalizers:
            return
        validator = cluster.find("DaemonSet", VALIDATOR, namespace)
        if validator is not None:
            cluster.delete("DaemonSet", VALIDATOR, namespace)
            return
        for node in cluster.objects("Node"):
            gone = {
                f"{DEPLOY}{part}": None
                for part in NODE_LABELS
                if f"{DEPLOY}{part}" in (node["metadata"].get("labels") or {})
            }
            if gone:
                cluster.patch("Node", node["metadata"]["name"], None, {"metadata": {"labels": gone}})
        cluster.patch(
            "GPUCluster",
            one["metadata"]["name"],
            None,
            {"metadata": {"finalizers": [each for each in finalizers if each != FINALIZER]}},
        )

    def _write(self, cluster: Cluster, one: Object, verdict: Object, namespace: str) -> None:
        status = readiness.status(verdict, one.get("status") or {}, namespace)
        readiness.write(cluster, "GPUCluster", one, status)


def dra_labels(labels: t.Mapping[str, str]) -> dict[str, str | None]:
    """Return the labels to set; a value that somebody wrote, such as "false", stays."""
    if not gpu_labels.has_gpu(labels):
        return {key: None for part in NODE_LABELS if (key := f"{DEPLOY}{part}") in labels}
    wanted = {gpu_labels.PRESENT: "true"} | {f"{DEPLOY}{part}": "true" for part in NODE_LABELS}
    return {key: value for key, value in wanted.items() if not labels.get(key)}
