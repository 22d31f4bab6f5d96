# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Stand in for vCenter and the vSphere machine provider.

Unlike the real ones it clones nothing: the end of the name of a template describes its devices.
"""

from __future__ import annotations

import ipaddress
import re
import typing as t
import uuid

from openshift_sandbox.hardware.instance_types import InstanceType, described
from openshift_sandbox.seed.platforms import vsphere
from openshift_sandbox.stand_ins.clouds.cloud import (
    INVALID,
    Cloud,
    Instance,
    Refusal,
    Wanted,
    digest,
    failure,
    free_address,
    own_address,
    provider_spec,
    shortage,
)
from openshift_sandbox.stand_ins.core.conditions import condition
from openshift_sandbox.stand_ins.core.reconciler import Cluster, Object

SUBNET: t.Final = ipaddress.IPv4Network("10.0.128.0/17")
DEVICES: t.Final = re.compile(r"-(\d+x[A-Z]+\d+[A-Z]*(?:-\w+)?)$")
NO_HOST: t.Final = "No host is compatible with the virtual machine."
FAILOVER: t.Final = "Insufficient resources to satisfy configured failover level for vSphere HA."
NOT_FOUND: t.Final = "{what} not found, specify valid value"


class VSphere(Cloud):
    created = "MachineCreation"
    created_message = "Machine successfully created"
    running = vsphere.RUNNING
    tells_gpus = False

    def wanted(self, value: Object) -> Wanted:
        """Return what a specification asks for.

        Region and zone are tags, which a cluster of one failure domain lacks.
        """
        region, zone = vsphere.tags(value)
        return Wanted("", zone, region, description=description(value))

    def launch(self, cluster: Cluster, machine: Object) -> Instance | Refusal:
        return _refusal(self, cluster, machine) or self._instance(
            machine, free_address(cluster, machine, SUBNET)
        )

    def describe(self, cluster: Cluster, machine: Object) -> Instance:
        return self._instance(machine, own_address(machine))

    def provider_status(self, instance: Instance) -> Object:
        return super().provider_status(instance) | {"taskRef": f"task-{int(instance.instance_id[:4], 16)}"}

    def outcome(self, created: bool, message: str) -> list[Object]:
        """Return the provider's conditions: it writes the reason of a success even for a failure."""
        return [condition(self.created, created, "MachineCreationSucceeded", message)]

    def node_labels(self, instance: Instance) -> dict[str, str]:
        size = described(instance.wanted.description or "0x0")
        return vsphere.node_type(size.vcpus, size.memory_gib)

    def scale_from_zero(self, value: Object) -> InstanceType | None:
        return described(description(value))

    def _instance(self, machine: Object, address: str) -> Instance:
        identity, name = str(uuid.UUID(digest(machine)[:32])), machine["metadata"]["name"]
        addresses = (("InternalIP", address), ("InternalDNS", name))
        return Instance(
            f"vsphere://{identity}",
            identity,
            self.wanted(provider_spec(machine)),
            addresses,
            name,
            self.running,
        )


def description(value: Object) -> str:
    """Return the hardware of a template: one whose name ends in -2xL40S has two of them."""
    devices = DEVICES.search(value.get("template") or "")
    return f"{value.get('numCPUs', 0)}x{value.get('memoryMiB', 0) // 1024}" + (
        f"x{devices[1]}" if devices else ""
    )


def _refusal(cloud: Cloud, cluster: Cluster, machine: Object) -> Refusal | None:
    """Return vCenter's refusal.

    The provider looks for ever at a task that failed, and starts no other: new capacity helps only new
    Machines.
    """
    if failed := _failed_task(machine):
        return Refusal(failed)
    value = provider_spec(machine)
    if missing := _missing(cluster.scenario.cluster, value):
        return Refusal(NOT_FOUND.format(what=missing), INVALID)
    wanted = cloud.wanted(value)
    if cluster.trouble("quota_exceeded", zone=wanted.zone):
        return Refusal(FAILOVER)
    if shortage(cloud, cluster, wanted):
        return Refusal(NO_HOST)
    return failure(cluster, wanted)


def _missing(shape: Object, value: Object) -> str | None:
    """Return what the specification names and vCenter does not have: templates by name, the rest by path."""
    domains, workspace = (
        [one["topology"] for one in vsphere.failure_domains(shape)],
        value.get("workspace") or {},
    )
    known = {_base(one) for one in (*(domain["template"] for domain in domains), *shape.get("templates", []))}
    if _base(value.get("template")) not in known:
        return "template"
    places = {"folder": "folder", "datastore": "datastore", "resourcePool": "resource pool"}
    return next(
        (
            what
            for field, what in places.items()
            if workspace.get(field) not in {None, "", *(domain[field] for domain in domains)}
        ),
        None,
    )


def _failed_task(machine: Object) -> str | None:
    conditions = ((machine.get("status") or {}).get("providerStatus") or {}).get("conditions") or []
    return next(
        (
            str(one["message"])
            for one in conditions
            if one["type"] == "MachineCreation" and one["status"] == "False"
        ),
        None,
    )


def _base(path: str | None) -> str:
    return (path or "").rpartition("/")[2]


CLOUD: t.Final = VSphere()
