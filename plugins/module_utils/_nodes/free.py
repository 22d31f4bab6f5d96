# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Devices that are free: what nodes offer less what pods and ResourceClaims hold."""

from __future__ import annotations

import typing as t

from .._catalogue.well_known import VENDORS
from .._core import quantity
from .._core.objects import KubeObject, at
from .._core.ownership import pool_of
from . import devices, dra
from .node import is_cordoned, is_ready, name
from .placeholders import is_placeholder

Amounts = dict[str, int]
# Keys of a row that count devices.
AMOUNTS: t.Final = ("allocatable", "requested", "spare", "free", "closed")


class Holder(t.NamedTuple):
    """Devices that one pod or claim holds. node: empty while a pod has none. spare: of a placeholder pod."""

    node: str
    namespace: str
    spare: bool
    amounts: Amounts


def requested(pod: KubeObject, resource: str) -> int:
    """Return what the scheduler counts: the sum of the pod's containers, or its largest init container.

    An init container with C(restartPolicy: Always) runs on beside those that start after it.
    """
    beside, largest = 0, 0
    for container in pod["spec"].get("initContainers") or []:
        if container.get("restartPolicy") == "Always":
            beside += _limit(container, resource)
        else:
            largest = max(largest, beside + _limit(container, resource))
    return max(largest, beside + sum(_limit(one, resource) for one in pod["spec"].get("containers") or []))


def _limit(container: KubeObject, resource: str) -> int:
    return devices.count((at(container, "resources.limits") or {}).get(resource, 0))


def of_pod(pod: KubeObject) -> Holder | None:
    """Return the devices that the pod holds, or None if it asks for none."""
    spec = pod["spec"]
    containers = [*(spec.get("initContainers") or []), *(spec.get("containers") or [])]
    names = {
        key for one in containers for key in at(one, "resources.limits") or {} if key.startswith(VENDORS)
    }
    amounts = {key: number for key in sorted(names) if (number := requested(pod, key))}
    if not amounts:
        return None
    return Holder(str(spec.get("nodeName") or ""), pod["metadata"]["namespace"], is_placeholder(pod), amounts)


def of_claims(claims: t.Iterable[KubeObject], slices: t.Sequence[KubeObject]) -> list[Holder]:
    """Return the devices that claims hold, by the slices that offer them."""
    places = {
        (spec["pool"]["name"], str(device["name"])): (str(spec["nodeName"]), device)
        for spec in (resource_slice["spec"] for resource_slice in slices)
        if spec.get("driver") == dra.GPU_DRIVER and spec.get("nodeName")
        for device in spec.get("devices") or []
    }
    found = []
    for claim in claims:
        for result in dra.results(claim):
            node, device = places.get((result.get("pool"), str(result.get("device"))), ("", {}))
            if result.get("driver") == dra.GPU_DRIVER and not result.get("adminAccess") and node:
                amounts = dra.resources([device])
                found.append(Holder(node, str(claim["metadata"]["namespace"]), False, amounts))
    return found


def takes_pods(node: KubeObject) -> bool:
    """Return whether the scheduler puts new pods on the node."""
    return is_ready(node) and not is_cordoned(node)


def by_node(nodes: t.Iterable[KubeObject], holders: t.Iterable[Holder]) -> list[dict[str, t.Any]]:
    """Return a row for each node.

    C(free) is C(allocatable) less C(requested); on a node that takes no pods this number is C(closed).
    C(spare) is the part of C(requested) that placeholder pods hold.
    """
    held: dict[str, list[Holder]] = {}
    for holder in holders:
        held.setdefault(holder.node, []).append(holder)
    rows = []
    for node in nodes:
        here = held.get(name(node), [])
        offered, asked = devices.resources(node), total(one.amounts for one in here)
        left = {key: max(0, number - asked.get(key, 0)) for key, number in offered.items()}
        is_open, none = takes_pods(node), dict.fromkeys(left, 0)
        rows.append(
            {
                "name": name(node),
                "pool": pool_of(node),
                "takes_pods": is_open,
                "allocatable": offered,
                "requested": {**none, **asked},
                "spare": total(one.amounts for one in here if one.spare),
                "free": left if is_open else none,
                "closed": none if is_open else left,
            }
        )
    return sorted(rows, key=lambda row: str(row["name"]))


def by_pool(rows: t.Iterable[dict[str, t.Any]]) -> list[dict[str, t.Any]]:
    """Return a row for each pool from the rows of nodes; nodes without a pool are under the empty name."""
    found: dict[str, list[dict[str, t.Any]]] = {}
    for row in rows:
        found.setdefault(row["pool"], []).append(row)
    return [
        {"name": pool, "nodes": len(those), **{key: total(row[key] for row in those) for key in AMOUNTS}}
        for pool, those in sorted(found.items())
    ]


def by_namespace(
    rows: t.Iterable[dict[str, t.Any]],
    holders: t.Iterable[Holder],
    quotas: t.Iterable[KubeObject],
    wanted: t.Iterable[str] = (),
) -> list[dict[str, t.Any]]:
    """Return a row for each namespace that holds or waits for devices of these nodes, and for those wanted.

    C(free) is what all nodes have left, or less if a ResourceQuota of the namespace leaves less.
    """
    nodes = {row["name"]: row["free"] for row in rows}
    left, limits = total(nodes.values()), _left_by_quotas(quotas)
    held: dict[str, list[Holder]] = {namespace: [] for namespace in wanted}
    for holder in holders:
        if holder.node in nodes or not holder.node:
            held.setdefault(holder.namespace, []).append(holder)
    return [
        {
            "name": namespace,
            "requested": total(one.amounts for one in those if one.node),
            "spare": total(one.amounts for one in those if one.node and one.spare),
            "waiting": total(one.amounts for one in those if not one.node),
            "free": {key: min(number, limits.get((namespace, key), number)) for key, number in left.items()},
        }
        for namespace, those in sorted(held.items())
    ]


def _left_by_quotas(quotas: t.Iterable[KubeObject]) -> dict[tuple[str, str], int]:
    """Return the least that quotas leave, by namespace and resource. Scopes choose some pods only."""
    found: dict[tuple[str, str], int] = {}
    for quota in quotas:
        spec, status = quota.get("spec") or {}, quota.get("status") or {}
        if spec.get("scopes") or spec.get("scopeSelector"):
            continue
        for key, amount in (status.get("hard") or spec.get("hard") or {}).items():
            resource = key.removeprefix("requests.")
            if resource == key or not resource.startswith(VENDORS):
                continue
            used = (status.get("used") or {}).get(key, "0")
            left = max(0, int(quantity.parse(amount) - quantity.parse(used)))
            place = (str(quota["metadata"]["namespace"]), resource)
            found[place] = min(left, found.get(place, left))
    return found


def total(amounts: t.Iterable[t.Mapping[str, int]]) -> Amounts:
    """Return the sums by resource, sorted by name."""
    sums: Amounts = {}
    for one in amounts:
        for key, number in one.items():
            sums[key] = sums.get(key, 0) + number
    return dict(sorted(sums.items()))
