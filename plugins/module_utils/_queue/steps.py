# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Steps of gpu_queue: check, write flavors and queues, wait until Kueue has taken them, hand quotas over."""

from __future__ import annotations

import typing as t

from .._catalogue import kueue
from .._core.errors import AcceleratorError
from .._core.objects import KubeObject, name, named
from .._core.ownership import PURPOSE, TEAM, owned
from .._core.readiness import Grace
from .._kube.client import Api, Query
from .._kube.kinds import known
from .._quota import options as quota_options, resource_quota, steps as quota_steps
from . import handover, instance, instance_steps, judge, manifest, options, refusals
from .options import GpuQueueParams, Queue
from .served import Kinds, expected, kinds, optional

# Red Hat's operator manages the Jobs of namespaces with this label alone.
MANAGED: t.Final = "kueue.openshift.io/managed"
GRACE: t.Final = 15.0
Result = dict[str, t.Any]


class _Seen(t.NamedTuple):
    """What is there before the first write. is_labelled: Red Hat's operator runs Kueue, by a label."""

    topologies: list[KubeObject]
    flavors: list[KubeObject]
    queues: list[KubeObject]
    local: list[KubeObject]
    quotas: quota_steps.Live
    namespaces: list[KubeObject]
    is_labelled: bool


def present(api: Api, params: GpuQueueParams) -> Result:
    """Bring the queues to the cluster, and wait until they admit Jobs. Return the module's result.

    With the option instance, bring Kueue there first. Raises AcceleratorError before the first write for
    anything that is in the way.
    """
    wanted, levels = options.read(params), options.levels(params)
    handover.refuse(options.pools(params).values(), wanted)
    asked = instance.read(params)
    found = instance_steps.look(api, asked) if asked else None
    if wanted:
        return _queues(api, params, wanted, levels, found)
    result: Result = {"queues": [], "handed_over": []}
    if found:
        result["instance"] = instance_steps.keep(api, found, params["adopt"])
    return result


def _queues(
    api: Api,
    params: GpuQueueParams,
    wanted: t.Sequence[Queue],
    levels: t.Sequence[str],
    found: instance_steps.Found | None,
) -> Result:
    served = kinds(api)
    if served is None and found is None:
        raise AcceleratorError("QUEUE-NO-KUEUE", group=kueue.GROUP)
    now = served or expected()
    if levels and not now.topology:
        raise AcceleratorError("QUEUE-NO-TOPOLOGY", group=kueue.GROUP)
    seen = _look(api, now, wanted, levels, found is not None)
    missing = _check(api, params, now, seen, wanted)
    result: Result = {}
    if found:
        result["instance"] = instance_steps.keep(api, found, params["adopt"])
    if served is None and found and not api.check_mode:
        now = served = _coming(api, found.wanted.namespace, levels)
    _write(api, params, now, seen, wanted, missing, served is not None)
    queues = seen.queues if api.check_mode else _wait(api, now, wanted)
    _warn(api, wanted, queues, seen.flavors, levels)
    result["handed_over"] = _hand_over(api, wanted, seen.quotas)
    result["queues"] = [judge.summarize(queue, named(queues, queue.name)) for queue in wanted]
    return result


def _coming(api: Api, namespace: str, levels: t.Sequence[str]) -> Kinds:
    """Return the kinds of the Kueue that the task has brought. Raises AcceleratorError."""
    served = kinds(api)
    if served is None:
        raise instance.not_served(namespace)
    if levels and not served.topology:
        raise AcceleratorError("QUEUE-NO-TOPOLOGY", group=kueue.GROUP)
    return served


