# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Stand in for the operator of an FPGA vendor: it turns an FpgaStack into a DaemonSet and conditions.

This product does not exist; the real ones of vendors also flash images.
"""

from __future__ import annotations

import typing as t

from openshift_sandbox.stand_ins.core.conditions import condition, merged
from openshift_sandbox.stand_ins.core.reconciler import Cluster, Object, Reconciler
from openshift_sandbox.stand_ins.gpu_operator.readiness import daemon_set_ready

NAME: t.Final = "fpga-operator"
API: t.Final = "fpga.example.com/v1"


def plugin(stack: Object) -> Object:
    """Return the DaemonSet of the device plugin."""
    metadata, spec = stack["metadata"], stack["spec"]
    name, labels = f"{metadata['name']}-device-plugin", {"app": f"{metadata['name']}-device-plugin"}
    args = [f"--resource-name={spec['resourceName']}", f"--devices={spec['devicesPerNode']}"]
    pod = {
        "nodeSelector": spec["nodeSelector"],
        "tolerations": spec.get("tolerations") or [],
        "containers": [{"name": "plugin", "image": spec["image"], "args": args}],
    }
    owner = {
        "apiVersion": API,
        "kind": "FpgaStack",
        "name": metadata["name"],
        "uid": metadata["uid"],
        "controller": True,
        "blockOwnerDeletion": True,
    }
    return {
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "metadata": {
            "name": name,
            "namespace": metadata["namespace"],
            "labels": labels,
            "ownerReferences": [owner],
        },
        "spec": {
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": pod},
        },
    }


class FpgaOperator(Reconciler):
    kinds = ("DaemonSet", "Deployment", "FpgaStack")

    def reconcile(self, cluster: Cluster, now: float) -> None:
        deployment = next(
            (one for one in cluster.objects("Deployment") if one["metadata"]["name"] == NAME), None
        )
        if deployment is None or not cluster.available(NAME, deployment["metadata"]["namespace"]):
            return
        for stack in cluster.objects("FpgaStack"):
            if not stack["metadata"].get("deletionTimestamp") and cluster.due(
                (stack["metadata"]["uid"], stack["metadata"]["generation"]), "fpga_operator", 0.3
            ):
                self._reconcile(cluster, stack)

    def _reconcile(self, cluster: Cluster, stack: Object) -> None:
        metadata, trouble = stack["metadata"], cluster.trouble("fpga_degraded")
        live = cluster.find("DaemonSet", f"{metadata['name']}-device-plugin", metadata["namespace"])
        if (
            live is None
            or live["spec"]["template"]["spec"]["containers"][0].get("args")
            != plugin(stack)["spec"]["template"]["spec"]["containers"][0]["args"]
        ):
            live = cluster.apply(plugin(stack))
        done = daemon_set_ready(live) or cluster.trouble("fpga_lies") is not None
        degraded = str(trouble.get("text", "firmware of card 0 cannot be read")) if trouble else ""
        conditions = [
            condition("Available", done and not degraded, "PluginReady" if done else "PluginNotReady", ""),
            condition("Degraded", bool(degraded), "CardFailed" if degraded else "AsExpected", degraded),
        ]
        before = stack.get("status") or {}
        status = {
            "observedGeneration": metadata["generation"],
            "conditions": merged(before.get("conditions") or [], conditions),
        }
        if any(before.get(key) != value for key, value in status.items()):
            cluster.patch("FpgaStack", metadata["name"], metadata["namespace"], {"status": status}, "status")
