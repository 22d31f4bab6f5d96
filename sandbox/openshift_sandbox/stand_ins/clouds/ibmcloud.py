# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Stand in for IBM Cloud VPC and its machine provider.

Unlike the real ones it checks no image, subnet or group, and replaces no server that is stuck.
"""

from __future__ import annotations

import ipaddress
import typing as t

from openshift_sandbox.hardware.ibmcloud import TYPES
from openshift_sandbox.hardware.instance_types import InstanceType, instance_type
from openshift_sandbox.seed.platforms import ibmcloud
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

SUBNET: t.Final = ipaddress.IPv4Network("10.243.0.0/16")
BROKEN: t.Final = "failed"
"""Status of a server without room in its zone. The reason is in a field that the provider does not read."""
OVER_QUOTA: t.Final = (
    "Creating a new instance will put the user over quota. Allocated: {usage}, Requested: {vcpus}, Quota: "
    "{limit}"
)
UNKNOWN_PROFILE: t.Final = "could not find instance profile: {type}"


class IbmCloud(Cloud):
    created_message = "Machine successfully created"
    running = ibmcloud.RUNNING
    tells_gpus = False

    def wanted(self, value: Object) -> Wanted:
        return Wanted(value.get("profile") or "", value.get("zone") or "", value.get("region") or "")

    def launch(self, cluster: Cluster, machine: Object) -> Instance | Refusal:
        """Ask for a server.

        What the API refuses is tried again for ever; what it accepts and cannot start stays.
        """
        wanted = self.wanted(provider_spec(machine))
        size = TYPES.get(wanted.instance_type)
        if size is None:
            return Refusal(UNKNOWN_PROFILE.format(type=wanted.instance_type), INVALID)
        if quota := cluster.trouble("quota_exceeded", **where(wanted)):
            limit = int(quota.get("limit", 0))
            return Refusal(OVER_QUOTA.format(usage=quota.get("usage", limit), vcpus=size.vcpus, limit=limit))
        state = BROKEN if shortage(self, cluster, wanted) else self.running
        return failure(cluster, wanted) or self._instance(
            machine, free_address(cluster, machine, SUBNET), state
        )

    def describe(self, cluster: Cluster, machine: Object) -> Instance:
        return self._instance(machine, own_address(machine), instance_state(machine) or self.running)

    def boots(self, machine: Object) -> bool:
        return instance_state(machine) != BROKEN

    def scale_from_zero(self, value: Object) -> InstanceType | None:
        return instance_type(value.get("profile"))

    def _instance(self, machine: Object, address: str, state: str) -> Instance:
        name, labels = machine["metadata"]["name"], machine["metadata"].get("labels") or {}
        identity = ibmcloud.instance_id(digest(machine))
        provider_id = (
            f"ibm://{ibmcloud.ACCOUNT}///{labels.get('machine.openshift.io/cluster-api-cluster', '')}/"
            f"{identity}"
        )
        addresses = (("InternalDNS", name), ("InternalIP", address))
        wanted = self.wanted(provider_spec(machine))
        return Instance(
            provider_id, identity, wanted, addresses, name, state, provisioned=state == self.running
        )


CLOUD: t.Final = IbmCloud()
