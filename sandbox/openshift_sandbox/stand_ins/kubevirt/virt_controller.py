# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Stand in for virt-controller and virt-handler: virtual machines get an instance and a pod, and run.

The real ones also start a guest, migrate machines, and have disks and networks; here the pod that is Ready is
the machine that runs. Compared with virt-controller of v1.8: without a list of permitted devices at all
nothing is refused, and the pod waits for a resource that no node has. The launcher's pod never restarts
there; here one that does not restart would end.
"""

from __future__ import annotations

import hashlib
import typing as t

from openshift_sandbox.client import ApiError
from openshift_sandbox.stand_ins.core import events
from openshift_sandbox.stand_ins.core.conditions import condition, find, holds, merged
from openshift_sandbox.stand_ins.core.reconciler import Cluster, Object, Reconciler
from openshift_sandbox.stand_ins.kubevirt.evictions import API, CREATED_BY, DOMAIN, LAUNCHER, devices
from openshift_sandbox.stand_ins.kubevirt.virtual_machines import IMAGE

VM, INSTANCE = "VirtualMachine", "VirtualMachineInstance"
STARTED: t.Final = ("Always", "RerunOnFailure", "Once")
FINAL: t.Final = ("Succeeded", "Failed")
NOT_MIGRATABLE: t.Final = condition(
    "LiveMigratable", False, "HostDeviceNotLiveMigratable", "VMI uses a PCI host devices"
)
NOT_THERE: t.Final = condition("Ready", False, "PodNotExists", "virt-launcher pod has not yet been scheduled")


def refusal(spec: Object, configuration: Object) -> str:
    """Return why the pod of a machine cannot be made, in KubeVirt's words, or an empty text."""
    listed = configuration.get("permittedHostDevices")
    if listed is None:
        return ""
    known = {one["resourceName"] for entries in listed.values() for one in entries}
    errors = [
        f"{word} {resource} is not permitted in permittedHostDevices configuration"
        for word, resource in devices(spec)
        if resource not in known
    ]
    return f"failed to render launch manifest: {' '.join(errors)}" if errors else ""


def launcher(instance: Object) -> Object:
    """Return the pod of a machine."""
    metadata, spec = instance["metadata"], instance["spec"]
    name, uid = metadata["name"], metadata["uid"]
    resources: dict[str, int] = {}
    for _word, resource in devices(spec):
        resources[resource] = resources.get(resource, 0) + 1
    amounts = {resource: str(count) for resource, count in resources.items()}
    requests = {"cpu": "100m", "memory": "256Mi", **amounts}
    owner = {"apiVersion": API, "kind": INSTANCE, "name": name, "uid": uid}
    placed = {key: spec[key] for key in ("nodeSelector", "affinity", "tolerations") if key in spec}
    container = {
        "name": "compute",
        "image": IMAGE,
        "command": ["/usr/bin/virt-launcher-monitor", "--name", name],
        "resources": {"requests": requests, "limits": amounts},
    }
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": f"virt-launcher-{name}-{hashlib.sha256(uid.encode()).hexdigest()[:5]}",
            "namespace": metadata["namespace"],
            "labels": {
                **(metadata.get("labels") or {}),
                **LAUNCHER,
                CREATED_BY: uid,
                "vm.kubevirt.io/name": name,
            },
            "annotations": {DOMAIN: name},
            "ownerReferences": [owner | {"controller": True, "blockOwnerDeletion": True}],
        },
        "spec": {"restartPolicy": "Always", "containers": [container], **placed},
    }


def is_wanted(machine: Object) -> bool:
    """Return whether a machine shall run."""
    spec = machine["spec"]
    return bool(spec.get("running")) or spec.get("runStrategy") in STARTED


def shown(machine: Object, instance: Object | None) -> str:
    """Return the word of `status.printableStatus`."""
    phase = ((instance or {}).get("status") or {}).get("phase")
    if instance is None:
        return "Starting" if is_wanted(machine) else "Stopped"
    if instance["metadata"].get("deletionTimestamp") or not is_wanted(machine):
        return "Stopping"
    if find(instance, "PodScheduled").get("reason") == "Unschedulable":
        return "ErrorUnschedulable"
    return "Running" if phase == "Running" else "Starting"


