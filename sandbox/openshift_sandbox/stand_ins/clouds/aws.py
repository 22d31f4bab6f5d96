# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Stand in for EC2 and the AWS machine provider.

Unlike the real ones it checks no credentials. An error of the client (4xx) ends a Machine, with the message
alone; an error of the service (5xx) is tried again for ever, with its code before the message.
"""

from __future__ import annotations

import ipaddress
import typing as t

from openshift_sandbox.hardware.instance_types import InstanceType, instance_type
from openshift_sandbox.stand_ins.clouds import aws_errors
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
    where,
)
from openshift_sandbox.stand_ins.core.reconciler import Cluster, Object

SUBNETS: t.Final = {
    zone: ipaddress.IPv4Network(f"10.0.{64 * place}.0/18") for place, zone in enumerate("abcd")
}
CLIENTS_ERRORS: t.Final = {
    "quota_exceeded": aws_errors.QUOTA,
    "subnet_full": aws_errors.SUBNET_FULL,
    "unauthorized": aws_errors.UNAUTHORIZED,
}
"""Trouble -> what EC2 says about it."""


class Aws(Cloud):
    """EC2 and its machine provider."""

    created = "MachineCreation"
    created_message = "Machine successfully created"
    events_from = "awscontroller"

    def wanted(self, value: Object) -> Wanted:
        placement = value.get("placement") or {}
        zone = placement.get("availabilityZone") or ""
        return Wanted(
            value.get("instanceType") or "", zone, placement.get("region") or zone[:-1], _spot(value)
        )

    def launch(self, cluster: Cluster, machine: Object) -> Instance | Refusal:
        zone = self.wanted(provider_spec(machine)).zone
        refusal = self._refusal(cluster, machine)
        return refusal or self._instance(
            machine, free_address(cluster, machine, SUBNETS.get(zone[-1:], SUBNETS["d"])), "pending"
        )

    def describe(self, cluster: Cluster, machine: Object) -> Instance:
        return self._instance(machine, own_address(machine), self.running)

    def scale_from_zero(self, value: Object) -> InstanceType | None:
        return instance_type(value.get("instanceType"))

    def _refusal(self, cluster: Cluster, machine: Object) -> Refusal | None:
        value = provider_spec(machine)
        wanted = self.wanted(value)
        place = where(wanted)
        fields = place | {"type": wanted.instance_type, "machine": machine["metadata"]["name"]}
        image = (value.get("ami") or {}).get("id")
        if image and cluster.trouble("image_missing", image=image, **place):
            return _final(aws_errors.no_image(image, bool(value.get("blockDevices"))))
        if instance_type(wanted.instance_type) is None:
            return _final(aws_errors.launching(aws_errors.UNKNOWN, **fields))
        for trouble, text in CLIENTS_ERRORS.items():
            if found := cluster.trouble(trouble, **place):
                return _final(
                    aws_errors.launching(
                        text,
                        **(
                            {"limit": 0, "subnet": "subnet-0a1b2c3d4e5f60718"}
                            | fields
                            | found
                            | {"type": wanted.instance_type}
                        ),
                    )
                )
        return failure(cluster, wanted) or self._out_of(cluster, wanted, value, fields)

    def _out_of(self, cluster: Cluster, wanted: Wanted, value: Object, fields: Object) -> Refusal | None:
        """Return the refusal when nothing is left on the spot market or in the zone."""
        if value.get("capacityReservationId"):
            return None
        if wanted.interruptible and cluster.trouble("spot_unavailable", **where(wanted)):
            return Refusal(aws_errors.creating("InsufficientInstanceCapacity", aws_errors.NO_SPOT))
        return (
            Refusal(aws_errors.creating("InsufficientInstanceCapacity", aws_errors.CAPACITY, **fields))
            if shortage(self, cluster, wanted)
            else None
        )

    def _instance(self, machine: Object, address: str, state: str) -> Instance:
        wanted = self.wanted(provider_spec(machine))
        instance_id = "i-0" + digest(machine)[:16]
        host = f"ip-{address.replace('.', '-')}.{wanted.region}.compute.internal"
        addresses = (("InternalIP", address), ("InternalDNS", host), ("Hostname", host))
        return Instance(f"aws:///{wanted.zone}/{instance_id}", instance_id, wanted, addresses, host, state)


def _final(text: str) -> Refusal:
    return Refusal(text, INVALID)


def _spot(value: Object) -> bool:
    return value.get("spotMarketOptions") is not None or value.get("marketType") == "Spot"
