# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Wait for rollouts, and say which pods keep the operator from draining a node."""

from __future__ import annotations

import contextlib
import typing as t

from .._core.errors import AcceleratorError, NotReadyError, WaitTimeoutError, template_of
from .._core.objects import name
from .._core.readiness import Grace
from .._kube.client import Api, Query
from .._kube.kinds import known
from .._nodes import drain
from . import evictions
from .late import Late
from .pool_judge import DRAIN, NODES, PASSING, POOLS, Rolled

POOL: t.Final = known("MachineConfigPool")


def wait_pools(
    api: Api,
    labels: t.Mapping[str, str],
    released: t.Collection[str],
    grace: float,
    late: Late | None = None,
) -> None:
    """Wait until each pool is rolled out, or its nodes are back in the pool worker if it is released.

    labels: MachineConfigPool to the selector of its nodes. late: keeps the errors if the other pools go on.
    Raises NotReadyError or WaitTimeoutError; for a node that cannot be drained the error names the pods and
    their PodDisruptionBudgets.
    """
    if not labels:
        return
    late = late or Late()
    queries = {POOLS: Query(POOL)}
    queries |= {
        f"{NODES}{object_name}": Query(known("Node"), labels=one) for object_name, one in labels.items()
    }
    titles = [object_name for object_name in labels if object_name not in released]
    judge = Rolled(titles, list(released), Grace(api.clock, grace, PASSING), late.titles)
    while True:
        with late.hold(judge.verdicts):
            _wait_pools(api, queries, judge)
            return


def _wait_pools(api: Api, queries: t.Mapping[str, Query], judge: Rolled) -> None:
    try:
        api.wait(queries, judge, "rollout of the pools", on_timeout_code="REBOOT-PENDING")
    except (NotReadyError, WaitTimeoutError) as exc:
        with contextlib.suppress(AcceleratorError):
            _explain(api, exc, queries)
        raise


def _explain(api: Api, exc: AcceleratorError, queries: t.Mapping[str, Query]) -> None:
    """Add to the error which pods the operator cannot evict from nodes that it drains."""
    nodes = {
        name(one): one
        for key, query in queries.items()
        if key != POOLS
        for one in api.list(query.kind, labels=query.labels)
    }
    going = sorted(object_name for object_name, one in nodes.items() if evictions.is_draining(one))
    pods = [pod for object_name in going for pod in api.list(known("Pod"), fields=drain.on(object_name))]
    left = drain.leaving(pods)
    lines = evictions.blocked(left, api.list(known("PodDisruptionBudget")) if left else [])
    if lines:
        exc.code, exc.remedy = DRAIN, template_of(DRAIN).remedy
        exc.message += f" The operator cannot evict: {'; '.join(lines[:5])}."
        exc.evidence += lines