def _look(
    api: Api, served: Kinds, wanted: t.Sequence[Queue], levels: t.Sequence[str], is_red_hats: bool
) -> _Seen:
    """Return what is there. The kinds may be those of a Kueue that comes with this task."""
    spaces = {space for queue in wanted for space in queue.namespaces}
    names = {queue.name for queue in wanted}
    local = api.list_if_served(served.local_queue)
    return _Seen(
        api.list_if_served(served.topology) if served.topology and levels else [],
        api.list_if_served(served.flavor),
        api.list_if_served(served.cluster_queue),
        [obj for obj in local if _space(obj) in spaces or _queue_of(obj) in names],
        quota_steps.quotas(api, sorted(spaces)),
        api.list(quota_steps.NAMESPACE, metadata_only=True),
        is_red_hats or optional(api, kueue.RED_HATS, kueue.INSTANCE) is not None,
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
    for asked in wanted:
        for obj in manifest.local_queues(served.version, asked):
            refusals.moved(_live(seen, obj), obj, asked.path)
    selectors = [share.pool.node_selector for queue in wanted for share in queue.shares]
    if len(selectors) > 1:
        refusals.two_flavors(wanted, api.list(known("Node"), metadata_only=True))
    return missing


def _missing(params: GpuQueueParams, seen: _Seen, wanted: t.Sequence[Queue]) -> list[str]:
    existing = {name(namespace) for namespace in seen.namespaces}
    spaces = dict.fromkeys(space for queue in wanted for space in queue.namespaces)
    missing = [namespace for namespace in spaces if namespace not in existing]
    for namespace in missing:
        if not params["create_namespaces"]:
            raise AcceleratorError("QUOTA-NO-NAMESPACE", namespace=namespace)
        near = () if params["namespaces"] else existing
        if why := quota_options.refused_namespace(namespace, params["namespaces"], near):
            raise AcceleratorError("QUOTA-NEW-NAMESPACE", namespace=namespace, why=why)
    return missing


def _cohorts(api: Api, served: Kinds) -> set[str]:
    """Return the names of the Cohort objects."""
    kind = optional(api, f"{kueue.GROUP}/{served.version}", "Cohort")
    return {name(cohort) for cohort in api.list(kind, metadata_only=True)} if kind else set()


def _objects(params: GpuQueueParams, served: Kinds, wanted: t.Sequence[Queue]) -> list[KubeObject]:
    """Return the objects to apply, in their order: Kueue reads a flavor before the queue that names it."""
    pools = {share.pool.name: share.pool for queue in wanted for share in queue.shares}
    levels = params["topology"]
    topologies = [manifest.topology(served.version, levels)] if levels else []
    flavors = [
        manifest.flavor(served.version, pool, params["tolerate"], bool(levels)) for pool in pools.values()
    ]
    queues = [manifest.cluster_queue(served.version, asked) for asked in wanted]
    local = [obj for asked in wanted for obj in manifest.local_queues(served.version, asked)]
    return [*topologies, *flavors, *queues, *local]


def _live(seen: _Seen, wanted: KubeObject) -> KubeObject | None:
    by_kind = {
        kueue.TOPOLOGY: seen.topologies,
        kueue.FLAVOR: seen.flavors,
        kueue.QUEUE: seen.queues,
        kueue.LOCAL_QUEUE: seen.local,
    }
    space = wanted["metadata"].get("namespace")
    own = [obj for obj in by_kind[wanted["kind"]] if obj["metadata"].get("namespace") == space]
    return named(own, name(wanted)) or None


def _write(
    api: Api,
    params: GpuQueueParams,
    served: Kinds,
    seen: _Seen,
    wanted: t.Sequence[Queue],
    missing: t.Sequence[str],
    is_served: bool,
) -> None:
    """Write what differs. is_served: the cluster has the kinds; otherwise check mode foresees the objects."""
    managed = {MANAGED: "true"} if seen.is_labelled else {}
    for space in missing:
        metadata = {"name": space, "labels": {PURPOSE: TEAM, **managed}}
        # Without the label of ownership: what the team puts into it is never ours to delete.
        api.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": metadata}, own=False)
    if seen.is_labelled:
        _label(api, seen, wanted)
    for obj in _objects(params, served, wanted):
        if not is_served:
            api.foresee(obj)
            continue
        api.apply(obj, force_conflicts=params["adopt"] == "take", live=_live(seen, obj))
    for queue in wanted:
        _take_back(api, served, queue, seen.local)


def _label(api: Api, seen: _Seen, wanted: t.Iterable[Queue]) -> None:
    """Give the namespaces the label without which Red Hat's operator passes over their Jobs."""
    for space in dict.fromkeys(space for queue in wanted for space in queue.namespaces):
        now = named(seen.namespaces, space)
        if (now.get("metadata") or {}).get("labels", {}).get(MANAGED) != "true" and now:
            api.merge_patch(quota_steps.NAMESPACE, space, None, {"metadata": {"labels": {MANAGED: "true"}}})


def _take_back(api: Api, served: Kinds, queue: Queue, local: t.Iterable[KubeObject]) -> None:
    """Delete our LocalQueues of namespaces that the queue no longer serves, once they hold nothing."""
    for obj in local:
        space = _space(obj)
        is_kept = space in queue.namespaces and name(obj) == queue.local_queue
        if _queue_of(obj) != queue.name or is_kept or not owned(obj):
            continue
        if (obj.get("status") or {}).get("reservingWorkloads"):
            api.warn(f"LocalQueue {space}/{name(obj)} is no longer wanted, and stays while its Jobs run.")
        else:
            api.delete(served.local_queue, name(obj), space)


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
    api: Api,
    wanted: t.Sequence[Queue],
    queues: t.Sequence[KubeObject],
    flavors: t.Sequence[KubeObject],
    levels: t.Sequence[str],
) -> None:
    names = {queue.name for queue in wanted}
    others = [queue for queue in queues if name(queue) not in names]
    crowded = judge.crowded(wanted, others, _shared_flavors(api, wanted, flavors)) if others else []
    for text in (*judge.warnings(wanted), *crowded, *(judge.unreachable(wanted) if levels else ())):
        api.warn(text)
    for queue in wanted:
        live = named(queues, queue.name)
        if judge.is_stopped(live):
            api.warn(judge.stopped(live))
        for text in judge.overused(queue, live):
            api.warn(text)


def _shared_flavors(
    api: Api, wanted: t.Sequence[Queue], flavors: t.Sequence[KubeObject]
) -> dict[str, set[str]]:
    """Return name of a flavor -> names of our pools whose nodes it has too."""
    pools = {share.pool.name: share.pool.node_selector for queue in wanted for share in queue.shares}
    found: dict[str, set[str]] = {name(flavor): set() for flavor in flavors}
    for marks in (obj["metadata"].get("labels") or {} for obj in api.list(known("Node"), metadata_only=True)):
        ours = {object_name for object_name, selector in pools.items() if selector.items() <= marks.items()}
        for flavor in flavors:
            wishes = (flavor.get("spec") or {}).get("nodeLabels") or {}
            if ours and wishes and wishes.items() <= marks.items():
                found[name(flavor)] |= ours
    return found


def _hand_over(api: Api, wanted: t.Sequence[Queue], quotas: quota_steps.Live) -> list[str]:
    """Take the limits that refuse what the queues admit out of our quotas; warn of those of others."""
    limits, found = handover.most(wanted), list[str]()
    for space, quota in ((space, quota) for space, every in quotas.items() for quota in every):
        keys = handover.refusing(quota, limits.get(space, {}))
        if not keys:
            continue
        api.warn(handover.warning(quota, keys))
        if not owned(quota):
            continue
        found.append(f"{space}/{name(quota)}")
        if left := handover.left(quota, keys):
            api.apply(resource_quota.build(name(quota), space, left), live=quota)
        else:
            api.delete(quota_steps.QUOTA, name(quota), space)
    return found
