# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Options of node_tuning: the pools that a task tunes, checked before the first request."""

from __future__ import annotations

import typing as t

from ..._core.input import Problems
from ..._core.ownership import pool_label
from ..._frame.argspec import BusyParams, LockParams, StateParams
from .. import schema
from ..entries import tuning
from ..options import Tuning
from . import check


class PoolTuningParams(t.TypedDict):
    """One pool of the option pools. tuning: not read when its tuning is removed."""

    name: str
    node_selector: dict[str, t.Any] | None
    tuning: dict[str, t.Any] | None
    arch: t.Literal["amd64", "arm64"] | None
    instance_type: str | None
    vcpus: int | None
    memory_gib: int | None
    numa_nodes: int | None
    threads_per_core: int | None


class NodeTuningParams(StateParams, BusyParams, LockParams):
    """The options of node_tuning. grace: seconds that a node may be degraded."""

    pools: list[PoolTuningParams]
    grace: float
    go_on: bool


def read(pools: t.Sequence[PoolTuningParams]) -> list[Tuning]:
    """Return the tuning of each pool. Raises InputError with every problem; sends no request."""
    problems, found = Problems(), []
    for index, pool in enumerate(pools):
        path = f"pools[{index}]"
        problems.refuse_second(pools, index, path)
        given = schema.read(pool["tuning"] or {}, f"{path}.tuning", problems)
        if problems.at(path):
            continue
        label = {str(key): str(value) for key, value in (pool["node_selector"] or {}).items()}
        read_in = tuning(pool["name"], label or pool_label(pool["name"]), given, f"{path}.tuning", pool)
        check.check(read_in, problems)
        found.append(read_in)
    problems.raise_if_any()
    return found
