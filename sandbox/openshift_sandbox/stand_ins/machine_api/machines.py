# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Stand in for the machine controller.

Unlike the real one it polls nothing, and the simulated kubelet decides how long a drained pod takes to end.
"""

from __future__ import annotations

import typing as t

from openshift_sandbox.stand_ins.clouds.cloud import (
    Cloud,
    Instance,
    Lost,
    Refusal,
    Waiting,
    provider_spec,
    where,
)
from openshift_sandbox.stand_ins.clouds.registry import cloud_of
from openshift_sandbox.stand_ins.core import drain, events
from openshift_sandbox.stand_ins.core.conditions import condition, holds, merged, timestamp
from openshift_sandbox.stand_ins.core.reconciler import Cluster, Object, Reconciler
from openshift_sandbox.stand_ins.machine_api import authority
from openshift_sandbox.stand_ins.machine_api.lost_instances import LostInstances

FINALIZER: t.Final = "machine.machine.openshift.io"
INSTANCE_STATE: t.Final = "machine.openshift.io/instance-state"
INTERRUPTIBLE: t.Final = "machine.openshift.io/interruptible-instance"
UNKNOWN_STATE: t.Final = "Unknown"
EXISTS: t.Final = condition("InstanceExists", True)
WAITS: t.Final = [
    condition(
        "InstanceExists", False, "InstanceNotCreated", "Instance has not been created", severity="Warning"
    )
]
MISSING: t.Final = condition(
    "InstanceExists", False, "InstanceMissing", "Instance not found on provider", severity="Warning"
)


class Machines(Reconciler):
    kinds = ("BareMetalHost", "Infrastructure", "Machine", "Node", "Pod")

    def __init__(self) -> None:
        self._drains = drain.Drains()
        self._losses = LostInstances()

    def reconcile(self, cluster: Cluster, now: float) -> None:
        cloud = cloud_of(cluster)
        if cloud is None:
            return
        self._losses.look(cluster, cloud)
        for machine in cluster.objects("Machine"):
            if authority.paused(cluster, machine):
                continue
            if machine["metadata"].get("deletionTimestamp"):
                self._delete(cluster, cloud, machine)
            elif FINALIZER not in (machine["metadata"].get("finalizers") or []):
                _patch(
                    cluster,
                    machine,
                    {"metadata": {"finalizers": [*(machine["metadata"].get("finalizers") or []), FINALIZER]}},
                )
            else:
                self._advance(cluster, cloud, machine)

    def _advance(self, cluster: Cluster, cloud: Cloud, machine: Object) -> None:
        phase = phase_of(machine)
        if phase == "":
            _report(cluster, machine, WAITS, phase="Provisioning")
        elif (
            phase != "Failed"
            and machine["spec"].get("providerID")
            and (lost := cloud.lost(cluster, machine) or self._losses.lost(machine))
        ):
            self._lost(cluster, cloud, machine, lost)
        elif phase == "Running":
            _report(cluster, machine, [])
        elif phase == "Provisioning":
            self._provision(cluster, cloud, machine)
        elif phase == "Provisioned" and machine["status"].get("nodeRef"):
            instance = cloud.describe(cluster, machine)
            _report(
                cluster, machine, [EXISTS], phase="Running", providerStatus=_created(cloud, machine, instance)
            )
            _patch(cluster, machine, {"metadata": {"annotations": {INSTANCE_STATE: instance.state}}})

    def _provision(self, cluster: Cluster, cloud: Cloud, machine: Object) -> None:
        uid = machine["metadata"]["uid"]
        if machine["spec"].get("providerID"):
            return
        if not cluster.due(uid, "machine_provisioning", 0.7, slowness(cluster, machine)):
            return
        if _was_refused(machine, cloud) and not cluster.due(uid, "machine_retry", 2.0):
            return
        cluster.restart(uid, "machine_retry")
        answer = cloud.launch(cluster, machine)
        if isinstance(answer, Instance):
            self._launched(cluster, cloud, machine, answer)
        elif isinstance(answer, Waiting):
            _report(cluster, machine, [], errorReason=answer.reason, errorMessage=answer.message)
        else:
            _refuse(cluster, cloud, machine, answer)

    def _launched(self, cluster: Cluster, cloud: Cloud, machine: Object, instance: Instance) -> None:
        wanted = instance.wanted
        labels = {"region": wanted.region, "zone": wanted.zone, "instance-type": wanted.instance_type}
        spot = {INTERRUPTIBLE: ""} if wanted.interruptible else {}
        told = {f"machine.openshift.io/{key}": value for key, value in labels.items() if value}
        metadata = {
            "labels": told | spot,
            "annotations": {INSTANCE_STATE: instance.state} | cloud.machine_annotations(instance),
        }
        spec: Object = {"providerID": instance.provider_id} | ({"metadata": {"labels": spot}} if spot else {})
        _patch(cluster, machine, {"metadata": metadata, "spec": spec})
        addresses = [{"type": kind, "address": address} for kind, address in instance.addresses]
        fields = {
            "phase": "Provisioned" if instance.provisioned else "Provisioning",
            "errorReason": None,
            "errorMessage": None,
        }
        _report(
            cluster,
            machine,
            [EXISTS],
            **fields,
            addresses=addresses,
            providerStatus=_created(cloud, machine, instance),
        )

    def _lost(self, cluster: Cluster, cloud: Cloud, machine: Object, lost: Lost) -> None:
        """Make the Machine Failed.

        Delete the Node of a lost instance, as the cloud's node controller does.
        """
        if not cluster.due(machine["metadata"]["uid"], "instance_lost", 1.0):
            return
        _fail(cluster, cloud, machine, lost.message, lost.reason, [MISSING] if lost.missing else [])
        node = (machine["status"].get("nodeRef") or {}).get("name")
        if node and cluster.find("Node", node):
            cluster.delete("Node", node)
            drain.bury(cluster, node)

    def _delete(self, cluster: Cluster, cloud: Cloud, machine: Object) -> None:
        """Drain the node, end the instance, delete the Node, then let the Machine go."""
        if FINALIZER not in (machine["metadata"].get("finalizers") or []):
            return
        if phase_of(machine) != "Deleting":
            _report(cluster, machine, [], phase="Deleting")
            return
        _report(cluster, machine, [])
        if not holds(machine, "Drained"):
            if drained := self._drains.finished(cluster, machine):
                _report(cluster, machine, [drained])
            return
        if (machine["spec"].get("lifecycleHooks") or {}).get("preTerminate"):
            return
        if not cloud.terminated(cluster, machine):
            return
        if nodes := _nodes(cluster, machine):
            for node in nodes:
                cluster.delete("Node", node)
                drain.bury(cluster, node)
            return
        _patch(
            cluster,
            machine,
            {
                "metadata": {
                    "finalizers": [one for one in machine["metadata"]["finalizers"] if one != FINALIZER]
                }
            },
        )


def phase_of(machine: Object) -> str:
    """Return the phase of a Machine, or an empty text."""
    return str(machine.get("status", {}).get("phase") or "")


def _nodes(cluster: Cluster, machine: Object) -> list[str]:
    """Return the Nodes of the instance: a Machine that was deleted while its node joined never named it.

    The cloud's node controller deletes such a Node.
    """
    provider_id = machine["spec"].get("providerID")
    named = ((machine.get("status") or {}).get("nodeRef") or {}).get("name")
    return [
        node["metadata"]["name"]
        for node in cluster.objects("Node")
        if node["metadata"]["name"] == named
        or (provider_id and node["spec"].get("providerID") == provider_id)
    ]


def slowness(cluster: Cluster, machine: Object) -> float:
    """Return the seconds that a trouble `slow_machines` adds to every step."""
    cloud = cloud_of(cluster)
    slow = cluster.trouble("slow_machines", **where(cloud.wanted(provider_spec(machine)))) if cloud else None
    return float(slow.get("seconds", 20)) if slow else 0.0


def _provider_status(cloud: Cloud, machine: Object, outcome: list[Object], found: Object) -> Object | None:
    if not cloud.keeps_status:
        return None
    known = machine.get("status", {}).get("providerStatus") or {}
    conditions = {"conditions": merged(known.get("conditions") or [], outcome)} if outcome else {}
    return known | found | conditions


def _created(cloud: Cloud, machine: Object, instance: Instance) -> Object | None:
    return _provider_status(
        cloud, machine, cloud.outcome(True, cloud.created_message), cloud.provider_status(instance)
    )


def _refuse(cluster: Cluster, cloud: Cloud, machine: Object, answer: Refusal) -> None:
    if cloud.events_from:
        events.record(cluster, machine, cloud.events_from, "FailedCreate", answer.message, "Warning")
    if answer.reason:
        _fail(
            cluster,
            cloud,
            machine,
            answer.error or answer.message,
            answer.reason,
            [],
            _refused(machine, cloud, answer),
        )
    else:
        _report(cluster, machine, [], providerStatus=_refused(machine, cloud, answer))


def _refused(machine: Object, cloud: Cloud, refusal: Refusal) -> Object | None:
    return _provider_status(
        cloud, machine, cloud.outcome(False, refusal.message) if refusal.condition else [], {}
    )


def _was_refused(machine: Object, cloud: Cloud) -> bool:
    conditions = (machine["status"].get("providerStatus") or {}).get("conditions") or []
    return any(one["type"] == cloud.created and one["status"] == "False" for one in conditions)


def _fail(
    cluster: Cluster,
    cloud: Cloud,
    machine: Object,
    message: str,
    reason: str | None,
    conditions: list[Object],
    provider_status: Object | None = None,
) -> None:
    """Make a Machine Failed. The state that the provider reported last is not valid any more."""
    status = provider_status if provider_status is not None else _provider_status(cloud, machine, [], {})
    if status and cloud.state_field in status:
        status |= {cloud.state_field: UNKNOWN_STATE}
    _patch(cluster, machine, {"metadata": {"annotations": {INSTANCE_STATE: UNKNOWN_STATE}}})
    _report(
        cluster,
        machine,
        conditions,
        phase="Failed",
        errorReason=reason,
        errorMessage=message,
        providerStatus=status,
    )


def _report(cluster: Cluster, machine: Object, conditions: list[Object], **fields: t.Any) -> None:
    """Write what differs in the status; look at lifecycle hooks each time."""
    current = (
        cluster.find("Machine", machine["metadata"]["name"], machine["metadata"]["namespace"]) or machine
    )
    status = current.get("status") or {}
    wanted = fields | {
        "conditions": merged(status.get("conditions") or [], [*drain.hook_conditions(machine), *conditions])
    }
    if any(status.get(key) != value for key, value in wanted.items()):
        _patch(cluster, machine, {"status": wanted | {"lastUpdated": timestamp()}}, "status")


def _patch(cluster: Cluster, machine: Object, body: Object, subresource: str | None = None) -> None:
    cluster.patch("Machine", machine["metadata"]["name"], machine["metadata"]["namespace"], body, subresource)
