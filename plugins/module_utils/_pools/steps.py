# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""The steps of gpu_plan: check the description, find the platform, and plan the pools."""

from __future__ import annotations

import contextlib
import typing as t
from collections import Counter

from .._catalogue.instance_types import Catalogue
from .._catalogue.overrides import extended
from .._catalogue.well_known import INSTANCE_TYPE
from .._core.errors import ForbiddenError, KindNotServedError
from .._core.input import Problems
from .._core.objects import KubeObject, at
from .._core.ownership import MANAGED_BY, TENANT, owned, selector
from .._frame.argspec import WaitParams
from .._kube.client import Api
from .._kube.kinds import known
from .._networks import objects as network_objects, rules as network_rules
from .._networks.schema import Network, NodePool
from .._nodes.labels import labels
from .._platforms import infrastructure
from .._platforms.infrastructure import Infrastructure
from .._policy import priority_class
from .._virtualization import schema as machine_rules, steps as virtualization
from . import account, autoscale, leftovers, machine_pools, plan as pool_plan, tuning
from .draft import Draft, Place
from .machine_pools import MachinePool, Release
from .model import JsonObject, Pool

PlatformName = t.Literal[
    "aws", "azure", "gcp", "ibm", "oci", "baremetal", "vsphere", "openstack", "nutanix", "other"
]


class GpuPlanParams(WaitParams):
    """The options of gpu_plan."""

    pools: t.Any
    gpu_pools_name: str
    platform: PlatformName | None
    accelerator_limits: list[str] | None
    backend: t.Literal["dra"] | None
    replicas: dict[str, t.Any]
    leftovers: bool
    incomplete: list[str]
    catalogue: list[dict[str, t.Any]]
    queues: list[t.Any]
    networks: list[t.Any]
    prices: dict[str, t.Any] | None
    cost_classes: dict[str, t.Any] | None


def plan(api: Api, params: GpuPlanParams) -> JsonObject:
    """Return the plan of all pools. Raises InputError with every problem, if possible before a request."""
    catalogue = extended(params["catalogue"])
    prices = None if params["prices"] is None else account.read_prices(params["prices"])
    classes = (
        account.CLASSES if params["cost_classes"] is None else account.read_classes(params["cost_classes"])
    )
    entries = pool_plan.resized(params["pools"], params["gpu_pools_name"], params["replicas"])
    draft = _draft(params, catalogue, entries)
    problems = Problems()
    names = [pool["name"] for pool in entries if isinstance(pool, t.Mapping) and "name" in pool]
    networks = network_rules.checked(params["networks"], "gpu_networks", problems, names)
    place = Place(params["platform"], None, params["accelerator_limits"])
    draft.check(place, problems)
    outside: list[MachinePool] = []
    if not place.cloud:
        place, cluster = _place(api, draft, place)
        if cluster and cluster.tool and draft.makes_machines:
            # A customer of Red Hat lacks the rights too, and to grant them would not help: this comes before.
            planned = dict(zip(draft.entries, draft.pools(place), strict=True))
            made = {path: pool for path, pool in planned.items() if not pool.existing}
            outside, missing = _made_outside(api, params, cluster, made.values())
            draft = _draft(params, catalogue, machine_pools.existing(draft.entries, made, cluster.is_hosted))
            draft.check(place)
            if missing:
                raise machine_pools.refusal(missing, cluster)
    pools = draft.pools(place)
    _refuse_machines(api, draft, pools)
    given = pool_plan.given_away(params["queues"])
    found = pool_plan.assemble(pools, draft.name, draft.backend, params["incomplete"], given)
    for warning in found.warnings:
        api.warn(warning)
    if prices and (warning := account.without_type(prices, found.pools, catalogue)):
        api.warn(warning)
    costs = [] if prices is None else [account.cost(pool, prices, classes) for pool in found.pools]
    return {
        **found.as_result(),
        "networks": [network.as_result() for network in _networks(networks, found.pools, draft.name)],
        "attachments": [network.for_pods() for network in networks],
        "limits": account.limits(found.pools, place.cloud),
        "costs": costs,
        "cost": account.total_cost(costs, classes) if costs else None,
        "leftovers": _compared(api, found.outputs, networks) if params["leftovers"] else [],
        "machine_pools": [one._asdict() for one in outside],
    }


