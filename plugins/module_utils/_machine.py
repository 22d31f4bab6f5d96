# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""Machines: how far one has come, and why it comes no further."""

from __future__ import annotations

import typing as t
from datetime import UTC, datetime

from ansible_collections.accelerators.openshift.plugins.module_utils import _machine_errors, _node
from ansible_collections.accelerators.openshift.plugins.module_utils._readiness import Readiness, failed, pending, ready

Machine = t.Mapping[str, t.Any]

SET: t.Final = "machine.openshift.io/cluster-api-machineset"
# The set that has one Machine too many gives up the one that carries this.
DELETE_FIRST: t.Final = "machine.openshift.io/delete-machine"
# Texts of all providers; a quota is asked for first, since AWS says "vCPU capacity" when it means the account's limit.


def name(machine: Machine) -> str:
    return str(machine["metadata"]["name"])


def set_name(machine: Machine) -> str:
    return str((machine["metadata"].get("labels") or {}).get(SET, ""))


def phase(machine: Machine) -> str:
    return "Deleting" if machine["metadata"].get("deletionTimestamp") else str((machine.get("status") or {}).get("phase") or "New")


def node_name(machine: Machine) -> str:
    return str(((machine.get("status") or {}).get("nodeRef") or {}).get("name", ""))


def remedy_of(code: str, machine: Machine) -> str:
    return _machine_errors.remedy_of(code, machine["metadata"].get("namespace", ""), name(machine))


def refusal(machine: Machine) -> tuple[str, str]:
    """The provider's text about an instance that it did not create, and since when; two empty texts where there is none."""
    conditions = ((machine.get("status") or {}).get("providerStatus") or {}).get("conditions") or []
    for condition in conditions:
        if condition.get("type") in ("MachineCreation", "MachineCreated") and condition.get("status") == "False":
            since = str(condition.get("lastTransitionTime") or machine["metadata"].get("creationTimestamp") or "")
            return " ".join(str(condition.get("message") or condition.get("reason") or "").split()), since
    return "", ""


def seconds_since(stamp: str, now: float) -> float:
    """stamp: as the API writes times. now: seconds of the epoch. Never negative: clocks differ."""
    if not stamp:
        return 0.0
    then = datetime.fromisoformat(stamp.replace("Z", "+00:00"))
    return max(0.0, now - then.replace(tzinfo=then.tzinfo or UTC).timestamp())


def is_given_up(machine: Machine) -> bool:
    """Whether its set is to lose this Machine first."""
    return DELETE_FIRST in (machine["metadata"].get("annotations") or {})


def refused(machine: Machine, now: float, patience: float) -> tuple[str, str]:
    """Code and text of a Machine that will not get its instance: at once where that is final, else when the provider has said no for so many seconds."""
    status = machine.get("status") or {}
    state = phase(machine)
    if state == "Failed" or (status.get("errorReason") and state != "Deleting"):
        text = _error(status)
        return _machine_errors.code_of(text), text
    text, since = refusal(machine)
    if state in ("New", "Provisioning") and text and seconds_since(since, now) >= patience:
        return _machine_errors.code_of(text), text
    return "", ""


def judge(machine: Machine, node: t.Mapping[str, t.Any] | None, now: float, capacity_timeout: float, place: str) -> Readiness:
    """place: instance type and zone, for the message."""
    status = machine.get("status") or {}
    state = phase(machine)
    line = f"{name(machine)} ({place}): {state}"
    if state == "Failed" or (status.get("errorReason") and state != "Deleting"):
        return _failed(machine, status, place, line)
    text, since = refusal(machine)
    if state in ("New", "Provisioning") and text:
        return _refused(machine, text, since, now, capacity_timeout, place, line)
    if state != "Running":
        return _on_its_way(machine, state, line)
    if node is None:
        return pending(
            "NodeNotLabelled",
            f"{name(machine)} runs, its node {node_name(machine)} does not carry the pool's label yet",
            details=(f"{line}, node not labelled",),
        )
    if not _node.is_ready(node):
        return pending(
            "NodeNotReady",
            f"node {_node.name(node)} is {_node.why_not_ready(node)}",
            code="MACH-NODE-NOT-READY",
            remedy=f"`oc describe node {_node.name(node)}`",
            details=(f"{line}, node {_node.short(_node.name(node))} {_node.why_not_ready(node)}",),
        )
    return ready("Running", details=(f"{line}, node {_node.short(_node.name(node))} Ready",))


def _error(status: t.Mapping[str, t.Any]) -> str:
    """On one line: providers append request numbers on lines of their own."""
    return " ".join(str(status.get("errorMessage") or status.get("errorReason") or "no text given").split())


def _failed(machine: Machine, status: t.Mapping[str, t.Any], place: str, line: str) -> Readiness:
    text = _error(status)
    reason = str(status.get("errorReason") or "Failed")
    code = _machine_errors.code_of(text)
    since = f" since {status['lastUpdated']}" if status.get("lastUpdated") else ""
    message = f"machine {name(machine)} ({place}) is Failed{since} and is never tried again: {reason}: {text}"
    return failed(reason, message, code=code, remedy=remedy_of(code, machine), details=(f"{line}: {text}",))


def _refused(machine: Machine, text: str, since: str, now: float, patience: float, place: str, line: str) -> Readiness:
    waited = seconds_since(since, now)
    code = _machine_errors.code_of(text)
    message = f"machine {name(machine)} ({place}) is not created, since {since}: {text}"
    if waited >= patience:
        return failed("MachineCreationFailed", message, code=code, remedy=remedy_of(code, machine), details=(f"{line}: {text}",))
    return pending("MachineCreationFailed", message, code=code, remedy=remedy_of(code, machine), details=(f"{line}: {text}",))


def _on_its_way(machine: Machine, state: str, line: str) -> Readiness:
    if state == "Provisioned":
        return pending(
            "NoNode",
            f"{name(machine)} has an instance that has not joined as a node yet",
            code="MACH-NO-NODE",
            remedy="Look for pending requests of node-bootstrapper with `oc get csr`, then at the instance's console log.",
            details=(f"{line}, not a node yet",),
        )
    return pending(state, f"{name(machine)} is {state}", code="MACH-TIMEOUT", remedy="Look at the log of the machine-api-controllers.", details=(line,))


def summarize(machine: Machine) -> dict[str, t.Any]:
    status = machine.get("status") or {}
    labels = machine["metadata"].get("labels") or {}
    text, since = refusal(machine)
    return {
        "name": name(machine),
        "machine_set": set_name(machine),
        "phase": phase(machine),
        "zone": labels.get("machine.openshift.io/zone", ""),
        "instance_type": labels.get("machine.openshift.io/instance-type", ""),
        "node": node_name(machine),
        "error": _error(status) if status.get("errorMessage") else text,
        "since": since,
    }
