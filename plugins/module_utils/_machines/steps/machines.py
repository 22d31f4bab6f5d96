# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Create the machines of a pool and wait for them, or delete them."""

from __future__ import annotations

import typing as t

from ..._core.errors import AcceleratorError, KindNotServedError
from ..._core.objects import KubeObject
from ..._core.ownership import owned, pool_label, pool_of, selector
from ..._kube.client import Api
from ..._kube.kinds import known
from ..._nodes import node as node_facts
from ..._platforms import infrastructure
from ..._platforms.infrastructure import Infrastructure
from ..._pools.draft import Draft, Place
from ..._pools.model import JsonObject, Pool
from ..._pools.plan import draft as draft_pools
from .. import (
    candidates,
    csr,
    machine_autoscaler,
    plan as machine_plan,
    pool as machine_pool,
    removal,
    scaling,
)
from ..machine import MachineError, node_name
from ..machine_set import name_of
from ..plan import platform_of
from ..pool_options import GpuMachinesetParams
from . import autoscaling, bare_metal as bare_metal_steps, health, removal as removal_steps, replacement
from .pool_objects import queries
from .provision import Provisioning


def present(api: Api, draft: Draft, params: GpuMachinesetParams) -> JsonObject:
    """Provision the pool's machines and return them. Raise InputError or NotReadyError."""
    if params["approve_csrs"]:
        csr.require_package()
    draft.check()
    cluster, live = machine_sets(api, params["namespace"])
    (pool,) = draft.pools(Place(cluster.cloud, cluster.name))
    held = machine_plan.held(cluster, pool, live)
    if not pool.autoscale:
        _not_scaled(api, pool.name, live, params["namespace"])
    if params["on_change"] == "replace" and not pool.autoscale:
        # Sets of an instance type that the pool no longer asks for make room for new ones.
        replacement.foresee_types(held, pool, int(params["max_surge"]))
        held = [
            held_set
            for held_set in held
            if any(candidates.is_of(held_set, candidate, pool) for candidate in pool.candidates)
        ]
    search = candidates.start(pool, held, params["reselect"])
    for warning in scaling.respect(search, held, live, params["on_scaled"]):
        api.warn(warning)
    removal_steps.spare(api, search, held, params["namespace"])
    bare_metal_steps.foresee(api, cluster, pool, search, held, params["namespace"])
    is_scaled = bool(pool.autoscale and api.wait_wanted)
    others = _others(pool, params, cluster) if is_scaled else []
    if is_scaled:
        autoscaling.foresee(api, pool, others, live, params["namespace"])
    provisioning = Provisioning(api, cluster, pool, params, search, held)
    found = provisioning.until_obtained(live)
    if api.wait_wanted:
        try:
            found |= _care(api, cluster, pool, others, provisioning.manifests, params)
        except AcceleratorError as exc:
            exc.facts = found | exc.facts
            raise
    return {**found, "other_pools": sorted({pool_of(one) for one in live if owned(one)} - {pool.name, ""})}


def _others(pool: Pool, params: GpuMachinesetParams, cluster: Infrastructure) -> list[Pool]:
    """Return the other pools with machine sets, whose GPUs may count against the limit of this one."""
    if not params["other_pools"]:
        return []
    every = draft_pools(params["other_pools"], "other_pools").pools(Place(cluster.cloud, cluster.name))
    return [other for other in every if other.name != pool.name and not other.existing]


def _care(
    api: Api,
    cluster: Infrastructure,
    pool: Pool,
    others: t.Sequence[Pool],
    manifests: t.Mapping[str, KubeObject],
    params: GpuMachinesetParams,
) -> JsonObject:
    """Give the pool its health check, then hand it over to the autoscaler within wait_timeout. Return both.

    This comes after the machines: while a provider refuses them, a check would create them again and again.
    manifests: the pool's machine sets by name.
    """
    found: JsonObject = {}
    if pool.health is False:
        health.absent(api, pool.name, params["namespace"])
    elif pool.health is not None:
        found |= health.present(api, cluster, pool.name, params["namespace"], pool.health, pool.is_gated)
    if pool.autoscale:
        api.deadline.grow(api.deadline.elapsed() + params["wait_timeout"])
        found |= autoscaling.present(api, pool, others, manifests, params["namespace"])
    return found


def machine_sets(api: Api, namespace: str) -> tuple[Infrastructure, list[KubeObject]]:
    """Return the cluster and all its machine sets. Raise MachineError if it has no Machine API."""
    try:
        cluster = infrastructure.read(api.get(known("Infrastructure"), "cluster") or {})
        # The platform gives a better reason for a missing Machine API than the missing kind does.
        platform_of(cluster)
        return cluster, api.list(known("MachineSet"), namespace)
    except KindNotServedError as exc:
        raise MachineError("MACH-NO-API", why=exc.message.rstrip(".")) from exc


def absent(api: Api, pool: str, params: GpuMachinesetParams) -> JsonObject:
    """Drain and delete the pool's machines. Return them."""
    namespace = params["namespace"]
    nothing: JsonObject = {"machine_sets": [], "machines": [], "nodes": [], "removed": []}
    try:
        live = api.list(known("MachineSet"), namespace, labels=selector(pool_label(pool)))
    except KindNotServedError:
        return nothing
    names = {name_of(live_set) for live_set in live if owned(live_set)}
    removal_steps.foresee(api, pool, names, params)
    health.absent(api, pool, namespace)  # before the Machines, so that it does not react to deleted Machines
    _not_scaled(api, pool, live, namespace, is_planned=bool((params.get("pool") or {}).get("autoscale")))
    removed = removal_steps.remove(api, pool, names, params)
    for live_set in live:
        api.delete(known("MachineSet"), name_of(live_set), namespace, wait=False)
    kept = frozenset(name_of(live_set) for live_set in live if not owned(live_set))
    judge = machine_pool.Absent(kept, {node_name(one) for one in removed} - {""})
    seen = api.wait(queries(pool, namespace), judge, f"pool {pool} absent")
    made = {*judge.leaving, *map(node_name, seen.get("machines", ()))}
    if others := sorted({node_facts.name(node) for node in seen.get("nodes", ())} - made):
        api.warn(
            f"The nodes {', '.join(others[:10])} of pool {pool} stay, with its labels: this collection made "
            "no machine of theirs, so nobody deletes them."
        )
    return {**nothing, "removed": list(map(removal.as_result, removed))}


def _not_scaled(
    api: Api, pool: str, live: t.Sequence[KubeObject], namespace: str, is_planned: bool = False
) -> None:
    """Take the pool back from the autoscaler, which would otherwise keep scaling its sets.

    is_planned: whether its description has autoscale.
    """
    if is_planned or any(
        machine_autoscaler.is_scaled(one) and owned(one) and pool_of(one) == pool for one in live
    ):
        autoscaling.absent(api, pool, namespace)
