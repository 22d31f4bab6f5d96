# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Put a pool under the cluster autoscaler, limits first, then the bounds of each set; or take it back."""

from __future__ import annotations

import typing as t

from ..._core.errors import ConflictError, KindNotServedError
from ..._core.objects import KubeObject
from ..._core.ownership import owned, pool_of
from ..._kube.client import Api, Query
from ..._kube.kinds import known
from ..._pools import autoscale
from ..._pools.model import Autoscale, JsonObject, Pool
from .. import autoscaler_limits, machine_autoscaler
from ..machine_set import name_of

_TRIES: t.Final = 5


def foresee(
    api: Api, pool: Pool, others: t.Sequence[Pool], live: t.Sequence[KubeObject], namespace: str
) -> None:
    """Raise AcceleratorError before any write if the pool cannot be put under the autoscaler.

    others: the other pools of the cluster. live: all machine sets.
    """
    sets = _sets([pool, *others], live)
    machine_autoscaler.check(sets[pool.name], api.list(known("MachineAutoscaler"), namespace))
    if now := api.get(known("ClusterAutoscaler"), autoscale.CLUSTER_AUTOSCALER):
        patch = autoscaler_limits.merged(now, autoscaler_limits.counted([pool, *others], sets))
        autoscaler_limits.check(now, patch)


def present(
    api: Api,
    pool: Pool,
    others: t.Sequence[Pool],
    predicted: t.Mapping[str, KubeObject],
    namespace: str,
) -> JsonObject:
    """Put a pool with autoscale under the autoscaler. Return its bounds and the cluster's limits.

    others: the other pools of the cluster; those without autoscale are taken back. predicted: the machine
    sets of the pool by name, as check mode predicts them.
    """
    every = api.list(known("MachineAutoscaler"), namespace)
    sets = _sets([pool, *others], api.list(known("MachineSet"), namespace))
    own = sets[pool.name]
    if api.check_mode:
        there = {name_of(one): one for one in own}
        own = sets[pool.name] = [there.get(name, manifest) for name, manifest in predicted.items()]
    machine_autoscaler.check(own, every)
    limits = _limit(api, autoscaler_limits.counted([pool, *others], sets), create=True) or {}
    _warn_of_others(api, limits, every)
    is_held = autoscaler_limits.holds(limits, pool.name)
    wanted = machine_autoscaler.manifests(t.cast(Autoscale, pool.autoscale), own, every, is_held)
    have = {name_of(autoscaler): autoscaler for autoscaler in every}
    for one in wanted:
        api.apply(one, live=have.get(name_of(one)))
    kept = set(map(name_of, wanted))
    judged = {pool.name, *(other.name for other in others if not other.autoscale)}
    ours = [autoscaler for autoscaler in every if owned(autoscaler) and pool_of(autoscaler) in judged]
    _delete(api, [autoscaler for autoscaler in ours if name_of(autoscaler) not in kept])
    _wait(api, wanted, namespace)
    return {
        "autoscalers": list(map(machine_autoscaler.summarize, wanted)),
        "limits": autoscale.gpu_limits(limits),
    }


def _sets(pools: t.Iterable[Pool], live: t.Sequence[KubeObject]) -> dict[str, list[KubeObject]]:
    """Return the machine sets of each pool by its name."""
    return {pool.name: [one for one in live if owned(one) and pool_of(one) == pool.name] for pool in pools}


def _wait(api: Api, wanted: t.Sequence[KubeObject], namespace: str) -> None:
    """Wait until the autoscaler runs and has put the bounds on each set."""
    queries = {
        "machine_sets": Query(known("MachineSet"), namespace),
        "deployments": Query(known("Deployment"), namespace, machine_autoscaler.DEPLOYMENT),
    }
    api.wait(queries, machine_autoscaler.Judge(wanted), "autoscaler")


def _warn_of_others(api: Api, limits: KubeObject, every: t.Sequence[KubeObject]) -> None:
    """Warn of foreign MachineAutoscalers that a new ClusterAutoscaler puts into effect."""
    others = [name_of(autoscaler) for autoscaler in every if not owned(autoscaler)]
    if others and not limits["metadata"].get("resourceVersion"):
        api.warn(
            "The cluster had no ClusterAutoscaler. The new one puts these MachineAutoscalers into effect "
            f"too: {', '.join(others)}."
        )


def absent(api: Api, pool: str, namespace: str) -> None:
    """Take the pool back from the autoscaler."""
    try:
        every = api.list(known("MachineAutoscaler"), namespace)
        doomed = [autoscaler for autoscaler in every if owned(autoscaler) and pool_of(autoscaler) == pool]
        _delete(api, doomed)
        left = _limit(api, {pool: {}}, create=False)
        if left is not None and autoscaler_limits.is_unused(left) and len(doomed) == len(every):
            api.delete(known("ClusterAutoscaler"), autoscale.CLUSTER_AUTOSCALER)
    except KindNotServedError:
        return


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
            if create:
                autoscaler_limits.check(live, patch)
            return outcome
        for warning in autoscaler_limits.warnings(live) if create else ():
            api.warn(warning)
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
