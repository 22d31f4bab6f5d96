# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Pools with candidates: their options, and their objects on the cluster."""

from __future__ import annotations

import typing as t

from integration.platforms.pools import API, LABEL, NAMESPACE, Data, Pools
from integration.playbook import TaskResult

T4, A10G = "g4dn.xlarge", "g5.xlarge"
A, B = "us-east-2a", "us-east-2b"
Place = tuple[str, str, int]


def pool(*candidates: Data, replicas: int = 2, **more: t.Any) -> Data:
    return {"name": "cand", "candidates": list(candidates), "replicas": replicas, **more}


def of(kind: str, *zones: str, **more: t.Any) -> Data:
    """Return a candidate for gpu_pools."""
    return {"instance_type": kind, "zones": list(zones), **more}


PAIR: t.Final = pool(of(T4, A, B), of(A10G, B))


def places(pools: Pools, name: str = "cand") -> list[Place]:
    """Return instance type, zone and replicas of each machine set of the pool."""
    found = []
    for one in pools.client.list(API, "machinesets", NAMESPACE, labels=f"{LABEL}={name}"):
        value = one["spec"]["template"]["spec"]["providerSpec"]["value"]
        found.append((value["instanceType"], value["placement"]["availabilityZone"], one["spec"]["replicas"]))
    return sorted(found)


def uids(pools: Pools, name: str = "cand") -> set[str]:
    return {one["metadata"]["uid"] for one in pools.machines({"name": name})}


def writes_nothing(pools: Pools, wanted: Data, **more: t.Any) -> bool:
    """Return whether a second run neither writes nor reports a change."""
    again = pools.ensure(wanted, **more)
    return (pools.audit.writes(again), again.changed) == ([], False)


def foretold(pools: Pools, wanted: Data, **more: t.Any) -> TaskResult:
    """Run the task in check mode, assert that it writes nothing, and return its result."""
    told = pools.playbook.module("gpu_machineset", check=True, pool=wanted, **{"capacity_timeout": 2, **more})
    assert pools.audit.writes(told) == []
    return told