def _draft(params: GpuPlanParams, catalogue: Catalogue, entries: t.Any) -> pool_plan.ListDraft:
    name, backend = params["gpu_pools_name"], params["backend"]
    return pool_plan.draft(entries, name, catalogue, backend, rules=(tuning.check_pool,))


def _made_outside(
    api: Api, params: GpuPlanParams, cluster: Infrastructure, pools: t.Iterable[Pool]
) -> tuple[list[MachinePool], list[MachinePool]]:
    """Return what makes the nodes of these pools from outside, and what of it somebody has to run first.

    That is for pools without nodes, and for those that need another number of nodes.
    """
    listed = api.list(known("Node"), labels=machine_pools.LABEL, metadata_only=True)
    nodes = Counter(str(at(node, "metadata.labels")[machine_pools.LABEL]) for node in listed)
    release = _release(api) if cluster.is_hosted else Release()
    found: list[MachinePool] = []
    missing: list[MachinePool] = []
    for pool in pools:
        number = nodes[pool.name]
        is_resized = number > 0 and pool.name in params["replicas"]
        found.append(machine_pools.make(pool, cluster, release, is_resized))
        if is_resized or not (number or pool.name in params["incomplete"]):
            missing.append(found[-1])
        elif number < pool.min_replicas:
            api.warn(
                f"pool {pool.name}: {number} of {pool.min_replicas} nodes have the label "
                f"{machine_pools.LABEL}={pool.name}"
            )
    return found, missing


def _release(api: Api) -> Release:
    """Return the release that the cluster runs, with placeholders for what may not be read."""
    try:
        desired = at(api.get(known("ClusterVersion"), "version") or {}, "status.desired") or {}
    except (ForbiddenError, KindNotServedError):
        desired = {}
    return Release(**{key: str(desired[key]) for key in Release._fields if desired.get(key)})


def _networks(networks: t.Sequence[Network], pools: t.Sequence[Pool], variable: str) -> list[Network]:
    """Return the networks with the nodes of their pools.

    Raises InputError, also for a program that names a network which its pool does not have.
    """
    known_pools = {pool.name: NodePool(pool.name, pool.node_selector, pool.most_nodes) for pool in pools}
    found = network_rules.placed(networks, known_pools)
    problems = Problems()
    for number, pool in enumerate(pools):
        there = [network.name for network in found if pool.name in [one.name for one in network.pools]]
        for index, program in enumerate(pool.validate.programs or ()):
            wanted = program.get("network")
            if wanted and wanted not in there:
                path = f"{variable}[{number}].validate.programs[{index}].network"
                has = f"The pool has {', '.join(there)}." if there else "The pool has none."
                remedy = f"Add {wanted} to gpu_networks, or set {path} to a network of the pool."
                problems.add("POOL-VALUE", path, f"there is no network {wanted}. {has}", remedy)
    problems.raise_if_any()
    return found


def _refuse_machines(api: Api, draft: pool_plan.ListDraft, pools: t.Sequence[Pool]) -> None:
    """Raise InputError for pools of virtual machines in a cluster without OpenShift Virtualization.

    Warn of existing nodes that are virtual machines themselves.
    """
    asking = [(f"{draft.name}[{index}]", pool) for index, pool in enumerate(pools) if pool.runs_machines]
    if asking and virtualization.look(api) is None:
        problems = Problems()
        for path, _pool in asking:
            problems.add("POOL-NO-VIRTUALIZATION", f"{path}.workload")
        problems.raise_if_any()
    for path, pool in asking:
        kinds = _instance_types(api, pool) if pool.existing else []
        if found := ", ".join(filter(machine_rules.is_virtual, kinds)):
            api.warn(
                f"{path}.existing.node_selector: {found} is a virtual machine itself, and can give its GPUs "
                f"to no other: workload {pool.workload} needs bare metal."
            )


