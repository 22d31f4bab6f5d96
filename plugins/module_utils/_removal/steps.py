# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Steps of gpu_removal: look at the whole cluster, refuse a removal while pods use GPUs, write nothing."""

from __future__ import annotations

import contextlib
import typing as t
from dataclasses import replace

from .._catalogue import kueue
from .._core.errors import ForbiddenError, InputError, KindNotServedError
from .._core.objects import KubeObject, name, number_of
from .._core.ownership import POOL, owned, pool_of
from .._frame.argspec import WaitParams
from .._impact.impact import Impact
from .._kube.client import Api
from .._kube.kinds import Kind, known
from .._nfd import features as nfd_features, groups, rules as nfd_rules
from .._nodes import drain, drain_steps
from .._nodes.drain_judge import Rules
from .._olm import csv as olm_csv
from .._olm.custom_resources import owned_kinds
from .._virtualization import schema, steps as virtualization
from . import cluster as removal_cluster, disruption, needs, queues
from .cluster import GPU, KUEUE, MACHINES, NETWORK, NFD, PACKAGES, STACKS, TITLES, Cluster, GoingPool
from .disruption import BY_DRAIN, BY_STACK, Loss
from .needs import ALL, Request, Stay

Part = t.Literal[
    "gpu_operator", "nvidia_network_operator", "node_feature_discovery", "gpu_policy", "virtual_machines"
]
_NOT_COPIED: t.Final = "!olm.copiedFrom"
# Of those who need an entry of HyperConverged, so many are shown.
_SHOWN: t.Final = 5
_INSTANCE: t.Final = Kind(kueue.RED_HATS, kueue.INSTANCE, "kueues", False)


class GpuRemovalParams(WaitParams):
    """The options of gpu_removal."""

    pools: list[dict[str, t.Any]]
    parts: list[Part]
    machines: bool
    namespace: str
    gpu_namespace: str
    nic_namespace: str
    nfd_namespace: str
    kueue_namespace: str
    queues: list[str]
    on_busy: t.Literal["fail", "drain", "wait"]
    delete_emptydir: bool
    evict_unmanaged: bool


def check(api: Api, params: GpuRemovalParams) -> dict[str, t.Any]:
    """Return what goes, what stays and for whom, and which pods end. Write nothing.

    Raise AcceleratorError, with the same facts, if pods may not end. With on_busy wait, return once no pod
    uses a device of a node that keeps its machine and loses its driver.
    """
    pools = removal_cluster.going_pools(params["pools"])
    cluster = read(api, params)
    _refuse_misspelt(cluster, params["pools"])
    machines = removal_cluster.machines_of(cluster, removal_cluster.going_sets(cluster, pools))
    of_machines = removal_cluster.nodes_of_machines(machines)
    drained = of_machines if params["machines"] else {}
    selected = {**of_machines, **removal_cluster.nodes_of_pools(cluster, pools)}
    waits = params["on_busy"] == "wait"
    asked = Request(pools, params["parts"], selected, params["queues"], waits)
    stays = needs.stays(cluster, asked)
    losses = {node: Loss(f"pool {pool} loses the node", BY_DRAIN) for node, pool in drained.items()}
    served = [part for part in (GPU, NETWORK) if _stack_goes(cluster, params["parts"], stays, part)]
    if served:
        undriven = Loss("the node loses its driver", BY_STACK)
        losses = {**dict.fromkeys(selected, undriven), **losses}
    pods = drain_steps.pods_on(api, losses)
    impacts = disruption.ending(pods, losses)
    going = pools if params["machines"] else []
    left = [node for node in cluster.nodes if name(node) not in selected]
    taken, kept = _permits(api, params, left, stays)
    removes = [*_removes(cluster, going, params["parts"], stays), *taken]
    stays += [Stay(MACHINES, ALL, kept)] if kept else []
    facts = _facts(removes, stays, impacts)
    on_machines = [pod for pod in pods if pod["spec"].get("nodeName") in drained]
    if problem := disruption.refusal(impacts, on_machines, Rules.of(params), _what(going, served)):
        problem.facts.update(facts)
        problem.evidence = [*facts["table"], *problem.evidence]
        raise problem
    if waits:
        _wait(api, {node: loss for node, loss in losses.items() if loss.by == BY_STACK})
    return facts


def _refuse_misspelt(cluster: Cluster, pools: t.Sequence[t.Mapping[str, t.Any]]) -> None:
    if found := removal_cluster.misspelt(cluster, pools):
        wanted, near, there = found
        raise InputError(
            "POOL-VALUE",
            f"There is no machine set and no node of a pool {wanted}, only of {there}. Did you mean {near}?",
            f"Set gpu_pool to {near}. If {wanted} is a pool of existing nodes, give the file with its "
            "gpu_pools too: -e @FILE. If it was removed before, there is nothing to do.",
        )


