# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Steps of gpu_queue that remove queues: ask for what ends, delete them, their flavors, and Kueue itself."""

from __future__ import annotations

import functools
import typing as t

from .._catalogue import kueue
from .._core.errors import AcceleratorError
from .._core.objects import KubeObject, name
from .._core.ownership import owned
from .._impact import impact
from .._kube.client import Api, Query
from .._removal import queues as removal_queues
from . import instance, instance_steps, judge, manifest, refusals
from .options import GpuQueueParams
from .served import Kinds, kinds

Result = dict[str, t.Any]
_POLICY: t.Final = {impact.DRAIN: kueue.HOLD_AND_DRAIN, impact.WAIT: kueue.HOLD}


def absent(api: Api, params: GpuQueueParams) -> Result:
    """Delete the queues of the options, and our queues that give away only these pools; return their names.

    With the option instance, delete the object Kueue too, unless others need it. Raises AcceleratorError
    before the first write if Workloads would end.
    """
    asked, served = instance.read(params), kinds(api)
    names, ended = _remove(api, params, served) if served else ([], [])
    found = {"queues": [{"name": queue} for queue in names], "ends": list(ended)}
    if asked is None:
        return found
    return {**found, "needed_by": instance_steps.remove(api, lambda: _needed_by(api, served, names))}


def _remove(api: Api, params: GpuQueueParams, served: Kinds) -> tuple[list[str], list[str]]:
    """Delete the queues. Return their names, and the Workloads that end."""
    flavors = {str(pool["name"]) for pool in params["pools"]}
    listed = api.list(served.cluster_queue)
    queues = removal_queues.going(listed, {queue["name"] for queue in params["queues"]}, flavors)
    ended = _ask(api, params, served, queues) if queues else []
    names = [name(queue) for queue in queues]
    for local in api.list(served.local_queue) if queues else []:
        if (local.get("spec") or {}).get("clusterQueue") in names and owned(local):
            api.delete(served.local_queue, name(local), local["metadata"]["namespace"])
    for queue in queues:
        api.delete(served.cluster_queue, name(queue))
    gone = _delete_flavors(api, served, queues, flavors)
    _delete_topology(api, served, gone)
    return names, ended


def _needed_by(api: Api, served: Kinds | None, gone: t.Collection[str]) -> list[str]:
    """Return who needs Kueue without these queues, which a dry run still finds."""
    if served is None:
        return []
    workloads = api.list(served.workload, keep=removal_queues.unfinished)
    return removal_queues.needed_by(api.list(served.cluster_queue), workloads, gone)


def _ask(api: Api, params: GpuQueueParams, served: Kinds, queues: t.Sequence[KubeObject]) -> list[str]:
    """Return the Workloads that end. Stop the queues and wait until none holds quota, if that is wanted."""
    names = {name(queue) for queue in queues}
    held = [judge.object_name(work) for work in api.list(served.workload) if kueue.holder(work) in names]
    if not held:
        return []
    policy = _POLICY.get(params["on_busy"])
    if policy is None or (params["on_busy"] == impact.WAIT and not api.wait_wanted):
        raise refusals.busy(held)
    api.warn(
        f"Kueue ends {len(held)} of the queues' Workloads or waits for them (on_busy: {params['on_busy']})."
    )
    for queue in queues:
        if ((queue.get("spec") or {}).get("stopPolicy") or kueue.OPEN) != policy:
            note = {"annotations": api.run.holds("the removal of queues")}
            body = {"metadata": note, "spec": {"stopPolicy": policy}}
            api.merge_patch(served.cluster_queue, name(queue), None, body)
    if not api.check_mode:
        _wait(api, served, names)
    return held if params["on_busy"] == impact.DRAIN else []


def _wait(api: Api, served: Kinds, names: t.Collection[str]) -> None:
    queries = {"workloads": Query(served.workload)}
    judged = functools.partial(judge.drained, names)
    try:
        api.wait(queries, judged, "Workloads of the queues", on_timeout_code="QUEUE-BUSY")
    except AcceleratorError as exc:
        exc.message += f" The queues {', '.join(sorted(names))} stay stopped until the next run."
        raise


def _delete_flavors(
    api: Api, served: Kinds, gone: t.Sequence[KubeObject], flavors: t.Collection[str]
) -> list[str]:
    """Delete our flavors of the pools and of the queues that are gone, unless another queue has them.

    Return their names.
    """
    names = {name(queue) for queue in gone}
    kept: dict[str, list[str]] = {}
    for queue in api.list(served.cluster_queue):
        for flavor in () if name(queue) in names else kueue.flavors_of(queue):
            kept.setdefault(flavor, []).append(name(queue))
    wanted = {*flavors, *(flavor for queue in gone for flavor in kueue.flavors_of(queue))}
    deleted = list[str]()
    for candidate in api.list(served.flavor):
        if name(candidate) not in wanted or not owned(candidate):
            continue
        if name(candidate) in kept:
            api.warn(refusals.kept_flavor(name(candidate), kept[name(candidate)]))
        else:
            api.delete(served.flavor, name(candidate))
            deleted.append(name(candidate))
    return deleted


def _delete_topology(api: Api, served: Kinds, gone: t.Collection[str]) -> None:
    """Delete our Topology when no flavor has it any more. gone: the flavors that this run deleted."""
    if served.topology is None:
        return
    ours = [obj for obj in api.list(served.topology) if owned(obj) and name(obj) == manifest.TOPOLOGY]
    if not ours:
        return
    users = [obj for obj in api.list(served.flavor) if manifest.topology_of(obj) == manifest.TOPOLOGY]
    if all(name(obj) in gone for obj in users):
        api.delete(served.topology, manifest.TOPOLOGY)
