# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Objects of this collection that the list of pools does not have, with the command that removes each."""

from __future__ import annotations

import typing as t

from .._core.objects import KubeObject, name
from .._core.ownership import owned, pool_of
from .._policy.schema import IDLE
from .model import JsonObject

_POOL: t.Final = "ansible-playbook accelerators.openshift.remove_pool -e gpu_pool={name}"
_TUNING: t.Final = f"{_POOL} --tags node_tuning"
_QUOTA: t.Final = "oc delete resourcequota {name} -n {namespace}"
_PRIORITY: t.Final = "oc delete priorityclass {name}"
_NETWORK: t.Final = (
    "ansible localhost -m accelerators.openshift.gpu_network "
    """-a '{{"networks": [{{"name": "{name}"}}], "state": "absent"}}'"""
)


def of_policy(
    outputs: t.Mapping[str, t.Any], quotas: t.Iterable[KubeObject], priorities: t.Iterable[KubeObject]
) -> list[JsonObject]:
    """Return our live quotas and priority classes that the plan does not have.

    outputs: those of the plan. quotas, priorities: live objects with the label of this collection.
    """
    limits = {(quota["namespace"], quota["name"]) for quota in outputs["quotas"]}
    classes = {priority["name"] for priority in outputs["priorities"]} | {IDLE["name"]}
    found = []
    for one in filter(owned, quotas):
        place = str(one["metadata"]["namespace"])
        if (place, name(one)) not in limits:
            command = _QUOTA.format(name=name(one), namespace=place)
            found.append({"object": f"ResourceQuota {place}/{name(one)}", "command": command})
    for one in filter(owned, priorities):
        if name(one) not in classes:
            leftover, command = f"PriorityClass {name(one)}", _PRIORITY.format(name=name(one))
            found.append({"object": leftover, "command": command})
    return found


def of_tuning(outputs: t.Mapping[str, t.Any], objects: t.Iterable[KubeObject]) -> list[JsonObject]:
    """Return our live objects of pools whose tuning the plan does not have.

    outputs: those of the plan. objects: Tuned objects and MachineConfigPools with our label.
    """
    tuned = {tuning["name"] for tuning in outputs["tunings"]}
    return [
        {"object": f"{one['kind']} {name(one)}", "command": _TUNING.format(name=pool_of(one))}
        for one in objects
        if owned(one) and pool_of(one) and pool_of(one) not in tuned
    ]


def of_networks(asked: t.Iterable[str], live: t.Iterable[str]) -> list[JsonObject]:
    """Return our live networks that the plan does not have. asked, live: names of networks."""
    return [
        {"object": f"network {network}", "command": _NETWORK.format(name=network)}
        for network in sorted({*live} - {*asked})
    ]


def of_pools(plan: t.Mapping[str, t.Any], results: t.Iterable[JsonObject]) -> list[JsonObject]:
    """Return live pools that the plan does not have. results: those of gpu_machineset."""
    asked = {pool["name"] for pool in plan["pools"]}
    live = {pool for one in results for pool in one.get("other_pools") or []}
    return [{"object": f"pool {pool}", "command": _POOL.format(name=pool)} for pool in sorted(live - asked)]
