# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Steps of gpu_queue: check, write flavors and queues, wait until Kueue has taken them, hand quotas over."""

from __future__ import annotations

import contextlib
import typing as t

from .._catalogue import kueue
from .._core.errors import KindNotServedError
from .._core.objects import KubeObject, name, named
from .._core.ownership import PURPOSE, TEAM, owned
from .._core.readiness import Grace
from .._kube.client import Api, Query
from .._kube.kinds import Kind, known
from .._quota import options as quota_options, resource_quota, steps as quota_steps
from . import handover, judge, manifest, options, refusals
from .options import GpuQueueParams, Queue

# Red Hat's operator, which serves this kind, manages the Jobs of namespaces with this label alone.
RED_HATS: t.Final = "kueue.openshift.io/v1"
MANAGED: t.Final = "kueue.openshift.io/managed"
GRACE: t.Final = 15.0
Result = dict[str, t.Any]


class Kinds(t.NamedTuple):
    """The kinds of Kueue in the newest version that the cluster serves."""

    version: str
    flavor: Kind
    cluster_queue: Kind
    local_queue: Kind
    workload: Kind
    topology: Kind | None


class _Seen(t.NamedTuple):
    """What is there before the first write. is_labelled: Red Hat's operator runs Kueue, by a label."""

    topologies: list[KubeObject]
    flavors: list[KubeObject]
    queues: list[KubeObject]
    local: list[KubeObject]
    quotas: quota_steps.Live
    namespaces: list[KubeObject]
    is_labelled: bool


def kinds(api: Api) -> Kinds | None:
    """Return the kinds of Kueue, or None where the cluster does not serve them."""
    for version in kueue.VERSIONS:
        with contextlib.suppress(KindNotServedError):
            names = (kueue.FLAVOR, kueue.QUEUE, kueue.LOCAL_QUEUE, kueue.WORKLOAD)
            flavor, queue, local, workload = (api.resolve(f"{kueue.GROUP}/{version}", one) for one in names)
            topology = _optional(api, f"{kueue.GROUP}/{version}", kueue.TOPOLOGY)
            return Kinds(version, flavor, queue, local, workload, topology)
    return None


def _optional(api: Api, api_version: str, kind: str) -> Kind | None:
    """Return a kind that some clusters do not serve in this version, or None."""
    try:
        return api.resolve(api_version, kind)
    except KindNotServedError:
        return None


def present(api: Api, params: GpuQueueParams) -> Result:
    """Bring the queues to the cluster, and wait until they admit Jobs. Return the module's result.

    Raises AcceleratorError before the first write for anything that is in the way.
    """
    wanted, levels = options.read(params), options.levels(params)
    handover.refuse(options.pools(params).values(), wanted)
    if not wanted:
        return {"queues": [], "handed_over": []}
    served = kinds(api)
    if served is None:
        raise refusals.no_kueue()
    if levels and not served.topology:
        raise refusals.no_topology()
    seen = _look(api, served, wanted, levels)
    missing = _check(api, params, served, seen, wanted)
    _write(api, params, served, seen, wanted, missing)
    queues = seen.queues if api.check_mode else _wait(api, served, wanted)
    _warn(api, wanted, queues, levels)
    over = _hand_over(api, wanted, seen.quotas)
    return {
        "queues": [judge.summarize(one, named(queues, one.name)) for one in wanted],
        "handed_over": over,
    }


def _look(api: Api, served: Kinds, wanted: t.Sequence[Queue], levels: t.Sequence[str]) -> _Seen:
    spaces = {space for one in wanted for space in one.namespaces}
    names = {one.name for one in wanted}
    return _Seen(
        api.list(served.topology) if served.topology and levels else [],
        api.list(served.flavor),
        api.list(served.cluster_queue),
        [one for one in api.list(served.local_queue) if _space(one) in spaces or _queue_of(one) in names],
        quota_steps.quotas(api, sorted(spaces)),
        api.list(quota_steps.NAMESPACE, metadata_only=True),
        _optional(api, RED_HATS, "Kueue") is not None,
    )


def _check(
    api: Api, params: GpuQueueParams, served: Kinds, seen: _Seen, wanted: t.Sequence[Queue]
) -> list[str]:
    """Raise AcceleratorError if something is in the way. Return the namespaces to create."""
    missing = _missing(params, seen, wanted)
    refusals.borrowing_from_itself(wanted, seen.queues, _cohorts(api, served))
    for obj in _objects(params, served, wanted):
        refusals.fixed(_live(seen, obj), obj)
        refusals.foreign(_live(seen, obj), obj, params["adopt"])
    for one in wanted:
        for obj in manifest.local_queues(served.version, one):
            refusals.moved(_live(seen, obj), obj, one.path)
    selectors = [one.pool.node_selector for queue in wanted for one in queue.shares]
    if len(selectors) > 1:
        refusals.two_flavors(wanted, api.list(known("Node"), metadata_only=True))
    return missing


def _missing(params: GpuQueueParams, seen: _Seen, wanted: t.Sequence[Queue]) -> list[str]:
    existing = {name(one) for one in seen.namespaces}
    spaces = dict.fromkeys(space for one in wanted for space in one.namespaces)
    missing = [one for one in spaces if one not in existing]
    for one in missing:
        if not params["create_namespace"]:
            raise resource_quota.no_namespace(one)
        near = () if params["namespaces"] else existing
        if why := quota_options.refused_namespace(one, params["namespaces"], near):
            raise quota_options.not_created(one, why)
    return missing


