# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Stand in for the bare metal operator and Ironic: hosts pass from state to state.

Unlike the real ones it connects to no BMC, and inspects, cleans and writes no machine.
"""

from __future__ import annotations

import typing as t

from openshift_sandbox.stand_ins.core.boots import restart
from openshift_sandbox.stand_ins.core.conditions import timestamp
from openshift_sandbox.stand_ins.core.reconciler import Cluster, Object, Reconciler
from openshift_sandbox.stand_ins.core.troubles import on_node

AUTOSCALE: t.Final = "metal3.io/autoscale-to-hosts"
REBOOT: t.Final = "reboot.metal3.io"
FREE: t.Final = ("available", "ready")
ERRORS: t.Final = {
    "registration error": "registering",
    "inspection error": "inspecting",
    "preparation error": "preparing",
    "provisioning error": "provisioning",
}
"""The state of a host while it has an error of that type."""
TEXTS: t.Final = {
    "registration error": (
        "Failed to get power state for node {node}. Error: Redfish exception occurred. Error: HTTP GET "
        "{bmc} returned code 401."
    ),
    "inspection error": "timeout reached while inspecting the node",
    "provisioning error": "Image provisioning failed (url: ): Timeout reached while waiting for callback "
    "for node {node}",
}


class BareMetalHosts(Reconciler):
    """The states of all BareMetalHosts, and the size of the MachineSets that follow their hosts."""

    kinds = ("BareMetalHost", "Machine", "MachineSet", "Node", "Pod")

    def reconcile(self, cluster: Cluster, now: float) -> None:
        for host in cluster.objects("BareMetalHost"):
            status = host.get("status") or {}
            if status.get("provisioning"):
                reboot(cluster, host)
                self._advance(cluster, host, status["provisioning"]["state"])
        for machine_set in cluster.objects("MachineSet"):
            if AUTOSCALE in (machine_set["metadata"].get("annotations") or {}):
                self._scale(cluster, machine_set)

    def _scale(self, cluster: Cluster, machine_set: Object) -> None:
        """Set the replicas of a MachineSet to the number of its hosts, as the machine provider does."""
        metadata = machine_set["metadata"]
        count = hosts_for(
            machine_set,
            cluster.objects("BareMetalHost", metadata["namespace"]),
            cluster.objects("Machine", metadata["namespace"]),
        )
        if count is not None and machine_set["spec"].get("replicas") != count:
            cluster.patch(
                "MachineSet", metadata["name"], metadata["namespace"], {"spec": {"replicas": count}}
            )

    def _advance(self, cluster: Cluster, host: Object, state: str) -> None:
        uid, name = host["metadata"]["uid"], host["metadata"]["name"]
        trouble = cluster.trouble("host_error", host=name)
        kind = str((trouble or {}).get("error_type", "provisioning error"))
        if trouble and _struck(host, state, kind):
            self._report(
                cluster,
                host,
                ERRORS[kind],
                errorType=kind,
                errorMessage=trouble.get("message") or text(host, kind),
            )
        elif host["status"].get("errorType") and not trouble:
            self._report(
                cluster, host, "available" if state in ERRORS.values() and not wanted(host) else state
            )
        elif state in FREE and wanted(host):
            cluster.restart(uid, "host_provisioning")
            self._report(cluster, host, "provisioning")
        elif state == "provisioning" and not wanted(host):
            self._report(cluster, host, "deprovisioning")
        elif state == "provisioning" and not trouble and cluster.due(uid, "host_provisioning", 1.0):
            self._report(cluster, host, "provisioned", poweredOn=True)
        elif state == "provisioned" and not wanted(host):
            cluster.restart(uid, "host_deprovisioning")
            self._report(cluster, host, "deprovisioning")
        elif state == "deprovisioning" and cluster.due(uid, "host_deprovisioning", 0.5):
            self._report(cluster, host, "available", poweredOn=False)

    def _report(self, cluster: Cluster, host: Object, state: str, **fields: t.Any) -> None:
        """Write what differs in the status; an error that is not given is removed."""
        failed = "errorType" in fields
        told = {
            "errorType": None,
            "errorMessage": "",
            "errorCount": int(failed),
            "operationalStatus": "error" if failed else "OK",
        } | fields
        status = host["status"]
        if status["provisioning"]["state"] != state or any(
            status.get(key) != value for key, value in told.items()
        ):
            body = {"status": told | {"provisioning": {"state": state}, "lastUpdated": timestamp()}}
            cluster.patch(
                "BareMetalHost", host["metadata"]["name"], host["metadata"]["namespace"], body, "status"
            )


def reboot(cluster: Cluster, host: Object) -> None:
    """Start a provisioned host again that is annotated so, and remove the annotation."""
    metadata = host["metadata"]
    if REBOOT not in (metadata.get("annotations") or {}):
        cluster.restart(metadata["uid"], "host_reboot")
        return
    machines = cluster.objects("Machine", metadata["namespace"])
    machine: Object = next((one for one in machines if is_consumer(one, host)), {})
    name = ((machine.get("status") or {}).get("nodeRef") or {}).get("name", "")
    node = cluster.find("Node", name) if name else None
    if node is None or host["status"]["provisioning"]["state"] != "provisioned":
        return
    if not on_node(cluster, "no_reboot", node) and cluster.due(metadata["uid"], "host_reboot", 1.0):
        restart(cluster, node)
        body = {"metadata": {"annotations": {REBOOT: None}}}
        cluster.patch("BareMetalHost", metadata["name"], metadata["namespace"], body)


def hosts_for(machine_set: Object, hosts: list[Object], machines: list[Object]) -> int | None:
    """Return how many hosts a MachineSet has; None while the consumer of a host is unknown.

    These are the free hosts that the template's hostSelector matches, in any state, and the hosts of its
    Machines.
    """
    chosen = (machine_set["spec"]["template"]["spec"]["providerSpec"].get("value") or {}).get(
        "hostSelector"
    ) or {}
    members = (machine_set["spec"]["selector"].get("matchLabels") or {}).items()
    count = 0
    for host in hosts:
        reference = host["spec"].get("consumerRef")
        if not reference:
            count += selects(chosen, host)
        elif reference["kind"] == "Machine":
            consumer = next((machine for machine in machines if is_consumer(machine, host)), None)
            if consumer is None:
                return None
            count += members <= (consumer["metadata"].get("labels") or {}).items()
    return count


def is_consumer(machine: Object, host: Object) -> bool:
    """Return whether a host belongs to a Machine."""
    reference, metadata = host["spec"].get("consumerRef") or {}, machine["metadata"]
    known = tuple(reference.get(key) for key in ("apiVersion", "kind", "namespace", "name"))
    return known == (machine["apiVersion"], "Machine", metadata["namespace"], metadata["name"])


def selects(selector: Object, host: Object) -> bool:
    """Return whether a hostSelector matches the labels of a host."""
    labels = host["metadata"].get("labels") or {}
    exact = selector.get("matchLabels") or {}
    return exact.items() <= labels.items() and all(
        _fulfils(one, labels) for one in selector.get("matchExpressions") or []
    )


def text(host: Object, kind: str) -> str:
    """Return what Ironic says most often about this kind of error."""
    address = str(host["spec"]["bmc"]["address"]).replace("redfish-virtualmedia", "https")
    return TEXTS.get(kind, kind).format(node=host["status"]["provisioning"]["ID"], bmc=address)


def wanted(host: Object) -> bool:
    """Return whether a host should have an operating system."""
    spec = host["spec"]
    return bool(spec.get("customDeploy") or (spec.get("image") or {}).get("url"))


def _struck(host: Object, state: str, kind: str) -> bool:
    """Return whether a trouble applies.

    Provisioning fails half-way; earlier errors keep a host from becoming free.
    """
    return (
        state == "provisioning"
        if kind == "provisioning error"
        else state in {*FREE, ERRORS.get(kind)} and not host["spec"].get("consumerRef")
    )


def _fulfils(requirement: Object, labels: dict[str, str]) -> bool:
    key, operator, values = (
        requirement["key"],
        str(requirement["operator"]).lower(),
        requirement.get("values") or [],
    )
    if operator in {"exists", "!"}:
        return (key in labels) == (operator == "exists")
    return (labels.get(key) in values) == (operator in {"in", "=", "=="})
