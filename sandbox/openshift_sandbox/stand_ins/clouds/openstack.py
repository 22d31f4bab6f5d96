# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Stand in for Nova and the OpenStack machine provider.

Unlike the real ones it checks no image or network. As with the real provider, no Machine says why it got no
server.
"""

from __future__ import annotations

import ipaddress
import typing as t
import uuid

from openshift_sandbox.hardware.instance_types import InstanceType, instance_type
from openshift_sandbox.hardware.openstack import TYPES
from openshift_sandbox.seed.platforms import openstack
from openshift_sandbox.stand_ins.clouds.cloud import (
    INVALID,
    Cloud,
    Instance,
    Refusal,
    Wanted,
    digest,
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
BROKEN: t.Final = "ERROR"
"""State of a server that no host took. The reason is in its fault, which the provider does not read."""
UNKNOWN_FLAVOR: t.Final = "Machine validation failed: Unable to find flavor with name {type}"
UNKNOWN_ZONE: t.Final = "Machine validation failed: could not find compute availability zone: {zone}"
REGION: t.Final = "regionOne"


class OpenStack(Cloud):
    running = openstack.RUNNING
    keeps_status = False
    tells_gpus = False

    def wanted(self, value: Object) -> Wanted:
        return Wanted(value.get("flavor") or "", value.get("availabilityZone") or "", REGION)

    def launch(self, cluster: Cluster, machine: Object) -> Instance | Refusal:
        wanted = self.wanted(provider_spec(machine))
        if wanted.instance_type not in TYPES:
            return Refusal(UNKNOWN_FLAVOR.format(type=wanted.instance_type), INVALID)
        if wanted.zone and wanted.zone not in cluster.scenario.cluster["zones"]:
            return Refusal(UNKNOWN_ZONE.format(zone=wanted.zone), INVALID)
        if cluster.trouble("quota_exceeded", **where(wanted)):
            return Refusal("")  # Nova's "Quota exceeded for cores" is only in the log of the provider
        state = BROKEN if shortage(self, cluster, wanted) else self.running
        return failure(cluster, wanted) or self._instance(
            machine, free_address(cluster, machine, SUBNET), state
        )

    def describe(self, cluster: Cluster, machine: Object) -> Instance:
        return self._instance(machine, own_address(machine), instance_state(machine) or self.running)

    def boots(self, machine: Object) -> bool:
        return instance_state(machine) != BROKEN

    def machine_annotations(self, instance: Instance) -> dict[str, str]:
        return {"openstack-resourceId": instance.instance_id}

    def scale_from_zero(self, value: Object) -> InstanceType | None:
        return instance_type(value.get("flavor"))

    def _instance(self, machine: Object, address: str, state: str) -> Instance:
        identity, name = str(uuid.UUID(digest(machine)[:32])), machine["metadata"]["name"]
        addresses = (("InternalIP", address), ("Hostname", name), ("InternalDNS", name))
        return Instance(
            f"openstack:///{identity}", identity, self.wanted(provider_spec(machine)), addresses, name, state
        )


CLOUD: t.Final = OpenStack()
