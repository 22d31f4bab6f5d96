# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Stand in for the controller of MachineAutoscalers: it writes their bounds on their MachineSets.

The real one also writes events, and has a webhook, which refuses max < min.
"""

from __future__ import annotations

import typing as t

from openshift_sandbox.stand_ins.core.reconciler import Cluster, Object, Reconciler

OPENSHIFT: t.Final = "machine.openshift.io/"
UPSTREAM: t.Final = "capacity.cluster-autoscaler.kubernetes.io/"
MIN_SIZE: t.Final = f"{OPENSHIFT}cluster-api-autoscaler-node-group-min-size"
MAX_SIZE: t.Final = f"{OPENSHIFT}cluster-api-autoscaler-node-group-max-size"
OWNER: t.Final = "autoscaling.openshift.io/machineautoscaler"
FINALIZER: t.Final = "machinetarget.autoscaling.openshift.io"


class MachineAutoscalers(Reconciler):
    kinds = ("MachineAutoscaler", "MachineSet")

    def reconcile(self, cluster: Cluster, now: float) -> None:
        for one in cluster.objects("MachineAutoscaler"):
            namespace = one["metadata"]["namespace"]
            target = cluster.find("MachineSet", one["spec"]["scaleTargetRef"]["name"], namespace)
            if one["metadata"].get("deletionTimestamp"):
                _release(cluster, one, target)
            elif target is not None:
                _mark(cluster, one, target)


def _mark(cluster: Cluster, one: Object, target: Object) -> None:
    name = f"{one['metadata']['namespace']}/{one['metadata']['name']}"
    annotations = target["metadata"].get("annotations") or {}
    if annotations.get(OWNER, name) != name:
        return
    finalizers = one["metadata"].get("finalizers") or []
    if FINALIZER not in finalizers:
        _patch(cluster, one, {"metadata": {"finalizers": [*finalizers, FINALIZER]}})
    least, most = one["spec"]["minReplicas"], one["spec"]["maxReplicas"]
    wanted = {MIN_SIZE: str(least), MAX_SIZE: str(most), OWNER: name}
    if not wanted.items() <= annotations.items():
        _patch(cluster, target, {"metadata": {"annotations": upstream_copies(annotations) | wanted}})


def _release(cluster: Cluster, one: Object, target: Object | None) -> None:
    """Remove bounds and owner from the MachineSet; the copied capacity stays."""
    have = (target or {}).get("metadata", {}).get("annotations") or {}
    if target and {MIN_SIZE, MAX_SIZE, OWNER} & have.keys():
        _patch(cluster, target, {"metadata": {"annotations": dict.fromkeys((MIN_SIZE, MAX_SIZE, OWNER))}})
    finalizers = one["metadata"].get("finalizers") or []
    if FINALIZER in finalizers:
        left = [name for name in finalizers if name != FINALIZER]
        _patch(cluster, one, {"metadata": {"finalizers": left}})


def upstream_copies(annotations: t.Mapping[str, str]) -> dict[str, str]:
    """Return OpenShift's capacity under upstream's keys, for those that are absent."""
    keys = {"vCPU": "cpu", "GPU": "gpu-count", "maxPods": "maxPods"}
    copies = {
        f"{UPSTREAM}{theirs}": annotations[f"{OPENSHIFT}{ours}"]
        for ours, theirs in keys.items()
        if f"{OPENSHIFT}{ours}" in annotations
    }
    return {key: value for key, value in copies.items() if key not in annotations}


def _patch(cluster: Cluster, obj: Object, body: Object) -> None:
    cluster.patch(obj["kind"], obj["metadata"]["name"], obj["metadata"]["namespace"], body)
