# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Machines: the phase of a Machine, and the reason why it is not a Ready node.

A mirror is a Machine or machine set that Cluster API controls; its own fields cannot be written.
"""

from __future__ import annotations

import typing as t
from datetime import UTC, datetime

from .._core.errors import AcceleratorError, text_of
from .._core.objects import KubeObject
from .._core.readiness import Readiness, failed, pending, ready
from .._nodes import formatting as node_formatting, node as node_facts
from .._nodes.labels import labels
from .._nodes.taints import taints as taints_of
from . import provider_errors, trouble as machine_trouble
from .trouble import Trouble

Machine = t.Mapping[str, t.Any]

SET: t.Final = "machine.openshift.io/cluster-api-machineset"
# A machine set that scales down deletes the Machines with this annotation first.
DELETE_FIRST: t.Final = "machine.openshift.io/delete-machine"
_OURS: t.Final = "MachineAPI"
# OpenStack's provider reports nothing while it waits for a volume and a server, five minutes each at most.
_LONGEST_SILENCE: t.Final = 900.0
_SILENCE: t.Final = (
    "it has no instance, no condition and no error. The OpenStack provider does not report the cause on the "
    "Machine; most likely the project's quota is full, or Nova found no valid host"
)


class MachineError(AcceleratorError):
    """The Machine API cannot create or change machines as the pool asks."""


def name(machine: Machine) -> str:
    return str(machine["metadata"]["name"])


def set_name(machine: Machine) -> str:
    """Return the name of the Machine's set, or ""."""
    return str((machine["metadata"].get("labels") or {}).get(SET, ""))


def phase(machine: Machine) -> str:
    """Return the phase; `Deleting` once deleted, `New` before the status has one."""
    return (
        "Deleting"
        if machine["metadata"].get("deletionTimestamp")
        else str((machine.get("status") or {}).get("phase") or "New")
    )


