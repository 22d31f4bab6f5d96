# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Stand in for the cluster-autoscaler-operator where it serves MachineAutoscalers.

The real one also has a webhook, which refuses max < min.
"""

from __future__ import annotations

import re
import typing as t

from openshift_sandbox.stand_ins.autoscaler.groups import (
    ACCELERATOR,
    MAX_SIZE,
    MIB,
    MIN_SIZE,
    OPENSHIFT,
    UPSTREAM,
)
from openshift_sandbox.stand_ins.core import events
from openshift_sandbox.stand_ins.core.reconciler import Cluster, Object, Reconciler

COMPONENT: t.Final = "machine_autoscaler_controller"
FINALIZER: t.Final = "machinetarget.autoscaling.openshift.io"
OWNER: t.Final = "autoscaling.openshift.io/machineautoscaler"
TARGET_API: t.Final = "machine.openshift.io/v1beta1"
LABEL_VALUE: t.Final = re.compile(r"[A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?")
ARTICLE: t.Final = (
    "This is not an error but may cause issues when using GPU resource limits with the Cluster "
    "Autoscaler. For more information on the proper use of"
    " these values, please see https://access.redhat.com/solutions/6055181"
)


class MachineAutoscalers(Reconciler):
    kinds = ("MachineAutoscaler", "MachineSet")

    def reconcile(self, cluster: Cluster, now: float) -> None:
        for one in cluster.objects("MachineAutoscaler"):
            if one["metadata"].get("deletionTimestamp"):
                self._delete(cluster, one)
            else:
                self._reconcile(cluster, one)

    def _reconcile(self, cluster: Cluster, one: Object) -> None:
        reference, last = one["spec"]["scaleTargetRef"], (one.get("status") or {}).get("lastTargetRef")
        if last and last != reference:
            self._release(cluster, one, last["name"])
            _patch(cluster, one, {"status": {"lastTargetRef": reference}}, "status")
        target = _target(cluster, one, reference)
        if target is None:
            text = f'Error getting target: machinesets.machine.openshift.io "{reference["name"]}" not found'
            events.record(cluster, one, COMPONENT, "FailedGetTarget", text, "Warning")
            return
        annotations = target["metadata"].get("annotations") or {}
        if annotations.get(OWNER, _name(one)) != _name(one):
            text = "Error setting target owner: already owned by another MachineAutoscaler"
            events.record(cluster, one, COMPONENT, "FailedSetOwner", text, "Warning")
            return
        if not last:
            _patch(cluster, one, {"status": {"lastTargetRef": reference}}, "status")
        if FINALIZER not in (one["metadata"].get("finalizers") or []):
            _patch(
                cluster,
                one,
                {"metadata": {"finalizers": [*(one["metadata"].get("finalizers") or []), FINALIZER]}},
            )
        bounds = {
            MIN_SIZE: str(one["spec"]["minReplicas"]),
            MAX_SIZE: str(one["spec"]["maxReplicas"]),
            OWNER: _name(one),
        }
        if any(annotations.get(key) != value for key, value in bounds.items()):
            if warning := accelerator_warning(target):
                events.record(
                    cluster, target, COMPONENT, "InvalidOrMissingGPUAcceleratorLabel", warning, "Warning"
                )
            _patch(cluster, target, {"metadata": {"annotations": upstream_copies(annotations) | bounds}})

    def _delete(self, cluster: Cluster, one: Object) -> None:
        if FINALIZER in (one["metadata"].get("finalizers") or []):
            self._release(cluster, one, one["spec"]["scaleTargetRef"]["name"])
            _patch(
                cluster,
                one,
                {
                    "metadata": {
                        "finalizers": [name for name in one["metadata"]["finalizers"] if name != FINALIZER]
                    }
                },
            )

    def _release(self, cluster: Cluster, one: Object, name: str) -> None:
        """Remove bounds and owner from the MachineSet; the copied capacity stays."""
        target = cluster.find("MachineSet", name, one["metadata"]["namespace"])
        have = (target or {}).get("metadata", {}).get("annotations") or {}
        if target and {MIN_SIZE, MAX_SIZE, OWNER} & have.keys():
            _patch(cluster, target, {"metadata": {"annotations": dict.fromkeys((MIN_SIZE, MAX_SIZE, OWNER))}})


def upstream_copies(annotations: t.Mapping[str, str]) -> dict[str, str]:
    """Return OpenShift's capacity under upstream's keys, for those that are absent.

    It is copied only when the bounds are written.
    """
    copies: dict[str, str] = {}
    if cpu := annotations.get(f"{OPENSHIFT}vCPU"):
        copies[f"{UPSTREAM}cpu"] = cpu
    if memory := annotations.get(f"{OPENSHIFT}memoryMb"):
        copies[f"{UPSTREAM}memory"] = str(int(memory) * MIB)
    if gpus := annotations.get(f"{OPENSHIFT}GPU"):
        copies |= {
            f"{UPSTREAM}gpu-count": gpus,
            f"{UPSTREAM}gpu-type": "" if gpus == "0" else "nvidia.com/gpu",
        }
    if pods := annotations.get(f"{OPENSHIFT}maxPods"):
        copies[f"{UPSTREAM}maxPods"] = pods
    return {key: value for key, value in copies.items() if key not in annotations}


def accelerator_warning(machine_set: Object) -> str | None:
    """Return the warning about a set with GPUs whose nodes will not count as GPU nodes, or None."""
    metadata = machine_set["metadata"]
    if int((metadata.get("annotations") or {}).get(f"{OPENSHIFT}GPU") or 0) < 1:
        return None
    labels = (machine_set["spec"]["template"]["spec"].get("metadata") or {}).get("labels") or {}
    if ACCELERATOR not in labels:
        return f"GPU accelerator label not found on {machine_set['kind']} {metadata['name']}. {ARTICLE}"
    if not labels[ACCELERATOR]:
        return f"GPU accelerator label is empty. {ARTICLE}"
    if not LABEL_VALUE.fullmatch(labels[ACCELERATOR]):
        return f"GPU accelerator label contains a poorly formed value: {labels[ACCELERATOR]}. {ARTICLE}"
    return None


def _target(cluster: Cluster, one: Object, reference: Object) -> Object | None:
    if (reference.get("apiVersion"), reference["kind"]) != (TARGET_API, "MachineSet"):
        return None
    return cluster.find("MachineSet", reference["name"], one["metadata"]["namespace"])


def _name(one: Object) -> str:
    return f"{one['metadata']['namespace']}/{one['metadata']['name']}"


def _patch(cluster: Cluster, obj: Object, body: Object, subresource: str | None = None) -> None:
    cluster.patch(obj["kind"], obj["metadata"]["name"], obj["metadata"]["namespace"], body, subresource)