def _stack_goes(cluster: Cluster, parts: t.Collection[str], stays: t.Iterable[Stay], part: str) -> bool:
    """Return True if operands of this collection leave the nodes."""
    is_kept = any(stay.part == part and stay.keeps == ALL for stay in stays)
    ours = any(owned(obj) and obj["kind"] in STACKS[part] for obj in cluster.customs.get(part, ()))
    return part in parts and ours and not is_kept


def _what(pools: t.Sequence[GoingPool], served: t.Sequence[str]) -> str:
    named = [f"pool {', '.join(pool.name for pool in pools)}"] if pools else []
    return f"The removal of {' and '.join([*named, *(TITLES[part] for part in served)])}"


def _removes(
    cluster: Cluster, pools: t.Iterable[GoingPool], parts: t.Collection[str], stays: t.Iterable[Stay]
) -> list[str]:
    """Return what goes, in words. Nothing stands there that does not exist."""
    found = []
    for pool in pools:
        sets = removal_cluster.going_sets(cluster, [pool])
        machines = removal_cluster.machines_of(cluster, sets)
        if sets:
            counted = f"{number_of(len(sets), 'machine set')}, {number_of(len(machines), 'machine')}"
            found.append(f"pool {pool.name} ({counted})")
    kept = {stay.part: stay.keeps for stay in stays}
    for part in (GPU, NETWORK, NFD, KUEUE):
        ours = [f"{obj['kind']} {name(obj)}" for obj in cluster.customs.get(part, ()) if owned(obj)]
        if part not in parts or not cluster.has(part) or kept.get(part) == ALL:
            continue
        shown = f" ({', '.join(ours)})" if ours else ""
        found.append(f"our objects of {TITLES[part]}{shown}" if part in kept else f"{TITLES[part]}{shown}")
    return found


def _permits(
    api: Api, params: GpuRemovalParams, nodes: t.Sequence[KubeObject], stays: t.Iterable[Stay]
) -> tuple[list[str], list[str]]:
    """Return the entries of HyperConverged that go, and who needs those that stay. nodes: those that stay."""
    is_asked = any(schema.runs_machines(pool.get("workload")) for pool in params["pools"])
    if MACHINES not in params["parts"] and not (GPU in params["parts"] and is_asked):
        return [], []
    live = None
    with contextlib.suppress(ForbiddenError):
        live = virtualization.look(api)
    if live is None:
        return [], []
    from .._stack import virtual_machine_steps

    goes = GPU in params["parts"] and not any(stay.part == GPU and stay.keeps == ALL for stay in stays)
    found = virtual_machine_steps.needed(api, live, nodes, has_stack=not goes)
    place = f"HyperConverged {name(live)}"
    return (
        [f"{permit.selector} as {permit.resource} in {place}" for permit, by in found.items() if not by],
        [f"{who} ({permit.resource})" for permit, by in found.items() for who in by[:_SHOWN]],
    )


def _facts(removes: list[str], stays: list[Stay], impacts: list[Impact]) -> dict[str, t.Any]:
    return {
        "removes": removes,
        "stays": [stay.as_result() for stay in stays],
        "ends": disruption.as_result(impacts),
        "table": disruption.table(removes, stays, impacts),
    }


def _wait(api: Api, losses: t.Mapping[str, Loss]) -> None:
    """Wait until no pod uses a device of these nodes."""
    if losses:
        queries, judge = drain.pod_queries(losses), disruption.idle(losses)
        api.wait(queries, judge, "pods with GPUs end", on_timeout_code="NODE-BUSY")


