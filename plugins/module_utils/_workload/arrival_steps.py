# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Steps that validate each pool as soon as it has its devices, while machines of others are on their way."""

from __future__ import annotations

import time
import typing as t

from .._core.errors import ApiError, NotReadyError, WaitTimeoutError
from .._core.ownership import POOL, pool_label
from .._kube.client import Api, Query
from .._kube.kinds import known
from .._nodes.labels import common_selector
from . import turns
from .arrivals import Arrivals
from .options import GpuWorkloadParams
from .run_steps import SLICE
from .turns import Turn

# A function that validates pools whose nodes are there, and notes the error of each.
Validate = t.Callable[[t.Sequence[Turn]], None]


def validate_arrivals(api: Api, params: GpuWorkloadParams, each: t.Sequence[Turn], act: Validate) -> None:
    """Call act with the pools that have their devices, again and again while machines are on their way.

    Return when every machine is a Ready node, when one needs another task, or at the deadline. An error of a
    pool is only a warning: a later task validates the pool again.
    """
    joining = params.joining or []
    judge = Arrivals(each, joining, time.time, lambda: time.strftime("%H:%M:%S UTC", time.gmtime()))
    queries = _queries(params, each, joining)
    api.wait_wanted = True
    while not judge.is_over:
        try:
            api.wait(queries, judge, "pools on their way")
        except WaitTimeoutError as exc:
            api.warn(f"The next task goes on with the wait: {exc.message}")
            return
        if judge.arrived:
            _validate(api, judge.arrived, act)
            judge.leave(judge.arrived)


def _queries(params: GpuWorkloadParams, each: t.Sequence[Turn], joining: t.Sequence[str]) -> dict[str, Query]:
    selectors = [turn.params.node_selector or {} for turn in each]
    nodes = common_selector([*selectors, *map(pool_label, joining)])
    queries = {
        "nodes": Query(known("Node"), labels=nodes),
        "machines": Query(known("Machine"), params.machine_namespace, labels=POOL),
    }
    if any(turn.params.claims for turn in each):
        queries["slices"] = Query(SLICE)
    return queries


def _validate(api: Api, arrived: t.Sequence[Turn], act: Validate) -> None:
    names = ", ".join(turn.pool for turn in arrived)
    api.progress(f"pool {names}: has its devices, and is validated while others wait for theirs")
    try:
        act(arrived)
    except (ApiError, NotReadyError, WaitTimeoutError) as exc:
        api.warn(f"Pool {names} was not validated yet: {exc.code}: {exc.message}")
    for turn in arrived:
        if turn.error:
            api.warn(f"Pool {turn.pool} was not validated yet: {turn.error.code}: {turn.error.message}")


def result(each: t.Sequence[Turn], params: GpuWorkloadParams) -> dict[str, t.Any]:
    """Return the module's result, without the errors of pools."""
    for turn in each:
        turn.error = None
    return turns.result(each, params)
