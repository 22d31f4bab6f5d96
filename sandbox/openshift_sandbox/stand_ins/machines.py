# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Stands in for the machine controller; unlike the real one it polls nothing, and a drained pod's grace period is the simulated kubelet's."""

from __future__ import annotations

import typing as t

from openshift_sandbox.stand_ins import drain
from openshift_sandbox.stand_ins.cloud import Cloud, Instance, Refusal
from openshift_sandbox.stand_ins.cloud_aws import Aws
from openshift_sandbox.stand_ins.conditions import condition, merged, timestamp
from openshift_sandbox.stand_ins.loop import Cluster, Object, Reconciler

FINALIZER: t.Final = "machine.machine.openshift.io"
INSTANCE_STATE: t.Final = "machine.openshift.io/instance-state"
CLOUDS: t.Final[dict[str, Cloud]] = {"AWS": Aws()}
CREATED: t.Final = condition("MachineCreation", True, "MachineCreationSucceeded", "Machine successfully created")
EXISTS: t.Final = condition("InstanceExists", True)
WAITS: t.Final = [
    condition("Drainable", True),
    condition("InstanceExists", False, "InstanceNotCreated", "Instance has not been created", severity="Warning"),
    condition("Terminable", True),
]


class Machines(Reconciler):
    kinds = ("Machine", "Node", "Pod", "Infrastructure")

    def reconcile(self, cluster: Cluster, now: float) -> None:
        cloud = CLOUDS.get(platform(cluster))
        if cloud is None:
            return
        for machine in cluster.objects("Machine"):
            if machine["metadata"].get("deletionTimestamp"):
                self._delete(cluster, machine)
            elif FINALIZER not in (machine["metadata"].get("finalizers") or []):
                _patch(cluster, machine, {"metadata": {"finalizers": [*(machine["metadata"].get("finalizers") or []), FINALIZER]}})
            else:
                self._advance(cluster, cloud, machine)

    def _advance(self, cluster: Cluster, cloud: Cloud, machine: Object) -> None:
        phase = phase_of(machine)
        if phase == "":
            _report(cluster, machine, WAITS, phase="Provisioning")
        elif phase == "Provisioning":
            self._provision(cluster, cloud, machine)
        elif phase == "Provisioned" and machine["status"].get("nodeRef"):
            instance = cloud.describe(machine)
            _report(cluster, machine, [EXISTS], phase="Running", providerStatus=_provider_status(machine, CREATED, instance, "running"))
            _patch(cluster, machine, {"metadata": {"annotations": {INSTANCE_STATE: "running"}}})

    def _provision(self, cluster: Cluster, cloud: Cloud, machine: Object) -> None:
        uid = machine["metadata"]["uid"]
        if not cluster.due(uid, "machine_provisioning", 0.7, slowness(cluster, machine)):
            return
        if _was_refused(machine) and not cluster.due(uid, "machine_retry", 2.0):
            return
        cluster.restart(uid, "machine_retry")
        answer = cloud.launch(cluster, machine)
        if isinstance(answer, Instance):
            self._launched(cluster, machine, answer)
        elif answer.reason:
            _report(cluster, machine, [], phase="Failed", errorReason=answer.reason, errorMessage=answer.message, providerStatus=_refused(machine, answer))
        else:
            _report(cluster, machine, [], providerStatus=_refused(machine, answer))

    def _launched(self, cluster: Cluster, machine: Object, instance: Instance) -> None:
        labels = {"region": instance.region, "zone": instance.zone, "instance-type": instance.instance_type}
        metadata = {"labels": {f"machine.openshift.io/{key}": value for key, value in labels.items()}, "annotations": {INSTANCE_STATE: "pending"}}
        _patch(cluster, machine, {"metadata": metadata, "spec": {"providerID": instance.provider_id}})
        addresses = [
            {"type": "InternalIP", "address": instance.address},
            {"type": "InternalDNS", "address": instance.host_name},
            {"type": "Hostname", "address": instance.host_name},
        ]
        provider_status = _provider_status(machine, CREATED, instance, "pending")
        _report(cluster, machine, [EXISTS], phase="Provisioned", addresses=addresses, providerStatus=provider_status)

    def _delete(self, cluster: Cluster, machine: Object) -> None:
        """Drained, then without an instance, then without a Node, then gone."""
        if FINALIZER not in (machine["metadata"].get("finalizers") or []):
            return
        if phase_of(machine) != "Deleting":
            _report(cluster, machine, [], phase="Deleting")
            return
        if _held(cluster, machine, "preDrain", "Drainable") or not self._drained(cluster, machine) or _held(cluster, machine, "preTerminate", "Terminable"):
            return
        if machine["spec"].get("providerID") and not cluster.due(machine["metadata"]["uid"], "machine_deletion", 0.5):
            return
        node = (machine.get("status", {}).get("nodeRef") or {}).get("name")
        if node and cluster.find("Node", node):
            cluster.delete("Node", node)
            drain.bury(cluster, node)
            return
        _patch(cluster, machine, {"metadata": {"finalizers": [one for one in machine["metadata"]["finalizers"] if one != FINALIZER]}})

    def _drained(self, cluster: Cluster, machine: Object) -> bool:
        node = cluster.find("Node", (machine.get("status", {}).get("nodeRef") or {}).get("name") or "")
        if node is None or drain.EXCLUDED in (machine["metadata"].get("annotations") or {}):
            return True
        if not drain.drained(cluster, node):
            return False
        _report(cluster, machine, [condition("Drained", True, message="Drain finished successfully")])
        return True


