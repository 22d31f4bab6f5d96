# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Stand in for Red Hat's operator of Kueue: its object brings the CRDs, the Deployment, and the conditions.

The real one also makes roles, services, network policies, webhooks and certificates of cert-manager, and
waits for these. Both leave the CRDs, and queues and Workloads, when their object goes.
"""

from __future__ import annotations

import typing as t

from openshift_sandbox.catalogue import crds
from openshift_sandbox.stand_ins.core.conditions import Condition, condition, holds, merged
from openshift_sandbox.stand_ins.core.reconciler import Cluster, Object, Reconciler

# Names and texts: pkg/operator/target_config_reconciler.go of github.com/openshift/kueue-operator, of
# 2026-08-22.
OPERATOR: t.Final = "openshift-kueue-operator"
NAME: t.Final = "cluster"
API_VERSION: t.Final = "kueue.openshift.io/v1"
FINALIZER: t.Final = "kueue.openshift.io/finalizer"
CONTROLLER: t.Final = "kueue-controller-manager"
LABELS: t.Final = {"control-plane": "controller-manager"}


def without_certificates() -> list[Condition]:
    """Return the conditions on a cluster without cert-manager."""
    reason = "MissingDependency"
    return [
        condition("Available", False, reason, "cert-manager is required but not installed"),
        condition("Progressing", False, reason, "waiting for cert-manager to be installed"),
        condition(
            "Degraded", True, reason, "please make sure that cert-manager is installed on your cluster"
        ),
    ]


def of_deployment(deployment: Object) -> list[Condition]:
    """Return the conditions that the operator reads from Kueue's Deployment."""
    status = deployment.get("status") or {}
    wanted, found = int(deployment["spec"].get("replicas", 1)), int(status.get("readyReplicas", 0))
    installed = condition("CertManagerAvailable", True, "CertManagerInstalled", "cert-manager is installed")
    if found == wanted and found > 0:
        return [
            condition("Available", True, "AllReplicasReady", f"All {found} replicas are ready"),
            condition("Progressing", False, "AsExpected", "Deployment is up to date"),
            condition("Degraded", False, "AsExpected", ""),
            installed,
        ]
    return [
        condition("Available", False, "NotEnoughReplicas", f"{found}/{wanted} replicas are ready"),
        condition("Progressing", True, "Reconciling", "Deployment is reconciling"),
        condition("Degraded", True, "NoReplicasReady", f"No replicas ready (desired: {wanted})"),
        installed,
    ]


def controller(instance: Object, namespace: str, image: str) -> Object:
    """Return Kueue's Deployment, which goes with the object."""
    owner = {"apiVersion": API_VERSION, "kind": "Kueue", "name": NAME, "uid": instance["metadata"]["uid"]}
    metadata = {
        "name": CONTROLLER,
        "namespace": namespace,
        "labels": LABELS | {"app.kubernetes.io/name": "kueue"},
        "ownerReferences": [owner],
    }
    pod = {"containers": [{"name": "manager", "image": image, "command": ["/manager"]}]}
    template = {"metadata": {"labels": LABELS | {"app.kubernetes.io/name": "kueue"}}, "spec": pod}
    spec = {"replicas": 1, "selector": {"matchLabels": LABELS}, "template": template}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": metadata, "spec": spec}


def brings(cluster: Cluster) -> bool:
    """Return whether the operator has brought Kueue, and Kueue runs."""
    found = cluster.find("Kueue", NAME)
    return found is not None and holds(found, "Available")


class KueueOperator(Reconciler):
    kinds = ("Kueue", "Deployment", "Issuer", "CustomResourceDefinition")

    def reconcile(self, cluster: Cluster, now: float) -> None:
        deployment = next(
            (one for one in cluster.objects("Deployment") if one["metadata"]["name"] == OPERATOR), None
        )
        if deployment is None or not cluster.available(OPERATOR, deployment["metadata"]["namespace"]):
            return
        instance = cluster.find("Kueue", NAME)
        if instance is None:
            return
        if instance["metadata"].get("deletionTimestamp"):
            self._leave(cluster, instance)
        elif cluster.due(instance["metadata"]["uid"], "kueue_operator", 0.3):
            self._serve(cluster, instance, deployment)

    def _serve(self, cluster: Cluster, instance: Object, operator: Object) -> None:
        if not cluster.served("Issuer"):
            self._write(cluster, instance, without_certificates())
            return
        if FINALIZER not in (instance["metadata"].get("finalizers") or []):
            cluster.patch("Kueue", NAME, None, {"metadata": {"finalizers": [FINALIZER]}})
        for crd in crds.kueue_crds():
            if cluster.find("CustomResourceDefinition", crd["metadata"]["name"]) is None:
                cluster.apply(crd)
        namespace = operator["metadata"]["namespace"]
        live = cluster.find("Deployment", CONTROLLER, namespace)
        if live is None:
            live = cluster.apply(controller(instance, namespace, image_of(operator)))
        self._write(cluster, instance, of_deployment(live))

    def _leave(self, cluster: Cluster, instance: Object) -> None:
        """Let the object go. The garbage collector deletes its Deployment."""
        left = [one for one in instance["metadata"].get("finalizers") or [] if one != FINALIZER]
        if left != instance["metadata"].get("finalizers"):
            cluster.patch("Kueue", NAME, None, {"metadata": {"finalizers": left}})

    def _write(self, cluster: Cluster, instance: Object, wanted: list[Condition]) -> None:
        known = instance.get("status", {}).get("conditions") or []
        now = merged(known, wanted)
        if now != known:
            cluster.patch("Kueue", NAME, None, {"status": {"conditions": now}}, "status")


def image_of(operator: Object) -> str:
    """Return the image of Kueue, which the operator's Deployment has in its environment."""
    (container,) = operator["spec"]["template"]["spec"]["containers"]
    return next((one["value"] for one in container.get("env") or [] if one["name"] == "KUEUE"), "kueue")