class VirtController(Reconciler):
    kinds = ("KubeVirt", "Pod", VM, INSTANCE)

    def reconcile(self, cluster: Cluster, now: float) -> None:
        configuration = next(
            ((one.get("spec") or {}).get("configuration") or {} for one in cluster.objects("KubeVirt")), None
        )
        if configuration is None:
            return
        for machine in cluster.objects(VM):
            if not machine["metadata"].get("deletionTimestamp"):
                self._machine(cluster, machine)
        pods = cluster.objects("Pod")
        for instance in cluster.objects(INSTANCE):
            if not instance["metadata"].get("deletionTimestamp"):
                uid = instance["metadata"]["uid"]
                made = [one for one in pods if (one["metadata"].get("labels") or {}).get(CREATED_BY) == uid]
                self._instance(cluster, instance, made[0] if made else None, configuration)

    def _machine(self, cluster: Cluster, machine: Object) -> None:
        """Start or end the instance of a machine, and write what it does."""
        name, namespace = machine["metadata"]["name"], machine["metadata"]["namespace"]
        instance = cluster.find(INSTANCE, name, namespace)
        phase = ((instance or {}).get("status") or {}).get("phase")
        is_over = phase in FINAL or not is_wanted(machine)
        if instance is None and is_wanted(machine):
            instance = self._start(cluster, machine)
        elif instance and is_over and not instance["metadata"].get("deletionTimestamp"):
            cluster.delete(INSTANCE, name, namespace)
        found = (instance or {}).get("status") or {}
        ready = holds(instance, "Ready")
        conditions = found.get("conditions") or [NOT_THERE]
        known = (machine.get("status") or {}).get("conditions") or []
        kept = [one for one in known if one["type"] in {other["type"] for other in conditions}]
        status = {
            "created": instance is not None,
            "ready": ready,
            "printableStatus": shown(machine, instance),
            "conditions": merged(kept, [dict(one) for one in conditions]),
        }
        if any((machine.get("status") or {}).get(key) != value for key, value in status.items()):
            cluster.patch(VM, name, namespace, {"status": status}, "status")

    def _start(self, cluster: Cluster, machine: Object) -> Object | None:
        metadata, template = machine["metadata"], machine["spec"]["template"]
        owner = {"apiVersion": API, "kind": VM, "name": metadata["name"], "uid": metadata["uid"]}
        made = {
            "apiVersion": API,
            "kind": INSTANCE,
            "metadata": {
                "name": metadata["name"],
                "namespace": metadata["namespace"],
                "labels": (template.get("metadata") or {}).get("labels") or {},
                "ownerReferences": [owner | {"controller": True, "blockOwnerDeletion": True}],
            },
            "spec": template["spec"],
        }
        try:
            return cluster.create(made)
        except ApiError as error:
            if error.status != 409:
                raise
            return None

    def _instance(
        self, cluster: Cluster, instance: Object, pod: Object | None, configuration: Object
    ) -> None:
        before = instance.get("status") or {}
        phase = before.get("phase") or "Pending"
        if phase in FINAL:
            return
        if pod is None and before.get("evacuationNodeName"):  # it has migrated
            self._write(cluster, instance, {"phase": "Pending", "evacuationNodeName": None}, [NOT_THERE])
        elif pod is None and phase != "Pending":
            self._write(cluster, instance, {"phase": "Failed"}, [NOT_THERE])
        elif pod is None:
            self._launch(cluster, instance, configuration)
        else:
            self._follow(cluster, instance, pod)

    def _launch(self, cluster: Cluster, instance: Object, configuration: Object) -> None:
        """Make the pod of an instance, or say why there is none."""
        refused = refusal(instance["spec"], configuration)
        if not refused:
            pod = launcher(instance)
            try:
                cluster.create(pod)
            except ApiError as error:
                if error.status == 409:
                    return
                refused = f"failed to create virtual machine pod: {error.message}"
            else:
                text = f"Created virtual machine pod {pod['metadata']['name']}"
                events.record(cluster, instance, "virtualmachine-controller", "SuccessfulCreate", text)
                self._write(cluster, instance, {"phase": "Scheduling"}, [NOT_THERE])
                return
        found = [condition("Synchronized", False, "FailedCreate", refused), NOT_THERE]
        self._write(cluster, instance, {"phase": "Pending"}, found)

    def _follow(self, cluster: Cluster, instance: Object, pod: Object) -> None:
        """Write what the pod of an instance does."""
        waits = find(pod, "PodScheduled")
        if waits.get("status") == "False":
            late = condition("PodScheduled", False, waits.get("reason"), waits.get("message"))
            self._write(cluster, instance, {"phase": "Scheduling"}, [NOT_THERE, late])
            return
        node = pod["spec"].get("nodeName")
        if not holds(pod, "Ready") or pod["metadata"].get("deletionTimestamp"):
            going = condition("Ready", False, "GuestNotRunning", "Guest VM is not reported as running")
            phase = "Running" if (instance.get("status") or {}).get("phase") == "Running" else "Scheduled"
            self._write(cluster, instance, {"phase": phase, "nodeName": node}, [going])
            return
        migratable = NOT_MIGRATABLE if devices(instance["spec"]) else condition("LiveMigratable", True)
        self._write(
            cluster, instance, {"phase": "Running", "nodeName": node}, [condition("Ready", True), migratable]
        )

    def _write(self, cluster: Cluster, instance: Object, fields: Object, found: list[Object]) -> None:
        """Write the status of an instance. Conditions that are not in `found` go."""
        before, metadata = instance.get("status") or {}, instance["metadata"]
        kinds = {one["type"] for one in found}
        kept = [one for one in before.get("conditions") or [] if one["type"] in kinds]
        status = fields | {"conditions": merged(kept, [dict(one) for one in found])}
        if any(before.get(key) != value for key, value in status.items()):
            cluster.patch(INSTANCE, metadata["name"], metadata["namespace"], {"status": status}, "status")
