# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Stand in for the Special Resource Operator of 2022: it turns a chart into one DaemonSet.

The real one rendered Helm charts, and had a Deployment.
"""

from __future__ import annotations

import typing as t

from openshift_sandbox.stand_ins.core.conditions import condition, merged
from openshift_sandbox.stand_ins.core.reconciler import Cluster, Object, Reconciler
from openshift_sandbox.stand_ins.gpu_operator.readiness import daemon_set_ready

API: t.Final = "sro.openshift.io/v1beta1"


def daemon_set(special: Object) -> Object:
    """Return what the chart `simple-kmod` rendered.

    A container that keeps a kernel module loaded while it runs.
    """
    metadata, spec = special["metadata"], special["spec"]
    chart, labels = (
        spec["chart"],
        {"app": spec["chart"]["name"], "specialresource.openshift.io/owned": "true"},
    )
    owner = {
        "apiVersion": API,
        "kind": "SpecialResource",
        "name": metadata["name"],
        "uid": metadata["uid"],
        "controller": True,
        "blockOwnerDeletion": True,
    }
    container = {"name": "driver", "image": f"registry.example.com/{chart['name']}:v{chart['version']}"}
    pod = {
        "nodeSelector": spec.get("nodeSelector") or {"node-role.kubernetes.io/worker": ""},
        "containers": [container],
    }
    return {
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "metadata": {
            "name": f"{chart['name']}-driver-container",
            "namespace": spec["namespace"],
            "labels": labels,
            "ownerReferences": [owner],
        },
        "spec": {
            "selector": {"matchLabels": {"app": chart["name"]}},
            "template": {"metadata": {"labels": labels}, "spec": pod},
        },
    }


class SpecialResources(Reconciler):
    kinds = ("DaemonSet", "Namespace", "SpecialResource")

    def __init__(self) -> None:
        self._applied: dict[str, Object] = {}

    def reconcile(self, cluster: Cluster, now: float) -> None:
        for special in cluster.objects("SpecialResource"):
            metadata = special["metadata"]
            if not metadata.get("deletionTimestamp") and cluster.due(
                (metadata["uid"], metadata["generation"]), "sro", 0.3
            ):
                self._reconcile(cluster, special)

    def _reconcile(self, cluster: Cluster, special: Object) -> None:
        namespace, wanted = special["spec"]["namespace"], daemon_set(special)
        if cluster.find("Namespace", namespace) is None:
            cluster.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}})
        live = cluster.find("DaemonSet", wanted["metadata"]["name"], namespace)
        if live is None or self._applied.get(special["metadata"]["uid"]) != wanted:
            live, self._applied[special["metadata"]["uid"]] = cluster.apply(wanted), wanted
        trouble, done = cluster.trouble("sro_errored"), daemon_set_ready(live)
        error = str(trouble.get("text", "chart could not be rendered")) if trouble else ""
        found = [
            condition("Ready", done and not error, "Success" if done and not error else "NotReady", ""),
            condition("Progressing", not done and not error, "Progressing" if not done else "Success", ""),
            condition("Errored", bool(error), "ChartFailure" if error else "Success", error),
        ]
        before = special.get("status") or {}
        status = {
            "state": "Errored" if error else "Ready" if done else "Progressing",
            "conditions": merged(before.get("conditions") or [], found),
        }
        if before != status:
            cluster.patch("SpecialResource", special["metadata"]["name"], None, {"status": status}, "status")
