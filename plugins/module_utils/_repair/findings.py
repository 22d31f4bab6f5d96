# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is wrong with a node: devices that are missing, conditions, and the Xids that logs and events name."""

from __future__ import annotations

import re
import typing as t

from .._catalogue.well_known import VENDORS
from .._core import conditions as node_conditions
from .._core.objects import KubeObject, event_time
from .._nodes import devices, drain, formatting as node_formatting, node as node_facts
from .._stack import signatures, upgrade

# Conditions by which detectors of problems report a GPU; their status is True while it has the problem.
_ABOUT_GPUS: t.Final = re.compile(r"gpu|xid|nvidia|nvlink|nvswitch", re.IGNORECASE)
_XID: t.Final = re.compile(r"\bXid\b\s*(?:\([^)\n]*\))?[^0-9\n(]{0,20}(\d{1,4})\b")
_UUID: t.Final = re.compile(r"\b(?:GPU|MIG)-[0-9a-f][0-9a-f-]{7,}")
_NOT_BEGUN: t.Final = ("", "upgrade-done", "upgrade-failed", "upgrade-required")
_PLUGIN: t.Final = "nvidia-device-plugin"


# The kubelet's reason for a pod whose devices the device plugin did not give, for example after a reboot.
_REJECTED: t.Final = "UnexpectedAdmissionError"


def is_rejected(pod: KubeObject) -> bool:
    """Return True for a pod that the kubelet refused for lack of its devices. It never runs again."""
    status = pod.get("status") or {}
    is_refused = (status.get("phase"), status.get("reason")) == ("Failed", _REJECTED)
    return is_refused and drain.uses_devices(pod)


class Report(t.NamedTuple):
    """An Xid. device: the GPU's UUID, or what else names it; empty if nothing does. seen: where."""

    number: int
    device: str
    seen: str

    def as_result(self) -> dict[str, t.Any]:
        """Return the Xid with its meaning and NVIDIA's advice."""
        known = signatures.xid(self.number)
        return {
            "xid": self.number,
            "device": self.device,
            "meaning": known.meaning,
            "advice": known.action,
            "seen": self.seen,
        }


def wanted(node: KubeObject) -> dict[str, int]:
    """Return the devices that the node has: by its label, and by its capacity, which keeps broken ones."""
    status = node.get("status") or {}
    found = {key: devices.count(value) for key, value in (status.get("capacity") or {}).items()}
    found = {key: number for key, number in found.items() if key.startswith(VENDORS) and number}
    for key, number in devices.expected(node, {}).items():
        found[key] = max(number, found.get(key, 0))
    return dict(sorted(found.items()))


def faults(node: KubeObject, expected: t.Mapping[str, int]) -> list[str]:
    """Return a line for everything that is wrong with the node. expected: its devices."""
    found = [] if node_facts.is_ready(node) else [f"the node is {node_formatting.why_not_ready(node)}"]
    for key, number in expected.items():
        if (have := devices.offered(node, key)) < number:
            found.append(f"{have} of {number} {key} are allocatable")
    return found + [
        f"condition {one['type']} is True: {one.get('message') or one.get('reason') or 'no message'}"
        for one in conditions(node)
    ]


def conditions(node: KubeObject) -> list[KubeObject]:
    """Return the conditions about GPUs that are True."""
    return [
        condition
        for condition in (node.get("status") or {}).get("conditions") or []
        if condition.get("status") == "True" and _ABOUT_GPUS.search(str(condition.get("type")))
    ]


def unnoticed(node: KubeObject, events: t.Iterable[KubeObject]) -> list[str]:
    """Return a line for each Xid that needs a repair and takes no GPU out of service.

    events: about the node; those from before it became Ready, so from before a reboot, are over.
    """
    since = node_conditions.since(node, "Ready")
    return [
        f"Xid {report.number} on {report.device or 'a GPU'}: {signatures.xid(report.number).meaning} "
        f"({report.seen})"
        for report in of_events(event for event in events if event_time(event) > since)
        if report.number in signatures.UNNOTICED
    ]


def driver_upgrade(node: KubeObject) -> str:
    """Return the state of a driver upgrade that has begun on the node; empty if none has."""
    state = upgrade.state(node)
    return "" if state in _NOT_BEGUN else state


def is_plugin(pod: KubeObject) -> bool:
    """Return True for a pod of NVIDIA's device plugin."""
    return str((pod["metadata"].get("labels") or {}).get("app", "")).startswith(_PLUGIN)


def of_log(log: str, seen: str) -> list[Report]:
    """Return the Xids after which the device plugin took a GPU out of service. seen: whose log it is."""
    return [Report(number, device, seen) for number, device in signatures.reported_xids(log)]


def of_events(events: t.Iterable[KubeObject]) -> list[Report]:
    """Return the Xids that events about the node name, the newest first."""
    found: dict[tuple[int, str], Report] = {}
    for event in sorted(events, key=event_time, reverse=True):
        text = str(event.get("message") or "")
        device = next(iter(_UUID.findall(text)), "")
        for number in _XID.findall(text):
            seen = f"event {event.get('reason') or 'without reason'} of {event_time(event) or 'unknown time'}"
            found.setdefault((int(number), device), Report(int(number), device, seen))
    return list(found.values())


def of_conditions(node: KubeObject) -> list[Report]:
    """Return the Xids that the node's conditions name while they are True."""
    return [
        Report(int(number), next(iter(_UUID.findall(text)), ""), f"condition {condition['type']}")
        for condition in conditions(node)
        if (text := f"{condition.get('reason')} {condition.get('message')}")
        for number in _XID.findall(text)
    ]


def gravest(reports: t.Iterable[Report]) -> str:
    """Return NVIDIA's gravest advice: replace, reboot, reset or watch; empty without an Xid."""
    found = [(report.number, report.device) for report in reports]
    return signatures.gravest(found) if found else ""
