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
    names, ends = _remove(api, params, served) if served else ([], [])
    found = {"queues": [{"name": one} for one in names], "ends": list(ends)}
    if asked is None:
        return found
    return {**found, "stays": instance_steps.remove(api, lambda: _needed_by(api, served, names))}


def _remove(api: Api, params: GpuQueueParams, served: Kinds) -> tuple[list[str], list[str]]:
    """Delete the queues. Return their names, and the Workloads that end."""
    flavors = {str(one["name"]) for one in params["pools"]}
    listed = api.list(served.cluster_queue)
    queues = removal_queues.going(listed, {one["name"] for one in params["queues"]}, flavors)
    ends = _ask(api, params, served, queues) if queues else []
    names = [name(one) for one in queues]
    for one in api.list(served.local_queue) if queues else []:
        if (one.get("spec") or {}).get("clusterQueue") in names and owned(one):
            api.delete(served.local_queue, name(one), one["metadata"]["namespace"])
    for one in queues:
        api.delete(served.cluster_queue, name(one))
    gone = _delete_flavors(api, served, queues, flavors)
    _delete_topology(api, served, gone)
    return names, ends


def _needed_by(api: Api, served: Kinds | None, gone: t.Collection[str]) -> list[str]:
    """Return who needs Kueue without these queues, which a dry run still finds."""
    if served is None:
        return []
    workloads = api.list(served.workload, keep=removal_queues.unfinished)
    return removal_queues.needed_by(api.list(served.cluster_queue), workloads, gone)


def _ask(api: Api, params: GpuQueueParams, served: Kinds, queues: t.Sequence[KubeObject]) -> list[str]:
    """Return the Workloads that end. Stop the queues and wait until none holds quota, if that is wanted."""
    names = {name(one) for one in queues}
    held = [judge.object_name(one) for one in api.list(served.workload) if kueue.holder(one) in names]
    if not held:
        return []
    policy = _POLICY.get(params["on_busy"])
    if policy is None or (params["on_busy"] == impact.WAIT and not api.wait_wanted):
        raise refusals.busy(held)
    api.warn(
        f"Kueue ends {len(held)} of the queues' Workloads or waits for them (on_busy: {params['on_busy']})."
    )
    for one in queues:
        if ((one.get("spec") or {}).get("stopPolicy") or kueue.OPEN) != policy:
            note = {"annotations": api.run.holds("the removal of queues")}
            body = {"metadata": note, "spec": {"stopPolicy": policy}}
            api.merge_patch(served.cluster_queue, name(one), None, body)
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
    names = {name(one) for one in gone}
    kept: dict[str, list[str]] = {}
    for one in api.list(served.cluster_queue):
        for flavor in () if name(one) in names else kueue.flavors_of(one):
            kept.setdefault(flavor, []).append(name(one))
    wanted = {*flavors, *(flavor for one in gone for flavor in kueue.flavors_of(one))}
    deleted = list[str]()
    for one in api.list(served.flavor):
        if name(one) not in wanted or not owned(one):
            continue
        if name(one) in kept:
            api.warn(refusals.kept_flavor(name(one), kept[name(one)]))
        else:
            api.delete(served.flavor, name(one))
            deleted.append(name(one))
    return deleted


def _delete_topology(api: Api, served: Kinds, gone: t.Collection[str]) -> None:
    """Delete our Topology when no flavor has it any more. gone: the flavors that this run deleted."""
    if served.topology is None:
        return
    ours = [one for one in api.list(served.topology) if owned(one) and name(one) == manifest.TOPOLOGY]
    if not ours:
        return
    users = [one for one in api.list(served.flavor) if manifest.topology_of(one) == manifest.TOPOLOGY]
    if all(name(one) in gone for one in users):
        api.delete(served.topology, manifest.TOPOLOGY)
