# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Stands in for EC2 and the AWS machine provider; unlike the real ones it looks at no AMI, subnet or credential, and instances cost nothing."""

from __future__ import annotations

import hashlib
import ipaddress
import typing as t

from openshift_sandbox.hardware import instance_type
from openshift_sandbox.stand_ins.cloud import Cloud, Instance, Refusal
from openshift_sandbox.stand_ins.loop import Cluster, Object

INVALID: t.Final = "InvalidConfiguration"
SUBNETS: t.Final = {zone: ipaddress.IPv4Network(f"10.0.{64 * place}.0/18") for place, zone in enumerate("abcd")}
RESERVED_HOSTS: t.Final = 16

CAPACITY: t.Final = (
    "error creating EC2 instance: InsufficientInstanceCapacity: We currently do not have sufficient {type} capacity in the Availability Zone"
    " you requested ({zone}). Our system will be working on provisioning additional capacity. You can currently get {type} capacity by not"
    " specifying an Availability Zone in your request or choosing another one."
)
QUOTA: t.Final = (
    "error launching instance: You have requested more vCPU capacity than your current vCPU limit of {limit} allows for the instance bucket that"
    " the specified instance type belongs to. Please visit http://aws.amazon.com/contact-us/ec2-request to request an adjustment to this limit."
)
UNSUPPORTED: t.Final = "error launching instance: Your requested instance type ({type}) is not supported in your requested Availability Zone ({zone})."
UNKNOWN: t.Final = "error launching instance: Invalid value '{type}' for InstanceType."


class Aws(Cloud):
    def launch(self, cluster: Cluster, machine: Object) -> Instance | Refusal:
        kind, zone = _wanted(machine)
        machines = cluster.objects("Machine")
        refusal = _refusal(cluster, kind, zone, machines)
        return refusal or _instance(machine, _free_address(machine, zone, machines, cluster.objects("Node")))

    def describe(self, machine: Object) -> Instance:
        addresses = {one["type"]: one["address"] for one in machine["status"]["addresses"]}
        return _instance(machine, addresses["InternalIP"])


def _refusal(cluster: Cluster, kind: str, zone: str, machines: list[Object]) -> Refusal | None:
    if instance_type(kind) is None:
        return Refusal(UNKNOWN.format(type=kind), INVALID)
    where = {"zone": zone, "instance_type": kind}
    if quota := cluster.trouble("quota_exceeded", **where):
        return Refusal(QUOTA.format(limit=quota.get("limit", 0)), INVALID)
    if cluster.trouble("unsupported_zone", **where):
        return Refusal(UNSUPPORTED.format(type=kind, zone=zone), INVALID)
    if failure := cluster.trouble("machine_failed", **where):
        return Refusal(failure["message"], failure.get("reason", INVALID))
    shortage = cluster.trouble("no_capacity", **where)
    running = sum(1 for machine in machines if machine["spec"].get("providerID") and _wanted(machine) == (kind, zone))
    if shortage and running >= shortage.get("available", 0):
        return Refusal(CAPACITY.format(type=kind, zone=zone))
    return None


def _wanted(machine: Object) -> tuple[str, str]:
    provider = machine["spec"].get("providerSpec", {}).get("value") or {}
    return provider.get("instanceType") or "", (provider.get("placement") or {}).get("availabilityZone") or ""


def _instance(machine: Object, address: str) -> Instance:
    kind, zone = _wanted(machine)
    region = zone[:-1]
    instance_id = "i-0" + _digest(machine)[:16]
    host_name = f"ip-{address.replace('.', '-')}.{region}.compute.internal"
    return Instance(f"aws:///{zone}/{instance_id}", instance_id, kind, region, zone, address, host_name)


def _free_address(machine: Object, zone: str, machines: list[Object], nodes: list[Object]) -> str:
    """The same Machine gets the same address again, unless another one has it."""
    subnet = SUBNETS.get(zone[-1:], SUBNETS["d"])
    taken = {one["address"] for obj in [*machines, *nodes] for one in (obj.get("status") or {}).get("addresses") or []}
    room = subnet.num_addresses - 2 * RESERVED_HOSTS
    start = int(_digest(machine)[16:24], 16)
    candidates = (str(subnet[RESERVED_HOSTS + (start + step) % room]) for step in range(room))
    return next(address for address in candidates if address not in taken)


def _digest(machine: Object) -> str:
    return hashlib.sha256(machine["metadata"]["uid"].encode()).hexdigest()
