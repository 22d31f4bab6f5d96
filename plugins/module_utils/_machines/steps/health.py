# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""MachineHealthCheck of a pool: create it, pause it while machines are replaced, delete it.

Read the events about Machines that a health check deleted, too: the API server keeps events for one hour.
"""

from __future__ import annotations

import contextlib
import typing as t

from ..._core.errors import AcceleratorError, ForbiddenError
from ..._core.objects import KubeObject, event_time
from ..._core.ownership import owned, pool_label, pool_of, selector
from ..._kube.client import Api
from ..._kube.kinds import known
from ..._platforms.infrastructure import Infrastructure
from ..._pools import health

# The code of a Machine that a MachineHealthCheck deleted; its error text ends with the last warning.
_REMEDIATED: t.Final = "MACH-REMEDIATED"
_DELETED: t.Final = "MachineDeleted"


def present(
    api: Api,
    cluster: Infrastructure,
    pool: str,
    namespace: str,
    options: t.Mapping[str, t.Any],
    is_gated: bool = False,
) -> KubeObject:
    """Create or update the pool's MachineHealthCheck. Return it, and other checks of its machines."""
    kind = known("MachineHealthCheck")
    live = api.list(kind, namespace)
    is_metal = cluster.platform == "BareMetal"
    manifest = health.build(cluster.name, pool, namespace, options, is_metal, is_gated)
    existing = next((one for one in live if one["metadata"]["name"] == manifest["metadata"]["name"]), None)
    if existing is not None and not owned(existing):
        api.warn(
            f"This collection did not make the MachineHealthCheck {manifest['metadata']['name']}, so it was "
            "not changed."
        )
        return {"health_check": health.summarize(existing), "other_checks": [existing["metadata"]["name"]]}
    with contextlib.suppress(ForbiddenError):  # a user who may not read them gets no warning
        if warning := health.disabled(api.list_if_served(known("NodeHealthCheck"))):
            api.warn(warning)
    check = api.apply(manifest, live=existing)
    if body := health.pause(check, bool(options.get("paused"))):
        check = (
            api.merge_patch(kind, check["metadata"]["name"], namespace, body)
            if existing is not None or not api.check_mode
            else check
        )
    foreign = health.foreign(live)
    machines = api.list(known("Machine"), namespace, labels=selector(pool_label(pool))) if foreign else []
    others = health.selecting(foreign, machines)
    for warning in health.warnings(check, others):
        api.warn(warning)
    return {"health_check": health.summarize(check), "other_checks": others}


def absent(api: Api, pool: str, namespace: str) -> None:
    """Delete the pool's MachineHealthCheck."""
    for one in _own(api, pool, namespace):
        api.delete(known("MachineHealthCheck"), one["metadata"]["name"], namespace, wait=False)


@contextlib.contextmanager
def paused(api: Api, pool: str, namespace: str) -> t.Iterator[None]:
    """Pause the pool's health check while machines are replaced.

    The next run ends a pause that a killed run left; an administrator's pause stays.
    """
    for one in _own(api, pool, namespace):
        if body := health.pause(one, True, health.A_RUN):
            api.merge_patch(known("MachineHealthCheck"), one["metadata"]["name"], namespace, body)
    try:
        yield
    except AcceleratorError:
        with contextlib.suppress(AcceleratorError):  # the first error is the one to report
            _resume(api, pool, namespace)
        raise
    _resume(api, pool, namespace)


def look_back(
    api: Api, pool: str, namespace: str, sets: t.Collection[str]
) -> tuple[list[KubeObject], list[str]]:
    """Return Machines that a health check deleted within the hour, and why the pool's deletes none now."""
    found: list[KubeObject] = []
    warnings: list[str] = []
    with contextlib.suppress(AcceleratorError):  # a user who may not read events gets no warnings
        found = remediated(api.list(known("Event"), namespace, fields="involvedObject.kind=Machine"), sets)
        warnings = [line for check in _own(api, pool, namespace) for line in health.warnings(check, ())]
    return found, warnings


def _resume(api: Api, pool: str, namespace: str) -> None:
    for one in _own(api, pool, namespace):
        if health.paused_by(one) == health.A_RUN:
            api.merge_patch(
                known("MachineHealthCheck"), one["metadata"]["name"], namespace, health.pause(one, False)
            )


def _own(api: Api, pool: str, namespace: str) -> list[KubeObject]:
    """Return the pool's checks that this collection made; none in a cluster without the Machine API."""
    found = api.list_if_served(known("MachineHealthCheck"), namespace, labels=selector(pool_label(pool)))
    return [one for one in found if owned(one) and pool_of(one) == pool]


def remediated(events: t.Iterable[KubeObject], sets: t.Collection[str]) -> list[KubeObject]:
    """Return a summary of each Machine of these sets that a health check deleted, oldest first."""
    by_name: dict[str, list[KubeObject]] = {}
    for event in events:
        by_name.setdefault(str(event["involvedObject"].get("name")), []).append(event)
    found = [
        _summary(name, about)
        for name, about in by_name.items()
        if name.rpartition("-")[0] in sets and any(one.get("reason") == _DELETED for one in about)
    ]
    return sorted(found, key=lambda one: (str(one["since"]), str(one["name"])))


def event_lines(found: t.Iterable[KubeObject]) -> list[str]:
    """Return one line for each Machine."""
    return [f"{one['name']}: {one['error']}" for one in found]


def _summary(name: str, events: t.Sequence[KubeObject]) -> KubeObject:
    deleted = max((event for event in events if event.get("reason") == _DELETED), key=event_time)
    # "Machine NAMESPACE/CHECK/NAME/NODE has been remediated by ..."
    place = [
        *str(deleted.get("message") or "").removeprefix("Machine ").partition(" ")[0].split("/"),
        "",
        "",
        "",
        "",
    ]
    warning = max((event for event in events if event.get("type") == "Warning"), key=event_time, default=None)
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
        "code": _REMEDIATED,
        "error": f"MachineHealthCheck {place[1]} deleted it at {event_time(deleted)}{last}",
        "since": event_time(deleted),
    }
