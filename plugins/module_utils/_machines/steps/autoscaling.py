# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Put pools under the cluster autoscaler, limits first, then the bounds of each set; or take them back."""

from __future__ import annotations

import typing as t

from ..._core.errors import AcceleratorError, ConflictError, KindNotServedError
from ..._core.objects import KubeObject
from ..._core.ownership import owned, pool_of
from ..._frame.argspec import LockParams, StateParams
from ..._kube.client import Api, Query
from ..._kube.kinds import known
from ..._platforms import infrastructure
from ..._pools import autoscale
from ..._pools.model import JsonObject, Pool
from .. import autoscaler_limits, candidates, machine_autoscaler, plan as machine_plan
from ..machine_set import name_of
from . import bare_metal as bare_metal_steps

_TRIES: t.Final = 5


class GpuAutoscalerParams(LockParams, StateParams):
    """The options of gpu_autoscaler."""

    pools: list[dict[str, t.Any]]
    namespace: str


def present(api: Api, pools: t.Sequence[Pool], namespace: str) -> JsonObject:
    """Put pools with autoscale under the autoscaler and take the others back. Return bounds and limits."""
    every = api.list(known("MachineAutoscaler"), namespace)
    live = api.list(known("MachineSet"), namespace)
    sets = {pool.name: _sets_of(api, pool, live, namespace) for pool in pools}
    scaled = {pool.name: pool.autoscale for pool in pools if pool.autoscale}
    for name in scaled:
        machine_autoscaler.check(name, sets[name], every)
    counted = autoscaler_limits.counted(pools, sets)
    limits = _limit(api, counted, create=bool(scaled)) or {}
    if scaled:
        _warn_of_others(api, limits, every)
    wanted = [
        one
        for name, scale in scaled.items()
        for one in machine_autoscaler.manifests(
            scale, sets[name], every, autoscaler_limits.holds(limits, name)
        )
    ]
    have = {name_of(one): one for one in every}
    for one in wanted:
        api.apply(one, live=have.get(name_of(one)))
    kept = set(map(name_of, wanted))
    ours = [one for one in every if owned(one) and pool_of(one) in counted]
    _delete(api, [one for one in ours if name_of(one) not in kept])
    if wanted:
        _wait(api, wanted, namespace)
    return {
        "autoscalers": list(map(machine_autoscaler.summarize, wanted)),
        "limits": autoscale.gpu_limits(limits),
    }


def _sets_of(api: Api, pool: Pool, live: t.Sequence[KubeObject], namespace: str) -> list[KubeObject]:
    """Return the pool's sets; in check mode those that a pool with autoscale will have."""
    own = [one for one in live if owned(one) and pool_of(one) == pool.name]
    return _predicted(api, pool, live, own, namespace) if api.check_mode and pool.autoscale else own


def _wait(api: Api, wanted: t.Sequence[KubeObject], namespace: str) -> None:
    """Wait until the autoscaler runs and has put the bounds on each set."""
    queries = {
        "machine_sets": Query(known("MachineSet"), namespace),
        "deployments": Query(known("Deployment"), namespace, machine_autoscaler.DEPLOYMENT),
    }
    api.wait(queries, machine_autoscaler.Judge(wanted), "autoscaler")


def _warn_of_others(api: Api, limits: KubeObject, every: t.Sequence[KubeObject]) -> None:
    """Warn of foreign MachineAutoscalers that a new ClusterAutoscaler puts into effect."""
    others = [name_of(one) for one in every if not owned(one)]
    if others and not limits["metadata"].get("resourceVersion"):
        api.warn(
            "The cluster had no ClusterAutoscaler. The new one puts these MachineAutoscalers into effect "
            f"too: {', '.join(others)}."
        )


def _predicted(
    api: Api, pool: Pool, live: t.Sequence[KubeObject], own: list[KubeObject], namespace: str
) -> list[KubeObject]:
    """Return the sets that the pool will have: check mode creates none."""
    try:
        cluster = infrastructure.read(api.get(known("Infrastructure"), "cluster") or {})
        held = machine_plan.held(cluster, pool, live)
        search = candidates.start(pool, held)
        bare_metal_steps.foresee(api, cluster, pool, search, held, namespace)
        plan = machine_plan.plan(cluster, pool, search.shares, live, {"namespace": namespace})
    except AcceleratorError:
        # gpu_machineset reports what forbids the machines; existing sets are scaled all the same.
        if own:
            return own
        raise
    return [
        next((one for one in own if name_of(one) == name), manifest)
        for name, manifest in plan.manifests.items()
    ]


def absent(api: Api, names: t.Collection[str], namespace: str) -> KubeObject:
    """Take the pools of these names back from the autoscaler. Return the limits that stay."""
    try:
        every = api.list(known("MachineAutoscaler"), namespace)
        doomed = [one for one in every if owned(one) and pool_of(one) in names]
        _delete(api, doomed)
        left = _limit(api, {name: {} for name in names}, create=False)
        if left is not None and autoscaler_limits.is_unused(left) and len(doomed) == len(every):
            api.delete(known("ClusterAutoscaler"), autoscale.CLUSTER_AUTOSCALER)
            left = None
    except KindNotServedError:
        return {"autoscalers": [], "limits": []}
    return {"autoscalers": [], "limits": autoscale.gpu_limits(left or {})}


def _delete(api: Api, doomed: t.Sequence[KubeObject]) -> None:
    for one in doomed:
        api.delete(known("MachineAutoscaler"), name_of(one), one["metadata"]["namespace"])


def _limit(api: Api, counted: t.Mapping[str, t.Mapping[str, int]], create: bool) -> KubeObject | None:
    """Write the pools' limits. Return the ClusterAutoscaler, or None.

    The patch holds the resourceVersion, because others may write at the same time.
    """
    kind = known("ClusterAutoscaler")
    for last in (*[False] * (_TRIES - 1), True):
        live = api.get(kind, autoscale.CLUSTER_AUTOSCALER)
        if live is None and not create:
            return None
        base = live or autoscaler_limits.build()
        patch = autoscaler_limits.merged(base, counted)
        outcome = autoscaler_limits.with_patch(base, patch)
        if live is None:
            api.create(outcome)
            return outcome
        if autoscale.limits_manager(live):
            if create and "spec" in patch:
                raise autoscaler_limits.foreign(live, patch)
            return outcome
        for remark in autoscaler_limits.remarks(live) if create else ():
            api.warn(remark)
        if not patch:
            return outcome
        version = {"resourceVersion": live["metadata"]["resourceVersion"]}
        try:
            api.merge_patch(
                kind,
                autoscale.CLUSTER_AUTOSCALER,
                None,
                {**patch, "metadata": {**patch.get("metadata", {}), **version}},
            )
        except ConflictError:
            if last:
                raise
        else:
            return outcome
    return None