def platform(cluster: Cluster) -> str:
    status = (cluster.find("Infrastructure", "cluster") or {}).get("status", {})
    return str((status.get("platformStatus") or {}).get("type") or "")


def phase_of(machine: Object) -> str:
    return str(machine.get("status", {}).get("phase") or "")


def slowness(cluster: Cluster, machine: Object) -> float:
    """Extra seconds that a trouble `slow_machines` puts on every step."""
    provider = machine["spec"].get("providerSpec", {}).get("value") or {}
    where = {"zone": (provider.get("placement") or {}).get("availabilityZone"), "instance_type": provider.get("instanceType")}
    slow = cluster.trouble("slow_machines", **where)
    return float(slow.get("seconds", 20)) if slow else 0.0


def _provider_status(machine: Object, outcome: Object, instance: Instance | None = None, state: str = "") -> Object:
    known = machine.get("status", {}).get("providerStatus") or {}
    entry = outcome | {"lastProbeTime": timestamp()}
    found = {"instanceId": instance.instance_id, "instanceState": state} if instance else {}
    return known | found | {"conditions": merged(known.get("conditions") or [], [entry])}


def _refused(machine: Object, refusal: Refusal) -> Object:
    return _provider_status(machine, condition("MachineCreation", False, "MachineCreationFailed", refusal.message))


def _was_refused(machine: Object) -> bool:
    conditions = (machine["status"].get("providerStatus") or {}).get("conditions") or []
    return any(one["type"] == "MachineCreation" and one["status"] == "False" for one in conditions)


def _held(cluster: Cluster, machine: Object, stage: str, kind: str) -> bool:
    hooks = (machine["spec"].get("lifecycleHooks") or {}).get(stage) or []
    names = ", ".join(f"{hook['owner']}" for hook in hooks)
    message = f"Waiting on {stage} hooks to be removed: {names}"
    _report(cluster, machine, [condition(kind, False, "HookPresent", message, severity="Warning") if hooks else condition(kind, True)])
    return bool(hooks)


def _report(cluster: Cluster, machine: Object, conditions: list[Object], **fields: t.Any) -> None:
    """Write what differs of the status."""
    current = cluster.find("Machine", machine["metadata"]["name"], machine["metadata"]["namespace"]) or machine
    status = current.get("status") or {}
    wanted = fields | ({"conditions": merged(status.get("conditions") or [], conditions)} if conditions else {})
    if any(status.get(key) != value for key, value in wanted.items()):
        _patch(cluster, machine, {"status": wanted | {"lastUpdated": timestamp()}}, "status")


def _patch(cluster: Cluster, machine: Object, body: Object, subresource: str | None = None) -> None:
    cluster.patch("Machine", machine["metadata"]["name"], machine["metadata"]["namespace"], body, subresource)


RECONCILERS = (Machines,)
