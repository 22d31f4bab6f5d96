# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Stand in for OpenShift's NFD operator.

The real one can also run a topology updater. Its nfd-master is the real program here, and its worker a
stand-in.
"""

from __future__ import annotations

import typing as t

from openshift_sandbox.stand_ins.core.conditions import condition, merged
from openshift_sandbox.stand_ins.core.reconciler import Cluster, Object, Reconciler
from openshift_sandbox.stand_ins.nfd import operands, prune
from openshift_sandbox.stand_ins.nfd.operands import GC, MASTER, WORKER

OPERATOR: t.Final = "nfd-controller-manager"
FINALIZER: t.Final = "nfd-finalizer"
COPIED_RULES: t.Final = "NodeFeatureRule.nfd.openshift.io"
REMOVED: t.Final = (
    ("DaemonSet", WORKER),
    ("Deployment", MASTER),
    ("Deployment", GC),
    ("ConfigMap", WORKER),
    *(("NetworkPolicy", name) for name in (MASTER, GC, WORKER)),
    *(("ServiceAccount", name) for name in (MASTER, GC, WORKER)),
)


class NfdOperator(Reconciler):
    kinds = (
        "NodeFeatureDiscovery",
        "NodeFeatureRule",
        COPIED_RULES,
        "Deployment",
        "DaemonSet",
        "ConfigMap",
        "NetworkPolicy",
        "ServiceAccount",
        "Node",
        "Job",
    )

    def __init__(self) -> None:
        self._applied: dict[tuple[str, str, str], tuple[Object, int | None]] = {}
        self._copied: dict[str, str] = {}

    def reconcile(self, cluster: Cluster, now: float) -> None:
        for cr in cluster.objects("NodeFeatureDiscovery"):
            metadata = cr["metadata"]
            if not cluster.available(OPERATOR, metadata["namespace"]):
                continue
            if metadata.get("deletionTimestamp"):
                self._remove(cluster, cr)
            elif FINALIZER not in (metadata.get("finalizers") or []):
                _patch(
                    cluster,
                    cr,
                    {"metadata": {"finalizers": [*(metadata.get("finalizers") or []), FINALIZER]}},
                )
            else:
                self._deploy(cluster, cr)
                self._report(cluster, cr)
        self._copy_rules(cluster)

    def _deploy(self, cluster: Cluster, cr: Object) -> None:
        """Apply the operands that are missing, that somebody edited, or that the CR wants differently."""
        for obj in operands.operands(cr):
            place = (obj["kind"], obj["metadata"]["namespace"], obj["metadata"]["name"])
            live = cluster.find(obj["kind"], obj["metadata"]["name"], obj["metadata"]["namespace"])
            if live is None or self._applied.get(place) != (obj, live["metadata"].get("generation")):
                self._applied[place] = (obj, cluster.apply(obj)["metadata"].get("generation"))

    def _report(self, cluster: Cluster, cr: Object) -> None:
        known = (cr.get("status") or {}).get("conditions") or []
        wanted = merged(known, conditions(cluster, cr))
        if wanted != known:
            _patch(cluster, cr, {"status": {"conditions": wanted}}, "status")

    def _remove(self, cluster: Cluster, cr: Object) -> None:
        metadata = cr["metadata"]
        if FINALIZER not in (metadata.get("finalizers") or []):
            return
        # Another instance in the namespace has operands of the same names, and creates them again once the
        # garbage collector has deleted these.
        others = [
            one
            for one in cluster.objects("NodeFeatureDiscovery", metadata["namespace"])
            if not one["metadata"].get("deletionTimestamp")
        ]
        left = (
            []
            if others
            else [(kind, name) for kind, name in REMOVED if cluster.find(kind, name, metadata["namespace"])]
        )
        for kind, name in left:
            cluster.delete(kind, name, metadata["namespace"])
        if not left and (not cr["spec"].get("prunerOnDelete") or prune.pruned(cluster, cr)):
            _patch(
                cluster,
                cr,
                {"metadata": {"finalizers": [one for one in metadata["finalizers"] if one != FINALIZER]}},
            )

    def _copy_rules(self, cluster: Cluster) -> None:
        """Copy rules, from 4.19 on, into the API group that nfd-master reads.

        Only the spec is copied, with the rule as controller of the copy, and only when the rule changes.
        """
        for rule in cluster.objects(COPIED_RULES) if cluster.served("NodeFeatureRule") else []:
            metadata = rule["metadata"]
            if self._copied.get(metadata["uid"]) == metadata.get("resourceVersion", ""):
                continue
            self._copied[metadata["uid"]] = metadata.get("resourceVersion", "")
            owner = {
                "apiVersion": rule["apiVersion"],
                "kind": rule["kind"],
                "name": metadata["name"],
                "uid": metadata["uid"],
            }
            references = [owner | {"controller": True, "blockOwnerDeletion": True}]
            place = {
                "name": metadata["name"],
                "namespace": metadata["namespace"],
                "ownerReferences": references,
            }
            cluster.apply(
                {
                    "apiVersion": "nfd.k8s-sigs.io/v1alpha1",
                    "kind": "NodeFeatureRule",
                    "metadata": place,
                    "spec": rule["spec"],
                }
            )


def conditions(cluster: Cluster, cr: Object) -> list[Object]:
    """Return the conditions, with the operator's own reasons and their spelling."""
    namespace = cr["metadata"]["namespace"]
    pinned = bool((cr["spec"].get("operand") or {}).get("image"))
    image = condition("OperandImagePinned", pinned, "OperandImageSet" if pinned else "OperandImageNotSet", "")
    daemon_set = (cluster.find("DaemonSet", WORKER, namespace) or {}).get("status") or {}
    wanted, ready = daemon_set.get("desiredNumberScheduled", 0), daemon_set.get("numberReady", 0)
    if daemon_set.get("observedGeneration") and wanted == 0:
        return [
            *_state(
                degraded="NFDWorkerDaemonSetDegraded", message="number of desired nodes for scheduling is 0"
            ),
            image,
        ]
    if wanted == 0 or ready < wanted:
        return [
            *_state(
                progressing="NFDWorkerDaemonSetProgressing",
                message=f"{ready} of {wanted} nfd-worker pods are ready",
            ),
            image,
        ]
    for name, reason in ((MASTER, "NFDMasterDeploymentProgressing"), (GC, "NFDGCDeploymentProgressing")):
        if not cluster.available(name, namespace):
            return [*_state(progressing=reason, message=f"deployment {name} is not available"), image]
    if not cluster.due(cr["metadata"]["uid"], "nfd_available", 0.2):
        return []
    return [*_state(), image]


def _state(progressing: str = "", degraded: str = "", message: str = "") -> list[Object]:
    fine = not (progressing or degraded)
    available = "AllInstanceComponentsAreDeployedSuccessfuly" if fine else progressing or degraded
    return [
        condition("Available", fine, available, message),
        condition("Upgradeable", fine, "CanBeUpgraded" if fine else "CannotBeUpgraded", message),
        condition(
            "Progressing", bool(progressing), progressing or "NotProgressing", message if progressing else ""
        ),
        condition("Degraded", bool(degraded), degraded or "NotDegraded", message if degraded else ""),
    ]


def _patch(cluster: Cluster, cr: Object, body: Object, subresource: str | None = None) -> None:
    cluster.patch(
        "NodeFeatureDiscovery", cr["metadata"]["name"], cr["metadata"]["namespace"], body, subresource
    )
