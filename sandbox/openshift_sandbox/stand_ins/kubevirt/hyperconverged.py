# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Stand in for the operator of HyperConverged: it writes KubeVirt's configuration, and conditions.

The real one also configures storage, networks and templates, has webhooks and finalizers, and refuses to go
while virtual machines exist. KubeVirt's CRDs come at once here, without virt-operator and its Deployments.
"""

from __future__ import annotations

import typing as t

from openshift_sandbox.catalogue import crds
from openshift_sandbox.programs import virtualization
from openshift_sandbox.sandbox import Sandbox
from openshift_sandbox.stand_ins.core.conditions import condition, merged
from openshift_sandbox.stand_ins.core.reconciler import Cluster, Object, Reconciler

OPERATOR: t.Final = "hco-operator"
NAME: t.Final = "kubevirt-hyperconverged"
KUBEVIRT: t.Final = f"kubevirt-{NAME}"
API: t.Final = "hco.kubevirt.io/v1beta1"
CRD: t.Final = "CustomResourceDefinition"
DONE: t.Final = "ReconcileCompleted"
# Name of the selector in HyperConverged, and in KubeVirt.
SELECTORS: t.Final = {
    "pciHostDevices": ("pciDeviceSelector", "pciVendorSelector"),
    "mediatedDevices": ("mdevNameSelector", "mdevNameSelector"),
}


def permitted(spec: Object) -> Object | None:
    """Return KubeVirt's list of permitted devices, without entries that are disabled; None without a list."""
    listed = spec.get("permittedHostDevices")
    if listed is None:
        return None
    found = {}
    for field, (theirs, ours) in SELECTORS.items():
        entries = [one for one in listed.get(field) or [] if not one.get("disabled")]
        found[field] = [
            {ours: one[theirs], "resourceName": one["resourceName"]}
            | ({"externalResourceProvider": True} if one.get("externalResourceProvider") else {})
            for one in entries
        ]
    return {field: entries for field, entries in found.items() if entries}


def mediated(spec: Object) -> Object | None:
    """Return KubeVirt's configuration of mediated devices; switched off by a feature gate."""
    types = spec.get("mediatedDevicesConfiguration")
    off = (spec.get("featureGates") or {}).get("disableMDevConfiguration")
    if types is None and not off:
        return None
    return (types or {}) | ({"enabled": False} if off else {})


def kubevirt(hyperconverged: Object) -> Object:
    """Return the KubeVirt object that a HyperConverged asks for, as on a cluster of several nodes."""
    metadata, spec = hyperconverged["metadata"], hyperconverged.get("spec") or {}
    owner = {"apiVersion": API, "kind": "HyperConverged", "name": NAME, "uid": metadata["uid"]}
    parts = {"permittedHostDevices": permitted(spec), "mediatedDevicesConfiguration": mediated(spec)}
    strategy = spec.get("evictionStrategy") or "LiveMigrate"
    return {
        "apiVersion": "kubevirt.io/v1",
        "kind": "KubeVirt",
        "metadata": {
            "name": KUBEVIRT,
            "namespace": metadata["namespace"],
            "ownerReferences": [owner | {"controller": True, "blockOwnerDeletion": True}],
        },
        "spec": {
            "configuration": {"evictionStrategy": strategy}
            | {key: value for key, value in parts.items() if value is not None}
        },
    }


def status() -> list[Object]:
    """Return the conditions of a HyperConverged that works."""
    done = "Reconcile completed successfully"
    return [
        condition("ReconcileComplete", True, DONE, done),
        condition("Available", True, DONE, done),
        condition("Progressing", False, DONE, done),
        condition("Degraded", False, DONE, done),
        condition("Upgradeable", True, DONE, done),
    ]


class HyperConvergeds(Reconciler):
    kinds = (CRD, "Deployment", "HyperConverged", "KubeVirt")

    def __init__(self) -> None:
        self._applied: dict[str, Object] = {}

    def reconcile(self, cluster: Cluster, now: float) -> None:
        self._convert(cluster)
        for found in cluster.objects("HyperConverged"):
            metadata = found["metadata"]
            if (
                metadata["name"] == NAME
                and not metadata.get("deletionTimestamp")
                and cluster.available(OPERATOR, metadata["namespace"])
                and cluster.due((metadata["uid"], metadata["generation"]), "hyperconverged", 0.3)
            ):
                self._serve(cluster, found)

    def _convert(self, cluster: Cluster) -> None:
        """Register the converter, which OLM does for the real one from what the bundle says."""
        crd = cluster.find(CRD, virtualization.HYPERCONVERGEDS)
        if crd and (crd["spec"].get("conversion") or {}).get("strategy") != "Webhook":
            conversion = virtualization.conversion(Sandbox(cluster.directory))
            cluster.patch(CRD, crd["metadata"]["name"], None, {"spec": {"conversion": conversion}})

    def _serve(self, cluster: Cluster, found: Object) -> None:
        missing = [one for one in crds.kubevirt_crds() if cluster.find(CRD, one["metadata"]["name"]) is None]
        for crd in missing:
            cluster.apply(crd)
        if missing or not cluster.served("KubeVirt"):
            return
        metadata, wanted = found["metadata"], kubevirt(found)
        live = cluster.find("KubeVirt", KUBEVIRT, metadata["namespace"])
        if live is None or self._applied.get(metadata["uid"]) != wanted:
            cluster.apply(wanted)
            self._applied[metadata["uid"]] = wanted
        known = (found.get("status") or {}).get("conditions") or []
        news = merged(known, status())
        if news != known or (found.get("status") or {}).get("observedGeneration") != metadata["generation"]:
            body = {
                "conditions": news,
                "observedGeneration": metadata["generation"],
                "systemHealthStatus": "healthy",
            }
            cluster.patch("HyperConverged", NAME, metadata["namespace"], {"status": body}, "status")
