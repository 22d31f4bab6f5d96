# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Stand in for the bare metal machine provider.

The real one takes any host that fits, and this one the first; this one remediates no host.
"""

from __future__ import annotations

import typing as t

from openshift_sandbox.hardware.instance_types import DESCRIPTION
from openshift_sandbox.seed.platforms.baremetal import provider_id_of
from openshift_sandbox.stand_ins.clouds.bare_metal_hosts import FREE, is_consumer, selects, wanted
from openshift_sandbox.stand_ins.clouds.cloud import (
    INVALID,
    Cloud,
    Instance,
    Lost,
    Refusal,
    Waiting,
    Wanted,
    provider_spec,
    shortage,
)
from openshift_sandbox.stand_ins.core.reconciler import Cluster, Object

HOST: t.Final = "metal3.io/BareMetalHost"
NONE_LEFT: t.Final = "No available BareMetalHost found"
INCOMPLETE: t.Final = "Missing fields from ProviderSpec: [{fields}]"
BUSY: t.Final = ("provisioning", "provisioned", "deprovisioning")


class BareMetal(Cloud):
    keeps_status = False

    def wanted(self, value: Object) -> Wanted:
        """Return what a specification asks for: a host has neither a type nor a place."""
        return Wanted("", "", "")

    def launch(self, cluster: Cluster, machine: Object) -> Instance | Refusal | Waiting:
        """Claim a host, then wait until it is provisioned.

        A Machine without a host has an errorReason and is not Failed.
        """
        value = provider_spec(machine)
        if missing := incomplete(value):
            return Waiting(INVALID, INCOMPLETE.format(fields=" ".join(missing)))
        host = chosen(cluster.objects("BareMetalHost", machine["metadata"]["namespace"]), machine)
        if host is None or (not is_consumer(machine, host) and shortage(self, cluster, self.wanted(value))):
            return Waiting("InsufficientResources", NONE_LEFT)
        if not is_consumer(machine, host) or not wanted(host):
            _patch(cluster, host, claim(machine, value))
        state = host["status"]["provisioning"]["state"]
        told = {
            HOST: f"{host['metadata']['namespace']}/{host['metadata']['name']}",
            "machine.openshift.io/instance-state": state,
        }
        if not told.items() <= (machine["metadata"].get("annotations") or {}).items():
            cluster.patch(
                "Machine",
                machine["metadata"]["name"],
                machine["metadata"]["namespace"],
                {"metadata": {"annotations": told}},
            )
        return _instance(host) if state == "provisioned" and is_consumer(machine, host) else Waiting()

    def describe(self, cluster: Cluster, machine: Object) -> Instance:
        host = _mine(cluster, machine)
        assert host is not None, "its Machine has a providerID"
        return _instance(host)

    def lost(self, cluster: Cluster, machine: Object) -> Lost | None:
        """Return that the instance is lost when its host was deleted or given to another Machine."""
        return None if _mine(cluster, machine) else Lost("can't find created instance")

    def terminated(self, cluster: Cluster, machine: Object) -> bool:
        """Deprovision the host; return whether it is free for others."""
        host = _mine(cluster, machine)
        if host is None:
            return True
        if wanted(host):
            _patch(
                cluster,
                host,
                {"spec": {"customDeploy": None, "image": None, "userData": None, "online": False}},
            )
            return False
        if host["status"]["provisioning"]["state"] in BUSY:
            return False
        _patch(cluster, host, {"spec": {"consumerRef": None}})
        return True


def incomplete(value: Object) -> list[str]:
    """Return what is missing in a provider specification."""
    if (value.get("customDeploy") or {}).get("method"):
        return []
    image = value.get("image") or {}
    return [f"Image.{name}" for name, key in (("URL", "url"), ("Checksum", "checksum")) if not image.get(key)]


def claim(machine: Object, value: Object) -> Object:
    """Return what the provider writes into a host for a Machine."""
    metadata = machine["metadata"]
    image = (
        {key: value["image"][key] for key in ("url", "checksum")}
        if (value.get("image") or {}).get("url")
        else None
    )
    deploy = value.get("customDeploy") if (value.get("customDeploy") or {}).get("method") else None
    data = {"namespace": metadata["namespace"]} | value["userData"] if value.get("userData") else None
    reference = {
        "apiVersion": machine["apiVersion"],
        "kind": "Machine",
        "name": metadata["name"],
        "namespace": metadata["namespace"],
    }
    return {
        "spec": {
            "consumerRef": reference,
            "customDeploy": deploy,
            "image": image,
            "online": True,
            "userData": data,
        }
    }


def chosen(hosts: list[Object], machine: Object) -> Object | None:
    """Return the host that the Machine has, else a free host without error that its hostSelector matches.

    The one that has been free for longest comes first. The real provider takes any, but cleans a host for
    minutes before it is free.
    """
    mine = next((host for host in hosts if is_consumer(machine, host)), None)
    selector = provider_spec(machine).get("hostSelector") or {}
    free = [host for host in hosts if _available(host) and selects(selector, host)]
    return mine or min(free, key=lambda host: host["status"].get("lastUpdated") or "", default=None)


def _available(host: Object) -> bool:
    status = host.get("status") or {}
    taken = (
        host["spec"].get("consumerRef")
        or host["spec"].get("externallyProvisioned")
        or host["metadata"].get("deletionTimestamp")
    )
    return (
        not taken
        and not status.get("errorMessage")
        and (status.get("provisioning") or {}).get("state") in FREE
    )


def _mine(cluster: Cluster, machine: Object) -> Object | None:
    hosts = cluster.objects("BareMetalHost", machine["metadata"]["namespace"])
    return next((host for host in hosts if is_consumer(machine, host)), None)


def _instance(host: Object) -> Instance:
    """Return the instance as inspection of its host describes it."""
    found, state = host["status"]["hardware"], host["status"]["provisioning"]["state"]
    addresses = (
        *(("InternalIP", nic["ip"]) for nic in found["nics"]),
        ("Hostname", found["hostname"]),
        ("InternalDNS", found["hostname"]),
    )
    made_of = Wanted("", "", "", description=host["metadata"]["annotations"][DESCRIPTION])
    return Instance(
        provider_id_of(host), host["metadata"]["uid"], made_of, addresses, found["hostname"], state
    )


def _patch(cluster: Cluster, host: Object, body: Object) -> None:
    cluster.patch("BareMetalHost", host["metadata"]["name"], host["metadata"]["namespace"], body)


CLOUD: t.Final = BareMetal()