def _cohorts(api: Api, served: Kinds) -> set[str]:
    """Return the names of the Cohort objects."""
    kind = _optional(api, f"{kueue.GROUP}/{served.version}", "Cohort")
    return {name(one) for one in api.list(kind, metadata_only=True)} if kind else set()


def _objects(params: GpuQueueParams, served: Kinds, wanted: t.Sequence[Queue]) -> list[KubeObject]:
    """Return the objects to apply, in their order: Kueue reads a flavor before the queue that names it."""
    pools = {one.pool.name: one.pool for queue in wanted for one in queue.shares}
    levels = params["topology"]
    topologies = [manifest.topology(served.version, levels)] if levels else []
    flavors = [
        manifest.flavor(served.version, one, params["tolerate"], bool(levels)) for one in pools.values()
    ]
    queues = [manifest.cluster_queue(served.version, one) for one in wanted]
    local = [obj for one in wanted for obj in manifest.local_queues(served.version, one)]
    return [*topologies, *flavors, *queues, *local]


def _live(seen: _Seen, wanted: KubeObject) -> KubeObject | None:
    by_kind = {
        kueue.TOPOLOGY: seen.topologies,
        kueue.FLAVOR: seen.flavors,
        kueue.QUEUE: seen.queues,
        kueue.LOCAL_QUEUE: seen.local,
    }
    space = wanted["metadata"].get("namespace")
    own = [one for one in by_kind[wanted["kind"]] if one["metadata"].get("namespace") == space]
    return named(own, name(wanted)) or None


def _write(
    api: Api,
    params: GpuQueueParams,
    served: Kinds,
    seen: _Seen,
    wanted: t.Sequence[Queue],
    missing: t.Sequence[str],
) -> None:
    managed = {MANAGED: "true"} if seen.is_labelled else {}
    for space in missing:
        metadata = {"name": space, "labels": {PURPOSE: TEAM, **managed}}
        # Without the label of ownership: what the team puts into it is never ours to delete.
        api.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": metadata}, own=False)
    if seen.is_labelled:
        _label(api, seen, wanted)
    for obj in _objects(params, served, wanted):
        api.apply(obj, force_conflicts=params["adopt"] == "take", live=_live(seen, obj))
    for one in wanted:
        _take_back(api, served, one, seen.local)


def _label(api: Api, seen: _Seen, wanted: t.Iterable[Queue]) -> None:
    """Give the namespaces the label without which Red Hat's operator passes over their Jobs."""
    for space in dict.fromkeys(space for one in wanted for space in one.namespaces):
        now = named(seen.namespaces, space)
        if (now.get("metadata") or {}).get("labels", {}).get(MANAGED) != "true" and now:
            api.merge_patch(quota_steps.NAMESPACE, space, None, {"metadata": {"labels": {MANAGED: "true"}}})


def _take_back(api: Api, served: Kinds, queue: Queue, local: t.Iterable[KubeObject]) -> None:
    """Delete our LocalQueues of namespaces that the queue no longer serves, once they hold nothing."""
    for one in local:
        space = _space(one)
        is_kept = space in queue.namespaces and name(one) == queue.local_queue
        if _queue_of(one) != queue.name or is_kept or not owned(one):
            continue
        if (one.get("status") or {}).get("reservingWorkloads"):
            api.warn(f"LocalQueue {space}/{name(one)} is no longer wanted, and stays while its Jobs run.")
        else:
            api.delete(served.local_queue, name(one), space)


def _space(local: KubeObject) -> str:
    return str(local["metadata"]["namespace"])


def _queue_of(local: KubeObject) -> str:
    return str((local.get("spec") or {}).get("clusterQueue") or "")


def _wait(api: Api, served: Kinds, wanted: t.Sequence[Queue]) -> list[KubeObject]:
    """Wait until the queues are active. Return the ClusterQueues."""
    queries = {"queues": Query(served.cluster_queue), "local": Query(served.local_queue)}
    judged = judge.Judge(wanted, Grace(api.clock, GRACE, judge.PASSING))
    return api.wait(queries, judged, "queues of Kueue", on_timeout_code=judge.CODE)["queues"]


def _warn(
    api: Api, wanted: t.Sequence[Queue], queues: t.Sequence[KubeObject], levels: t.Sequence[str]
) -> None:
    for text in (*judge.remarks(wanted), *(judge.unreachable(wanted) if levels else ())):
        api.warn(text)
    for one in wanted:
        live = named(queues, one.name)
        if judge.is_stopped(live):
            policy = live["spec"]["stopPolicy"]
            api.warn(f"ClusterQueue {one.name} admits nothing: somebody set stopPolicy {policy}.")
        for text in judge.overused(one, live):
            api.warn(text)


def _hand_over(api: Api, wanted: t.Sequence[Queue], quotas: quota_steps.Live) -> list[str]:
    """Take the limits that refuse what the queues admit out of our quotas; warn of those of others."""
    limits, found = handover.most(wanted), list[str]()
    for space, one in ((space, one) for space, every in quotas.items() for one in every):
        keys = handover.refusing(one, limits.get(space, {}))
        if not keys:
            continue
        api.warn(handover.told(one, keys))
        if not owned(one):
            continue
        found.append(f"{space}/{name(one)}")
        if left := handover.left(one, keys):
            api.apply(resource_quota.build(name(one), space, left), live=one)
        else:
            api.delete(quota_steps.QUOTA, name(one), space)
    return found