def read(api: Api, params: GpuRemovalParams) -> Cluster:
    """Return what the cluster holds, as far as the removal has to know it."""
    namespace = params["namespace"]
    sets = api.list_if_served(known("MachineSet"), namespace, labels=POOL)
    machines = api.list_if_served(known("Machine"), namespace, labels=POOL) if sets else []
    seen = Cluster(sets, [machine for machine in machines if pool_of(machine)], api.list(known("Node")))
    parts = [part for part in params["parts"] if part != MACHINES]
    if not parts:
        return seen
    spaces = {
        GPU: params["gpu_namespace"],
        NETWORK: params["nic_namespace"],
        NFD: params["nfd_namespace"],
    }
    if KUEUE in parts:
        spaces[KUEUE] = params["kueue_namespace"]
    csvs = api.list_if_served(known("ClusterServiceVersion"), labels=_NOT_COPIED)
    customs = {part: _customs(api, part, spaces[part], csvs) for part in (GPU, NETWORK)}
    seen = replace(seen, customs=customs, subscriptions=_subscriptions(api, spaces))
    if KUEUE in parts:
        seen = replace(
            seen,
            customs={**seen.customs, KUEUE: api.list_if_served(_INSTANCE)},
            queues=_of_kueue(api, kueue.QUEUE, "clusterqueues"),
            workloads=_of_kueue(api, kueue.WORKLOAD, "workloads", queues.unfinished),
        )
    if NFD not in parts:
        return seen
    return replace(
        seen,
        customs={**seen.customs, NFD: _nfd(api, spaces)},
        modules=api.list_if_served(known("Module")),
        csvs=[csv for csv in csvs if csv["metadata"]["namespace"] not in spaces.values()],
        daemonsets=_daemonsets(api, set(spaces.values())),
    )


def _of_kueue(
    api: Api, kind: str, plural: str, keep: t.Callable[[KubeObject], KubeObject | None] | None = None
) -> list[KubeObject]:
    """Return the objects of a kind of Kueue, in the newest version that the cluster serves."""
    for version in kueue.VERSIONS:
        with contextlib.suppress(KindNotServedError):
            return api.list(Kind(f"{kueue.GROUP}/{version}", kind, plural, False), keep=keep)
    return []


def _subscriptions(api: Api, spaces: t.Mapping[str, str]) -> dict[str, list[KubeObject]]:
    """Return part -> the Subscriptions in its namespace, and those of its package in another one."""
    found = api.list_if_served(known("Subscription"))
    return {
        part: [
            subscription
            for subscription in found
            if subscription["metadata"]["namespace"] == namespace
            or (subscription.get("spec") or {}).get("name") == PACKAGES[part]
        ]
        for part, namespace in spaces.items()
    }


def _customs(api: Api, part: str, namespace: str, csvs: t.Iterable[KubeObject]) -> list[KubeObject]:
    """Return the custom resources of an operator: of its known kinds, and of all others that its CSV owns.

    Those that another object owns go with it.
    """
    known_ones = {kind: known(kind) for kind in STACKS[part]}
    kinds = {
        (api_version, kind): Kind(api_version, kind, plural)
        for csv in csvs
        if csv["metadata"]["namespace"] == namespace and not olm_csv.is_copied(csv)
        for api_version, kind, plural in owned_kinds(csv)
        if kind not in known_ones
    }
    found = [obj for kind in known_ones.values() for obj in api.list_if_served(kind)]
    found += [obj for kind in kinds.values() for obj in api.list_if_served(kind, metadata_only=True)]
    return [obj for obj in found if not obj["metadata"].get("ownerReferences")]


def _is_of_stack(obj: KubeObject) -> bool:
    owners = {reference.get("kind") for reference in obj["metadata"].get("ownerReferences") or []}
    return bool(owners & {*STACKS[GPU], *STACKS[NETWORK]})


def _nfd(api: Api, spaces: t.Mapping[str, str]) -> list[KubeObject]:
    """Return instances, rules and published features, without those of workers and of the stacks' operands.

    An object that a stack owns goes or stays with the stack.
    """
    found = api.list_if_served(known("NodeFeatureDiscovery"))
    kind = groups.kind_of_rules(api)
    rules = [*groups.older(api, kind, groups.OLDER_RULE), *(api.list(kind) if kind else [])]
    sources = {rule["metadata"]["uid"] for rule in rules if owned(rule)}
    found += [rule for rule in rules if nfd_rules.copied_from(rule) not in sources]
    operands = {spaces[GPU], spaces[NETWORK]}
    with contextlib.suppress(KindNotServedError):
        _kind, published = groups.features(api, keep=_published)
        found += [obj for obj in published if obj["metadata"]["namespace"] not in operands]
    return [obj for obj in found if not _is_of_stack(obj)]


def _published(feature: KubeObject) -> KubeObject | None:
    """Return the NodeFeature without its long specification; None for one of a worker."""
    return None if nfd_features.is_by_worker(feature) else {**feature, "spec": {}}


def _daemonsets(api: Api, spaces: t.Container[str]) -> list[KubeObject]:
    """Return the DaemonSets outside these namespaces that select nodes by features."""

    def keep(obj: KubeObject) -> KubeObject | None:
        is_foreign = obj["metadata"].get("namespace") not in spaces
        return {"metadata": obj["metadata"]} if is_foreign and needs.selects_features(obj) else None

    return api.list(known("DaemonSet"), keep=keep)
