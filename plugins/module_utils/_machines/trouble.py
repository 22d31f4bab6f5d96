# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Trouble of a Machine: why it gets no instance or lost it. Each provider reports it in another place."""

from __future__ import annotations

import re
import typing as t
from dataclasses import dataclass

from .._core import conditions
from . import provider_errors

Machine = t.Mapping[str, t.Any]

_INTERRUPTIBLE: t.Final = "machine.openshift.io/interruptible-instance"
_INSTANCE_STATE: t.Final = "machine.openshift.io/instance-state"
_HOST: t.Final = "metal3.io/BareMetalHost"
_GONE: t.Final = re.compile(
    r"can'?t find created instance|vm has unexpected '?failed'? provisioning state", re.IGNORECASE
)
_RULE: t.Final = re.compile("-{9,}")
# These providers never report a lack of capacity: an instance that never joined most likely got none.
_SILENT: t.Final = ("AzureMachineProviderSpec", "GCPMachineProviderSpec")
_CONSOLES: t.Final = {
    "aws": "`aws ec2 get-console-output --latest --instance-id {id}`",
    "gce": "`gcloud compute instances get-serial-port-output {id} --zone {zone}`",
    "azure": "`az vm boot-diagnostics get-boot-log --ids {path}`",
}


@dataclass(frozen=True)
class Trouble:
    """The trouble of one Machine.

    since: RFC 3339. is_final: whether the Machine can never recover.
    """

    code: str
    text: str
    since: str
    is_final: bool

    @property
    def is_loss(self) -> bool:
        """Return whether the instance existed and is gone; the provider refused nothing."""
        return self.code in provider_errors.GONE


def find(machine: Machine) -> Trouble | None:
    """Return the Machine's trouble; None if it is deleted, Running, or only takes its time."""
    status, metadata = machine.get("status") or {}, machine["metadata"]
    if metadata.get("deletionTimestamp"):
        return None
    created = str(metadata.get("creationTimestamp") or "")
    refusal = _condition(status)
    text = _one_line(refusal.get("message") or refusal.get("reason") or "")
    since = str(refusal.get("lastTransitionTime") or created)
    if status.get("phase") == "Failed":
        return _final(machine, status, text, str(status.get("lastUpdated") or since))
    if status.get("phase") == "Running":
        return None
    if broken := _never_started(machine, status):
        return Trouble(
            provider_errors.CAPACITY,
            broken,
            str(conditions.since(machine, "InstanceExists") or created),
            True,
        )
    if status.get("phase") == "Provisioned":
        return None
    if refusal:
        # vCenter's provider reports a failed task with the reason of a success, and starts no other task.
        return Trouble(
            provider_errors.code_of(text), text, since, refusal.get("reason") == "MachineCreationSucceeded"
        )
    if status.get("errorReason"):
        text = error_of(status)
        return Trouble(provider_errors.code_of(text), text, created, False)
    return None


def silence(machine: Machine) -> str:
    """Return since when an OpenStack Machine has had neither an instance nor an error, or ""."""
    status, metadata = machine.get("status") or {}, machine["metadata"]
    kind = ((((machine.get("spec") or {}).get("providerSpec") or {}).get("value")) or {}).get("kind")
    is_waiting = status.get("phase") in (None, "", "Provisioning") and not metadata.get("deletionTimestamp")
    if (
        kind != "OpenstackProviderSpec"
        or not is_waiting
        or _INSTANCE_STATE in (metadata.get("annotations") or {})
        or find(machine)
    ):
        return ""
    return str(metadata.get("creationTimestamp") or "")


def error_of(status: t.Mapping[str, t.Any]) -> str:
    """Return the error on one line; providers write request numbers on more lines."""
    return _one_line(status.get("errorMessage") or status.get("errorReason") or "no text given")