def counted(number: int, noun: str = "machine") -> str:
    """Return a number with its noun, such as `1 machine`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def node_name(machine: Machine) -> str:
    return str(((machine.get("status") or {}).get("nodeRef") or {}).get("name", ""))


def remedy_of(code: str, machine: Machine) -> str:
    return text_of(code, namespace=machine["metadata"].get("namespace", ""), name=name(machine)).remedy


def seconds_since(stamp: str, now: float) -> float:
    """Return the seconds from an RFC 3339 time to now (epoch seconds); 0.0 for an empty or a future time."""
    return max(0.0, now - moment(stamp)) if stamp else 0.0


def moment(stamp: str) -> float:
    """Return an RFC 3339 time as epoch seconds. Raise ValueError."""
    then = datetime.fromisoformat(stamp.replace("Z", "+00:00"))
    return then.replace(tzinfo=then.tzinfo or UTC).timestamp()


def is_given_up(machine: Machine) -> bool:
    """Return whether the Machine is marked as the first that its set deletes."""
    return DELETE_FIRST in (machine["metadata"].get("annotations") or {})


def mirrored(live: KubeObject) -> str:
    """Return the API that controls the object; empty if the Machine API does."""
    # spec holds the wanted API, status the current one; during a migration the status is `Migrating`.
    named = (str(part.get("authoritativeAPI") or _OURS) for part in (live.get("status") or {}, live["spec"]))
    return next((authority for authority in named if authority != _OURS), "")


def refuse_mirrors(machines: t.Iterable[KubeObject]) -> None:
    """Raise MachineError if a Machine is a mirror; it can be one although its set is not."""
    found = {str(one["metadata"]["name"]): authority for one in machines if (authority := mirrored(one))}
    if found:
        raise MachineError(
            "MACH-MIRRORED",
            authority=", ".join(sorted(set(found.values()))),
            objects=f"machines {', '.join(sorted(found))}",
            evidence=[f"{name}: authoritativeAPI {authority}" for name, authority in sorted(found.items())],
        )


def refused(machine: Machine, now: float, patience: float) -> tuple[str, str]:
    """Return code and text if the provider refuses an instance for good or for patience seconds, else ""."""
    trouble = machine_trouble.find(machine)
    if _is_silent(machine, now, max(patience, _LONGEST_SILENCE)):
        return provider_errors.SILENT, _SILENCE
    if (
        trouble is None
        or trouble.is_loss
        or not (trouble.is_final or seconds_since(trouble.since, now) >= patience)
    ):
        return "", ""
    return trouble.code, trouble.text


def awaits_node(machine: Machine) -> bool:
    """Return whether it has an instance that has not joined as a node yet."""
    return (
        phase(machine) == "Provisioned" and not node_name(machine) and machine_trouble.find(machine) is None
    )


def judge(
    machine: Machine,
    node: t.Mapping[str, t.Any] | None,
    now: float,
    capacity_timeout: float,
    place: str,
    host: t.Mapping[str, t.Any] | None = None,
    is_watched: bool = False,
) -> Readiness:
    """Judge one Machine and its node.

    now: epoch seconds. place: type and zone, for messages. host: its BareMetalHost. is_watched: whether a
    health check replaces a lost instance.
    """
    state = phase(machine)
    line = f"{name(machine)} ({place}): {state}"
    trouble = machine_trouble.find(machine)
    if trouble is not None:
        return _troubled(machine, trouble, now, capacity_timeout, place, is_watched)
    if _is_silent(machine, now, capacity_timeout):
        return _silent(machine, now, capacity_timeout, place)
    if state != "Running":
        return _on_its_way(
            machine,
            state,
            f"{line}{_since(machine_trouble.phase_since(machine))}",
            machine_trouble.host_fault(host or {}),
        )
    return _running(machine, node, line)


def _running(machine: Machine, node: t.Mapping[str, t.Any] | None, line: str) -> Readiness:
    if node is None:
        return pending(
            "NodeNotLabelled",
            f"{name(machine)} runs, but its node {node_name(machine)} does not have the pool's label yet",
            details=(f"{line}, node not labelled",),
        )
    if not node_facts.is_ready(node):
        return pending(
            "NodeNotReady",
            **text_of(
                "MACH-NODE-NOT-READY", node=node_facts.name(node), why=node_formatting.why_not_ready(node)
            )._asdict(),
            details=(
                f"{line}, node {node_facts.short(node_facts.name(node))} "
                f"{node_formatting.why_not_ready(node)}",
            ),
        )
    # Only the phase Failed is final: the provider retries whatever error a Machine in phase Running shows.
    status = machine.get("status") or {}
    text = f": {machine_trouble.error_of(status)}" if status.get("errorReason") else ""
    return ready("Running", details=(f"{line}, node {node_facts.short(node_facts.name(node))} Ready{text}",))


def _troubled(
    machine: Machine, trouble: Trouble, now: float, patience: float, place: str, is_watched: bool
) -> Readiness:
    state, since = phase(machine), _since(trouble.since)
    reason = str(
        (machine.get("status") or {}).get("errorReason")
        or ("Failed" if state == "Failed" else "MachineCreationFailed")
    )
    if state == "Failed":
        message = (
            f"machine {name(machine)} ({place}) is Failed{since}, and the Machine API does not try again: "
            f"{reason}: {trouble.text}"
        )
    else:
        message = f"machine {name(machine)} ({place}) is not created{since}: {trouble.text}"
    is_over = trouble.is_final or seconds_since(trouble.since, now) >= patience
    verdict = failed if is_over and not (trouble.is_loss and is_watched) else pending
    line = f"{name(machine)} ({place}): {state}{since}: {trouble.text}"
    return verdict(
        reason, message, code=trouble.code, remedy=remedy_of(trouble.code, machine), details=(line,)
    )


def _is_silent(machine: Machine, now: float, patience: float) -> bool:
    since = machine_trouble.silence(machine)
    return bool(since) and seconds_since(since, now) >= patience


def _silent(machine: Machine, now: float, patience: float, place: str) -> Readiness:
    verdict = failed if _is_silent(machine, now, max(patience, _LONGEST_SILENCE)) else pending
    since = _since(machine_trouble.silence(machine))
    return verdict(
        "Silent",
        f"{name(machine)} ({place}) has had no server{since}: {_SILENCE}",
        code=provider_errors.SILENT,
        remedy=remedy_of(provider_errors.SILENT, machine),
        details=(f"{name(machine)} ({place}): {phase(machine)}, no server",),
    )


def _on_its_way(machine: Machine, state: str, line: str, fault: str) -> Readiness:
    if fault:
        host = machine_trouble.host_name(machine)
        message = f"{name(machine)} is {state}; its host {host}: {fault}"
        remedy = f"Run `oc describe baremetalhost -n {host.replace('/', ' ')}`."
        return pending(
            state, message, code=provider_errors.HOST, remedy=remedy, details=(f"{line}: {fault}",)
        )
    if state == "Provisioned":
        since, console = _since(machine_trouble.phase_since(machine)), machine_trouble.console(machine)
        text = text_of("MACH-NO-NODE", machine=name(machine), also=since, console=console)
        return pending("NoNode", **text._asdict(), details=(f"{line}, not a node yet",))
    remedy = (
        "Run `oc logs -n openshift-machine-api deployment/machine-api-controllers -c machine-controller`; "
        "OpenStack reports a full quota only there."
    )
    return pending(state, f"{name(machine)} is {state}", code="MACH-TIMEOUT", remedy=remedy, details=(line,))


def _since(stamp: str) -> str:
    return f" since {stamp}" if stamp else ""


def summarize(machine: Machine) -> dict[str, t.Any]:
    """Return the Machine as modules return it."""
    status = machine.get("status") or {}
    labels = machine["metadata"].get("labels") or {}
    trouble = machine_trouble.find(machine)
    return {
        "name": name(machine),
        "machine_set": set_name(machine),
        "phase": phase(machine),
        "zone": labels.get("machine.openshift.io/zone", ""),
        "instance_type": labels.get("machine.openshift.io/instance-type", ""),
        "node": node_name(machine),
        "code": trouble.code if trouble else "",
        "error": trouble.text
        if trouble
        else machine_trouble.error_of(status)
        if status.get("errorReason")
        else "",
        "since": trouble.since if trouble else "",
    }


def lacks(
    node: KubeObject, wanted: t.Mapping[str, str], taints: t.Iterable[t.Mapping[str, t.Any]]
) -> list[str]:
    """Return a phrase for each label and taint of the pool that the node lacks."""
    have = labels(node)
    marks = {(taint.get("key"), taint.get("value") or "", taint.get("effect")) for taint in taints_of(node)}
    missing = [f"label {key}={value}" for key, value in wanted.items() if have.get(key) != value]
    return missing + [
        f"taint {taint['key']}:{taint['effect']}"
        for taint in taints
        if (taint["key"], taint.get("value") or "", taint["effect"]) not in marks
    ]
