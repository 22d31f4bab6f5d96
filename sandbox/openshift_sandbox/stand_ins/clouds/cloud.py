# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The questions that the machine controller asks a cloud, and the answers that a cloud may give."""

from __future__ import annotations

import abc
import hashlib
import ipaddress
import typing as t
from dataclasses import dataclass

from openshift_sandbox.hardware.instance_types import InstanceType
from openshift_sandbox.stand_ins.core.conditions import condition
from openshift_sandbox.stand_ins.core.reconciler import Cluster, Object

INVALID: t.Final = "InvalidConfiguration"
RESERVED_HOSTS: t.Final = 16


@dataclass(frozen=True)
class Wanted:
    """What a provider specification asks for, in the words that troubles use too."""

    instance_type: str
    zone: str
    region: str
    interruptible: bool = False
    description: str | None = None
    """The hardware, where the instance type does not describe it."""


@dataclass(frozen=True)
class Instance:
    """A virtual machine as its provider reports it."""

    provider_id: str
    instance_id: str
    wanted: Wanted
    addresses: tuple[tuple[str, str], ...]
    node_name: str
    state: str
    provisioned: bool = True
    """Whether the provider accepts its state; otherwise its Machine stays Provisioning."""

    @property
    def address(self) -> str:
        return next(address for kind, address in self.addresses if kind == "InternalIP")


@dataclass(frozen=True)
class Refusal:
    """A refused request. A final refusal makes the Machine Failed; others are tried again for ever."""

    message: str
    """What the provider's condition says."""
    reason: str | None = None
    error: str | None = None
    """The Machine's errorMessage, where it differs from the text of the condition."""
    condition: bool = True
    """Whether a condition reports it: the machine controller's own refusals appear in none."""


@dataclass(frozen=True)
class Waiting:
    """Neither an instance nor a refusal yet. A reason is written on the Machine without making it Failed."""

    reason: str | None = None
    message: str | None = None


@dataclass(frozen=True)
class Lost:
    """How a Machine reports that its instance no longer exists."""

    message: str
    reason: str | None = None
    missing: bool = True


class Cloud(abc.ABC):
    """One platform. It keeps no state: an instance exists when its Machine has a providerID."""

    created: str = "MachineCreated"
    """Type of the provider's condition."""
    created_message: str = "machine successfully created"
    state_field: str = "instanceState"
    running: str = "running"
    keeps_status: bool = True
    """Whether the provider writes a providerStatus."""
    events_from: str = ""
    """The component whose events report refusals, where it is known; the Machine reports them in any case."""
    tells_gpus: bool = True
    """Whether the annotations of a MachineSet have GPUs and architecture, besides processors and memory."""

    @abc.abstractmethod
    def wanted(self, value: Object) -> Wanted:
        """Return what a provider specification asks for."""

    @abc.abstractmethod
    def launch(self, cluster: Cluster, machine: Object) -> Instance | Refusal | Waiting:
        """Ask for an instance of a Machine."""

    @abc.abstractmethod
    def describe(self, cluster: Cluster, machine: Object) -> Instance:
        """Return the instance of a Machine that has one."""

    def provider_status(self, instance: Instance) -> Object:
        """Return the providerStatus of a Machine with an instance."""
        return {"instanceId": instance.instance_id, self.state_field: instance.state}

    def outcome(self, created: bool, message: str) -> list[Object]:
        """Return the provider's conditions after an attempt to make an instance."""
        return [
            condition(
                self.created,
                created,
                "MachineCreationSucceeded" if created else "MachineCreationFailed",
                message,
            )
        ]

    def machine_annotations(self, instance: Instance) -> dict[str, str]:
        """Return annotations of the Machine, besides the state of its instance."""
        return {}

    def node_labels(self, instance: Instance) -> dict[str, str]:
        """Return the labels of the Node that only the instance determines."""
        return {}

    def boots(self, machine: Object) -> bool:
        """Return whether an instance ever becomes a Node."""
        return True

    def terminated(self, cluster: Cluster, machine: Object) -> bool:
        """Delete the instance of a Machine; return whether it is gone. Called until it is."""
        return not machine["spec"].get("providerID") or cluster.due(
            machine["metadata"]["uid"], "machine_deletion", 0.5
        )

    def lost(self, cluster: Cluster, machine: Object) -> Lost | None:
        """Return how the instance of a Machine was lost, or None."""
        return None

    def scale_from_zero(self, value: Object) -> InstanceType | None:
        """Return what the provider's machine-set controller tells the autoscaler.

        None where it writes nothing.
        """
        return None


def provider_spec(machine: Object) -> Object:
    """Return the provider specification of a Machine, or of a MachineSet's template."""
    return (machine["spec"].get("providerSpec") or {}).get("value") or {}


def where(wanted: Wanted) -> dict[str, str]:
    """Return the fields by which a trouble matches."""
    return {"zone": wanted.zone, "instance_type": wanted.instance_type}


def shortage(cloud: Cloud, cluster: Cluster, wanted: Wanted) -> Object | None:
    """Return a trouble `no_capacity` that has nothing left for one more instance, or None."""
    found = cluster.trouble("no_capacity", **where(wanted))
    if found is None:
        return None
    alike = [
        one
        for one in cluster.objects("Machine")
        if one["spec"].get("providerID") and cloud.lost(cluster, one) is None
    ]
    running = [one for one in alike if where(cloud.wanted(provider_spec(one))) == where(wanted)]
    return found if len(running) >= found.get("available", 0) else None


def failure(cluster: Cluster, wanted: Wanted) -> Refusal | None:
    """Return the refusal of a trouble `machine_failed`, in the words of that trouble."""
    found = cluster.trouble("machine_failed", **where(wanted))
    return Refusal(found["message"], found.get("reason", INVALID)) if found else None


def free_address(cluster: Cluster, machine: Object, subnet: ipaddress.IPv4Network) -> str:
    """Return the address of a new instance; the same for the same Machine, unless another one has it."""
    known = [*cluster.objects("Machine"), *cluster.objects("Node")]
    taken = {one["address"] for obj in known for one in (obj.get("status") or {}).get("addresses") or []}
    room = subnet.num_addresses - 2 * RESERVED_HOSTS
    start = int(digest(machine)[16:24], 16)
    candidates = (str(subnet[RESERVED_HOSTS + (start + step) % room]) for step in range(room))
    return next(address for address in candidates if address not in taken)


def own_address(machine: Object) -> str:
    """Return the address of a Machine that has an instance."""
    return next(str(one["address"]) for one in machine["status"]["addresses"] if one["type"] == "InternalIP")


def instance_state(machine: Object) -> str | None:
    """Return the state of the instance in the annotations of a Machine, or None."""
    state: str | None = (machine["metadata"].get("annotations") or {}).get(
        "machine.openshift.io/instance-state"
    )
    return state


def digest(machine: Object) -> str:
    """Return a digest that is the same for the same Machine."""
    return hashlib.sha256(machine["metadata"]["uid"].encode()).hexdigest()