def phase_since(machine: Machine) -> str:
    """Return since when a Machine that is not Running has been in its phase, or ""."""
    status = machine.get("status") or {}
    if status.get("phase") in ("Provisioned", "Failed"):
        stamp = (
            conditions.since(machine, "InstanceExists")
            if status["phase"] == "Provisioned"
            else status.get("lastUpdated")
        )
        return str(stamp or status.get("lastUpdated") or machine["metadata"].get("creationTimestamp") or "")
    return str(
        machine["metadata"].get("deletionTimestamp") or machine["metadata"].get("creationTimestamp") or ""
    )


def host_name(machine: Machine) -> str:
    """Return C(namespace/name) of the BareMetalHost, or ""."""
    return str((machine["metadata"].get("annotations") or {}).get(_HOST, ""))


def host_fault(host: t.Mapping[str, t.Any]) -> str:
    """Return the error of a BareMetalHost, which its Machine does not report; empty without one."""
    status = host.get("status") or {}
    return (
        _one_line(f"{status.get('errorType') or 'error'}: {status['errorMessage']}")
        if status.get("errorMessage")
        else ""
    )


def console(machine: Machine) -> str:
    """Return where to read the instance's boot console."""
    status, spec = machine.get("status") or {}, machine.get("spec") or {}
    if host := host_name(machine):
        return f"the console of the host {host}"
    cloud, _mark, rest = str(spec.get("providerID") or "").partition("://")
    zone = (machine["metadata"].get("labels") or {}).get("machine.openshift.io/zone", "ZONE")
    identity = (
        rest.rpartition("/")[2]
        or (status.get("providerStatus") or {}).get("instanceId")
        or machine["metadata"]["name"]
    )
    return _CONSOLES.get(cloud, "the console of the instance {id} with the provider").format(
        id=identity, zone=zone, path=rest
    )


def _final(machine: Machine, status: t.Mapping[str, t.Any], refusal: str, since: str) -> Trouble:
    text = error_of(status) if status.get("errorMessage") else refusal or error_of(status)
    reason = conditions.find(machine, "InstanceExists").get("reason")
    is_missing = reason == "InstanceMissing" and not status.get("errorMessage")
    if not is_missing and not _GONE.search(text):
        return Trouble(provider_errors.code_of(text), text, since, True)
    code, words = _loss(machine, status)
    return Trouble(code, f"{text} ({words})" if words else text, since, True)


def _loss(machine: Machine, status: t.Mapping[str, t.Any]) -> tuple[str, str]:
    """Return the code of an instance that disappeared, and the most likely cause in words."""
    value = (((machine.get("spec") or {}).get("providerSpec") or {}).get("value")) or {}
    if not status.get("nodeRef") and value.get("kind") in _SILENT:
        return (
            provider_errors.CAPACITY,
            "the instance disappeared before it became a node: most likely the zone has no capacity",
        )
    if value.get("marketType") == "CapacityBlock":
        return provider_errors.RESERVATION, "most likely the capacity block has ended"
    if _INTERRUPTIBLE in (machine["metadata"].get("labels") or {}):
        return provider_errors.RECLAIMED, "most likely the provider reclaimed the spot instance"
    return provider_errors.LOST, ""


def _never_started(machine: Machine, status: t.Mapping[str, t.Any]) -> str:
    """Return the trouble of an instance that never started, or "".

    OpenStack stays Provisioned, IBM Cloud Provisioning.
    """
    if status.get("nodeRef"):
        return ""
    if (status.get("providerStatus") or {}).get("instanceState") == "failed":
        return "the instance is in state failed: most likely its zone has no capacity"
    if (machine["metadata"].get("annotations") or {}).get(_INSTANCE_STATE) == "ERROR":
        return (
            "the server is in state ERROR: most likely no valid host was found (`openstack server show` "
            "has its fault)"
        )
    return ""


def _condition(status: t.Mapping[str, t.Any]) -> t.Mapping[str, t.Any]:
    """Return the provider's condition that an instance was not created; empty without one."""
    conditions = (status.get("providerStatus") or {}).get("conditions") or []
    kinds = ("MachineCreation", "MachineCreated")
    return next((one for one in conditions if one.get("type") in kinds and one.get("status") == "False"), {})


def _one_line(text: t.Any) -> str:
    return " ".join(_RULE.sub(" ", str(text)).split())
