# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""The tuning of each pool, with the facts of its machines: what is checked, and what node_tuning gets."""

from __future__ import annotations

import typing as t

from .._core.input import Problems
from .._core.ownership import pool_label
from .._tuning import entries
from .._tuning.tuned import check
from .model import Candidate, JsonObject, Pool


def inputs(pools: t.Iterable[Pool]) -> list[JsonObject]:
    """Return an entry for each pool that asks for tuning, as node_tuning's option C(pools) takes it."""
    return [
        {
            "name": pool.name,
            "node_selector": dict(pool.node_selector),
            "tuning": dict(pool.tuning),
            **facts(pool.candidates),
        }
        for pool in pools
        if pool.tuning
    ]


def facts(candidates: t.Sequence[Candidate]) -> JsonObject:
    """Return what is known of machines that can be of each of these types, without what is not known.

    Memory is the least. A type or a number of CPUs that not all of them have is not known.
    """
    found: dict[str, set[t.Any]] = {
        "arch": {candidate.arch for candidate in candidates},
        "instance_type": {candidate.instance_type.partition("+")[0] for candidate in candidates},
        "vcpus": {candidate.vcpus for candidate in candidates},
    }
    known = {key: next(iter(values)) for key, values in found.items() if len(values) == 1 and all(values)}
    memory = [candidate.memory_gib for candidate in candidates]
    if memory and all(memory):
        known["memory_gib"] = int(min(one for one in memory if one))
    return known


def check_pool(pool: dict[str, t.Any], path: str, problems: Problems) -> None:
    """Add what TuneD, the kernel or the machines would not take. pool: described, its candidates resolved."""
    where = f"{path}.tuning"
    if not pool.get("tuning") or problems.at(where):
        return
    label = (pool.get("existing") or {}).get("node_selector") or pool_label(pool.get("name") or "")
    known = facts(pool.get("resolved") or [])
    check.check(entries.tuning(pool.get("name") or "", label, pool["tuning"], where, known), problems)
