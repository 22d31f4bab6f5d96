# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""Pools handed to the cluster autoscaler: its limits first, so that nothing grows beyond them, then the bounds of each machine set; and taken back."""

from __future__ import annotations

import typing as t

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import (
    AcceleratorError,
    ConflictError,
    ForbiddenError,
    KindNotServedError,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._core.ownership import owned, pool_of
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.client import Api, Query
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.kinds import known
from ansible_collections.accelerators.openshift.plugins.module_utils._machines import (
    candidates,
    plan as machine_plan,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._machines.autoscaler import (
    limits as autoscaler_limits,
    machine_autoscaler,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._machines.machine_set import name_of
from ansible_collections.accelerators.openshift.plugins.module_utils._machines.steps import (
    bare_metal as bare_metal_steps,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._platforms import infrastructure
from ansible_collections.accelerators.openshift.plugins.module_utils._pools import plan as pool_plan

Data = dict[str, t.Any]
_TRIES: t.Final = 5


def present(api: Api, pools: t.Sequence[Data], namespace: str) -> Data:
    """pools: planned ones; those without autoscale are taken back."""
    every = api.list(known("MachineAutoscaler"), namespace)
    live = api.list(known("MachineSet"), namespace)
    sets = {
        pool["name"]: [one for one in live if owned(one) and pool_of(one) == pool["name"]] for pool in pools
    }
    scaled = [pool for pool in pools if pool["autoscale"]]
    if api.check_mode:
        sets |= {pool["name"]: _foreseen(api, pool, live, sets[pool["name"]], namespace) for pool in scaled}
    for pool in scaled:
        machine_autoscaler.check(pool["name"], sets[pool["name"]], every)
    counted = autoscaler_limits.counted(pools, sets)
    limits = _limit(api, counted, create=bool(scaled)) or {}
    if (
        scaled
        and not limits["metadata"].get("resourceVersion")
        and (others := [name_of(one) for one in every if not owned(one)])
    ):
        api.warn(
            f"There was no ClusterAutoscaler: with the one that was made, these MachineAutoscalers come into effect too: {', '.join(others)}."
        )
    wanted = [
        one
        for pool in scaled
        for one in machine_autoscaler.manifests(
            pool, sets[pool["name"]], every, autoscaler_limits.holds(limits, pool["name"])
        )
    ]
    have = {name_of(one): one for one in every}
    for one in wanted:
        api.apply(one, live=have.get(name_of(one)))
    kept = set(map(name_of, wanted))
    _delete(
        api, [one for one in every if owned(one) and pool_of(one) in counted and name_of(one) not in kept]
    )
    if wanted:
        queries = {
            "machine_sets": Query(known("MachineSet"), namespace),
            "deployments": Query(known("Deployment"), namespace, machine_autoscaler.DEPLOYMENT),
        }
        api.wait(queries, machine_autoscaler.Judge(wanted), "autoscaler")
    return {
        "autoscalers": list(map(machine_autoscaler.summarize, wanted)),
        "limits": autoscaler_limits.limits(limits),
    }


def _foreseen(api: Api, pool: Data, live: t.Sequence[Data], own: list[Data], namespace: str) -> list[Data]:
    """The pool's machine sets after a run: those that gpu_machineset, whose check mode has made none, would have made before this."""
    try:
        cluster = infrastructure.read(api.get(known("Infrastructure"), "cluster") or {})
        planned = pool_plan.single(machine_plan.entry({"pool": pool}), cluster.cloud, cluster.name)
        held = machine_plan.held(cluster, planned, live)
        search = candidates.start(planned, held)
        bare_metal_steps.foresee(api, cluster, planned, search, held, namespace)
        plan = machine_plan.plan(cluster, planned, search.shares, live, {"namespace": namespace})
    except AcceleratorError:
        # What forbids the machines is gpu_machineset's to say; sets that are there are scaled all the same.
        if own:
            return own
        raise
    return [
        next((one for one in own if name_of(one) == name), manifest)
        for name, manifest in plan.manifests.items()
    ]


def absent(api: Api, names: t.Collection[str], namespace: str) -> Data:
    """What pools of these names had of the autoscaler."""
    try:
        every = api.list(known("MachineAutoscaler"), namespace)
        doomed = [one for one in every if owned(one) and pool_of(one) in names]
        _delete(api, doomed)
        left = _limit(api, {name: {} for name in names}, create=False)
        if left is not None and autoscaler_limits.is_unused(left) and len(doomed) == len(every):
            api.delete(known("ClusterAutoscaler"), autoscaler_limits.NAME)
            left = None
    except KindNotServedError:
        return {"autoscalers": [], "limits": []}
    return {"autoscalers": [], "limits": autoscaler_limits.limits(left or {})}


def fixed_types(api: Api) -> list[str] | None:
    """Types of GPU limits that somebody keeps elsewhere; None where what is missing can be added, or nothing is known."""
    try:
        return autoscaler_limits.fixed_types(api.get(known("ClusterAutoscaler"), autoscaler_limits.NAME))
    except (KindNotServedError, ForbiddenError):
        return None


def _delete(api: Api, doomed: t.Sequence[Data]) -> None:
    for one in doomed:
        api.delete(known("MachineAutoscaler"), name_of(one), one["metadata"]["namespace"])


def _limit(api: Api, counted: t.Mapping[str, t.Mapping[str, int]], create: bool) -> Data | None:
    """The ClusterAutoscaler with the pools' limits. Written with the version that was read: others may write it at the same moment."""
    kind = known("ClusterAutoscaler")
    for last in (*[False] * (_TRIES - 1), True):
        live = api.get(kind, autoscaler_limits.NAME)
        if live is None and not create:
            return None
        base = live or autoscaler_limits.build()
        patch = autoscaler_limits.merged(base, counted)
        outcome = autoscaler_limits.with_patch(base, patch)
        if live is None:
            api.create(outcome)
            return outcome
        if autoscaler_limits.manager(live):
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
                autoscaler_limits.NAME,
                None,
                {**patch, "metadata": {**patch.get("metadata", {}), **version}},
            )
        except ConflictError:
            if last:
                raise
        else:
            return outcome
    return None
