# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Stand in for Google Compute Engine and the GCP machine provider.

Unlike the real ones it checks no image, network or credentials. The provider itself refuses wrong GPUs, and
writes no condition about that. A lack of capacity shows later: the instance existed and is gone.
"""

from __future__ import annotations

import ipaddress
import typing as t

from openshift_sandbox.hardware.gcp import ACCELERATORS, TYPES, description
from openshift_sandbox.hardware.instance_types import InstanceType, described, instance_type
from openshift_sandbox.seed.platforms import gcp
from openshift_sandbox.stand_ins.clouds import gcp_errors
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
PROVISIONING: t.Final = "PROVISIONING"
BUILT_IN: t.Final = ("a2-", "a3-")


class Gcp(Cloud):
    running = gcp.RUNNING

    def wanted(self, value: Object) -> Wanted:
        kind, gpus = value.get("machineType") or "", value.get("gpus") or []
        attached = description(kind, gpus[0].get("type") or "", gpus[0].get("count") or 1) if gpus else None
        spot = bool(value.get("preemptible")) or value.get("provisioningModel") == "Spot"
        return Wanted(kind, value.get("zone") or "", value.get("region") or "", spot, attached)

    def launch(self, cluster: Cluster, machine: Object) -> Instance | Refusal:
        value = provider_spec(machine)
        wanted = self.wanted(value)
        refusal = self._providers_own(cluster, value, wanted) or self._compute_engines(cluster, value, wanted)
        if refusal:
            return refusal
        state = PROVISIONING if shortage(self, cluster, wanted) else self.running
        return self._instance(cluster, machine, free_address(cluster, machine, SUBNET), state)

    def describe(self, cluster: Cluster, machine: Object) -> Instance:
        return self._instance(cluster, machine, own_address(machine), self.running)

    def provider_status(self, instance: Instance) -> Object:
        return {"metadata": {}, "instanceId": instance.instance_id, self.state_field: instance.state}

    def lost(self, cluster: Cluster, machine: Object) -> Lost | None:
        return Lost("can't find created instance") if instance_state(machine) == PROVISIONING else None

    def scale_from_zero(self, value: Object) -> InstanceType | None:
        wanted = self.wanted(value)
        return described(wanted.description) if wanted.description else instance_type(wanted.instance_type)

    def _providers_own(self, cluster: Cluster, value: Object, wanted: Wanted) -> Refusal | None:
        """Return the provider's own refusal, if any, in the order in which it checks."""
        gpus, kind = value.get("gpus") or [], wanted.instance_type
        if wanted.interruptible and value.get("restartPolicy") == "Always":
            return _own(gcp_errors.RESTART)
        if len(gpus) > 1:
            return _own(gcp_errors.TOO_MANY)
        if kind.startswith("a3-ultragpu-") or not (gpus or kind.startswith(BUILT_IN)):
            return None
        if gpus and kind.startswith(BUILT_IN):
            return _own(gcp_errors.PRE_ATTACHED)
        if not kind.startswith(("n1-", *BUILT_IN)):
            return _own(gcp_errors.NO_ACCELERATORS.format(type=kind))
        if kind not in TYPES:
            return _own(gcp_errors.NO_TYPE.format(type=kind, zone=wanted.zone))
        accelerator = gpus[0]["type"] if gpus else gcp_errors.BUILT_IN_ACCELERATOR[kind.rpartition("-")[0]]
        if gpus and accelerator not in ACCELERATORS:
            resource = (
                f"projects/{cluster.scenario.cluster['project']}/zones/{wanted.zone}/acceleratorTypes/"
                f"{accelerator}"
            )
            return _own(
                gcp_errors.NO_ACCELERATOR_TYPE.format(
                    accelerator=accelerator, zone=wanted.zone, resource=resource
                )
            )
        quota = cluster.trouble("quota_exceeded", **where(wanted))
        if quota is None or quota.get("metric"):
            return None
        metric = ("PREEMPTIBLE_" if wanted.interruptible else "") + ACCELERATORS[accelerator][1]
        return _own(
            gcp_errors.OWN_QUOTA.format(
                metric=metric, usage=quota.get("usage", 0), limit=quota.get("limit", 0)
            )
        )

    def _compute_engines(self, cluster: Cluster, value: Object, wanted: Wanted) -> Refusal | None:
        kind, project = wanted.instance_type, cluster.scenario.cluster["project"]
        if kind not in TYPES:
            return gcp_errors.rejected(
                400, gcp_errors.NO_SUCH_TYPE.format(type=kind, zone=wanted.zone, project=project), "invalid"
            )
        hardware = self.scale_from_zero(value)
        if (
            hardware
            and hardware.gpus
            and value.get("onHostMaintenance") != "Terminate"
            and not wanted.interruptible
        ):
            return gcp_errors.rejected(400, gcp_errors.LIVE_MIGRATION, "badRequest")
        if quota := cluster.trouble("quota_exceeded", **where(wanted)):
            metric = quota.get("metric") or gcp_errors.metric(kind)
            scope = "globally" if metric.endswith("ALL_REGIONS") else f"in region {wanted.region}"
            return gcp_errors.rejected(
                403,
                gcp_errors.QUOTA.format(metric=metric, limit=float(quota.get("limit", 0)), scope=scope),
                "quotaExceeded",
            )
        return failure(cluster, wanted)

    def _instance(self, cluster: Cluster, machine: Object, address: str, state: str) -> Instance:
        name, project = machine["metadata"]["name"], cluster.scenario.cluster["project"]
        wanted = self.wanted(provider_spec(machine))
        host = gcp.host_name(cluster.scenario.cluster, name, address)
        names = dict.fromkeys((f"{name}.{wanted.zone}.c.{project}.internal", host, name))
        addresses = (("InternalIP", address), *(("InternalDNS", one) for one in names))
        return Instance(
            gcp.provider_id(cluster.scenario.cluster, wanted.zone, name),
            name,
            wanted,
            addresses,
            host,
            state,
        )


def _own(text: str) -> Refusal:
    return Refusal(text, INVALID, condition=False)
