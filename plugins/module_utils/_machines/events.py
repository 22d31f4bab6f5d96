# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""Events about Machines that a MachineHealthCheck deleted. The API server keeps events for one hour."""

from __future__ import annotations

import typing as t

from .._core.objects import KubeObject

# The code of a Machine that a MachineHealthCheck deleted; its error text ends with the last warning.
CODE: t.Final = "MACH-REMEDIATED"
_DELETED: t.Final = "MachineDeleted"


def remediated(events: t.Iterable[KubeObject], sets: t.Collection[str]) -> list[KubeObject]:
    """Return a summary of each Machine of these sets that a health check deleted, oldest first."""
    by_name: dict[str, list[KubeObject]] = {}
    for event in events:
        by_name.setdefault(str(event["involvedObject"].get("name")), []).append(event)
    found = [
        _told(name, about)
        for name, about in by_name.items()
        if name.rpartition("-")[0] in sets and any(one.get("reason") == _DELETED for one in about)
    ]
    return sorted(found, key=lambda one: (str(one["since"]), str(one["name"])))


def lines(found: t.Iterable[KubeObject]) -> list[str]:
    """Return one line for each Machine."""
    return [f"{one['name']}: {one['error']}" for one in found]


def _told(name: str, events: t.Sequence[KubeObject]) -> KubeObject:
    deleted = max((one for one in events if one.get("reason") == _DELETED), key=_time)
    # "Machine NAMESPACE/CHECK/NAME/NODE has been remediated by ..."
    place = [
        *str(deleted.get("message") or "").removeprefix("Machine ").partition(" ")[0].split("/"),
        "",
        "",
        "",
        "",
    ]
    warning = max((one for one in events if one.get("type") == "Warning"), key=_time, default=None)
    last = (
        f"; before that {warning.get('reason')}: {' '.join(str(warning.get('message')).split())}"
        if warning
        else ""
    )
    return {
        "name": name,
        "machine_set": name.rpartition("-")[0],
        "phase": "Deleted",
        "zone": "",
        "instance_type": "",
        "node": place[3],
        "code": CODE,
        "error": f"MachineHealthCheck {place[1]} deleted it at {_time(deleted)}{last}",
        "since": _time(deleted),
    }


def _time(event: KubeObject) -> str:
    """Return the event's time (RFC 3339); the two event APIs fill different fields."""
    series = (event.get("series") or {}).get("lastObservedTime")
    return str(
        series
        or event.get("lastTimestamp")
        or event.get("eventTime")
        or event["metadata"].get("creationTimestamp")
        or ""
    )
