# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Stand in for Azure's resource manager and the Azure machine provider.

Unlike the real ones it checks no image, network or credentials. A request that is refused at once (4xx) ends
a Machine, and the error says why. A lack of capacity shows later: the virtual machine exists, its
provisioning fails, and the provider says no more than that.
"""

from __future__ import annotations

import ipaddress
import json
import typing as t

from openshift_sandbox.hardware.azure import TYPES
from openshift_sandbox.hardware.instance_types import InstanceType, instance_type
from openshift_sandbox.seed.platforms import azure
from openshift_sandbox.stand_ins.clouds.cloud import (
    INVALID,
    Cloud,
    Instance,
    Lost,
    Refusal,
    Wanted,
    failure,
    free_address,
    instance_state,
    own_address,
    provider_spec,
    shortage,
    where,
)
from openshift_sandbox.stand_ins.core.reconciler import Cluster, Object

SUBNET: t.Final = ipaddress.IPv4Network("10.0.128.0/17")
CREATING: t.Final = "Creating"
RULE: t.Final = "-" * 80
QUOTA: t.Final = (
    "Operation could not be completed as it results in exceeding approved {family} Cores quota. "
    "Additional details - Deployment Model: Resource Manager,"
    " Location: {region}, Current Limit: {limit}, Current Usage: {usage}, Additional Required: "
    "{vcpus}, (Minimum) New Limit Required: {needed}."
    " Setup Alerts when Quota reaches threshold. Learn more at https://aka.ms/quotamonitoringalerting ."
)
UNKNOWN: t.Final = (
    "failed to obtain instance type information for VMSize '{type}' from Azure: resource not found"
)
INVALID_SIZE: t.Final = (
    "The value {type} provided for the VM size is not valid. Find out more on the valid VM sizes in each "
    "region at https://aka.ms/azure-regions."
)


class Azure(Cloud):
    """Azure and its machine provider."""

    state_field = "vmState"
    running = azure.RUNNING

    def wanted(self, value: Object) -> Wanted:
        return Wanted(
            value.get("vmSize") or "",
            value.get("zone") or "",
            value.get("location") or "",
            value.get("spotVMOptions") is not None,
        )

    def launch(self, cluster: Cluster, machine: Object) -> Instance | Refusal:
        value = provider_spec(machine)
        wanted, name = self.wanted(value), machine["metadata"]["name"]
        resource = azure.virtual_machine(cluster.scenario.cluster, name)
        if wanted.instance_type not in TYPES:
            if value.get("acceleratedNetworking"):
                text = UNKNOWN.format(type=wanted.instance_type)
                return _refused(name, f"failed to create nic {name}-nic for machine {name}: {text}")
            text = INVALID_SIZE.format(type=wanted.instance_type)
            return _rejected(name, resource, 400, "InvalidParameter", text)
        if quota := cluster.trouble("quota_exceeded", **where(wanted)):
            return _rejected(name, resource, 409, "OperationNotAllowed", _quota(quota, wanted))
        if found := failure(cluster, wanted):
            return found
        state = CREATING if shortage(self, cluster, wanted) else self.running
        return self._instance(cluster, machine, free_address(cluster, machine, SUBNET), state)

    def describe(self, cluster: Cluster, machine: Object) -> Instance:
        return self._instance(cluster, machine, own_address(machine), self.running)

    def provider_status(self, instance: Instance) -> Object:
        return {"metadata": {}, "vmId": instance.instance_id, self.state_field: instance.state}

    def lost(self, cluster: Cluster, machine: Object) -> Lost | None:
        doomed = instance_state(machine) == CREATING
        return (
            Lost("vm has unexpected 'Failed' provisioning state", "CreateError", missing=False)
            if doomed
            else None
        )

    def scale_from_zero(self, value: Object) -> InstanceType | None:
        """Return processors, memory and GPUs as the SKU counts them, whatever their vendor or share."""
        return instance_type(value.get("vmSize"))

    def _instance(self, cluster: Cluster, machine: Object, address: str, state: str) -> Instance:
        name, shape = machine["metadata"]["name"], cluster.scenario.cluster
        wanted = self.wanted(provider_spec(machine))
        addresses = (("Hostname", name), ("InternalDNS", name), ("InternalIP", address))
        provider_id = azure.provider_id(shape, wanted.zone, name)
        return Instance(provider_id, azure.virtual_machine(shape, name), wanted, addresses, name, state)


def _quota(quota: Object, wanted: Wanted) -> str:
    size, limit = TYPES[wanted.instance_type], int(quota.get("limit", 0))
    usage = int(quota.get("usage", limit))
    family = quota.get("family", "Total Regional")
    return QUOTA.format(
        family=family,
        region=wanted.region,
        limit=limit,
        usage=usage,
        vcpus=size.vcpus,
        needed=usage + size.vcpus,
    )


def _rejected(name: str, resource: str, status: int, code: str, message: str) -> Refusal:
    """Return a refusal of the resource manager, in the format of its client library."""
    body = json.dumps({"error": {"code": code, "message": message}}, indent=2)
    word = {400: "Bad Request", 409: "Conflict"}[status]
    lines = [
        f"PUT https://management.azure.com{resource}",
        RULE,
        f"RESPONSE {status}: {status} {word}",
        f"ERROR CODE: {code}",
        RULE,
        body,
        RULE,
        "",
    ]
    return _refused(
        name, f"failed to create vm {name}: failed to create VM: cannot create vm: " + "\n".join(lines)
    )


def _refused(name: str, text: str) -> Refusal:
    return Refusal(text, INVALID, f'failed to reconcile machine "{name}": {text}')