def _instance_types(api: Api, pool: Pool) -> list[str]:
    """Return the instance types of the pool's nodes; none if the identity may not list nodes."""
    try:
        nodes = api.list(known("Node"), labels=selector(pool.node_selector), metadata_only=True)
    except ForbiddenError:
        return []
    return sorted({labels(node).get(INSTANCE_TYPE, "") for node in nodes})


def _compared(api: Api, outputs: JsonObject, networks: t.Iterable[Network]) -> list[JsonObject]:
    """Return what is ours and the plan does not have: quotas, priority classes, tunings, networks.

    What may not be read is left out.

    Raises AcceleratorError for a priority class of the plan that the API server would refuse.
    """
    try:
        # Quotas of tenants belong to rbac.yml.
        ours = f"{selector(MANAGED_BY)},!{TENANT}"
        quotas = api.list(known("ResourceQuota"), labels=ours, metadata_only=True)
        priorities = api.list(known("PriorityClass"))
    except ForbiddenError:
        quotas, priorities = [], []
    priority_class.refuse(priority_class.clashes(outputs["priorities"], priorities))
    # Each pool with a tuning has a Tuned object, and only some have a MachineConfigPool.
    tuned = leftovers.of_tuning(outputs, _ours(api, "Tuned"))
    pools = leftovers.of_tuning(outputs, _ours(api, "MachineConfigPool")) if tuned else []
    left = leftovers.of_networks([network.name for network in networks], _networks_of(api))
    return [*leftovers.of_policy(outputs, quotas, priorities), *tuned, *pools, *left]


def _networks_of(api: Api) -> set[str]:
    """Return the names of the networks that this collection made; none that may not be read."""
    ours = f"{selector(MANAGED_BY)},{network_objects.NETWORK}"
    found: list[KubeObject] = []
    for namespace, kinds in network_objects.OF_NETWORKS:
        with contextlib.suppress(ForbiddenError, KindNotServedError):
            for kind in kinds:
                found += filter(owned, api.list(kind, namespace, labels=ours, metadata_only=True))
    names = {str(obj["metadata"]["labels"][network_objects.NETWORK]) for obj in found}
    with contextlib.suppress(ForbiddenError):
        cluster = api.get_if_served(network_objects.CLUSTER_NETWORK, "cluster")
        names |= {entry.partition("/")[2] for entry in network_objects.added(cluster or {"metadata": {}})}
    return names


def _ours(api: Api, kind: str) -> list[KubeObject]:
    """Return the objects with the label of this collection; none that may not be read, or is not served."""
    try:
        return api.list(known(kind), labels=selector(MANAGED_BY))
    except (ForbiddenError, KindNotServedError):
        return []


def _place(api: Api, draft: Draft, place: Place) -> tuple[Place, Infrastructure | None]:
    """Return the place with the cluster's facts, and these; a cluster that is not OpenShift has none."""
    try:
        found = api.get(known("Infrastructure"), "cluster")
    except KindNotServedError:
        return place, None
    if not found:
        return place, None
    cluster = infrastructure.read(found)
    limits = place.accelerator_limits
    if limits is None and draft.is_scaled and not cluster.tool:
        limits = fixed_types(api)
    return Place(cluster.cloud or None, cluster.name or None, limits), cluster


def fixed_types(api: Api) -> list[str] | None:
    """Return the types of the GPU limits if another manager has them, or None if limits can be added."""
    try:
        return autoscale.fixed_types(api.get(known("ClusterAutoscaler"), autoscale.CLUSTER_AUTOSCALER))
    except (KindNotServedError, ForbiddenError):
        return None
