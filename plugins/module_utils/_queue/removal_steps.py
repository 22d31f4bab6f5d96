# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Steps of gpu_queue that remove queues: ask for what ends, stop them, delete them and their flavors."""

from __future__ import annotations

import functools
import typing as t

from .._catalogue import kueue
from .._core.errors import AcceleratorError
from .._core.objects import KubeObject, name
from .._core.ownership import owned
from .._impact import impact
from .._kube.client import Api, Query
from . import judge, manifest, refusals, steps
from .options import GpuQueueParams
from .steps import Kinds, Result

_POLICY: t.Final = {impact.DRAIN: kueue.HOLD_AND_DRAIN, impact.WAIT: kueue.HOLD}


def absent(api: Api, params: GpuQueueParams) -> Result:
    """Delete the queues of the options, and our queues that give away only these pools; return their names.

    Raises AcceleratorError before the first write if Workloads would end.
    """
    served = steps.kinds(api)
    if served is None:
        return _result([], [])
    flavors = {str(one["name"]) for one in params["pools"]}
    queues = _chosen(api.list(served.cluster_queue), params, flavors)
    ends = _ask(api, params, served, queues) if queues else []
    names = [name(one) for one in queues]
    for one in api.list(served.local_queue) if queues else []:
        if (one.get("spec") or {}).get("clusterQueue") in names and owned(one):
            api.delete(served.local_queue, name(one), one["metadata"]["namespace"])
    for one in queues:
        api.delete(served.cluster_queue, name(one))
    gone = _delete_flavors(api, served, queues, flavors)
    _delete_topology(api, served, gone)
    return _result(names, ends)


def _chosen(
    live: t.Iterable[KubeObject], params: GpuQueueParams, flavors: t.Collection[str]
) -> list[KubeObject]:
    """Return the ClusterQueues to delete. One of others stays."""
    named = {one["name"] for one in params["queues"]}
    return [
        one
        for one in live
        if owned(one) and (name(one) in named or {*manifest.flavors_of(one)} <= {*flavors})
    ]


def _ask(api: Api, params: GpuQueueParams, served: Kinds, queues: t.Sequence[KubeObject]) -> list[str]:
    """Return the Workloads that end. Stop the queues and wait until none holds quota, if that is wanted."""
    names = {name(one) for one in queues}
    held = [judge.title(one) for one in api.list(served.workload) if judge.holder(one) in names]
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
            api.merge_patch(served.cluster_queue, name(one), None, {"spec": {"stopPolicy": policy}})
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
        for flavor in () if name(one) in names else manifest.flavors_of(one):
            kept.setdefault(flavor, []).append(name(one))
    wanted = {*flavors, *(flavor for one in gone for flavor in manifest.flavors_of(one))}
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


def _result(names: t.Sequence[str], ends: t.Sequence[str]) -> Result:
    return {"queues": [{"name": one} for one in names], "ends": list(ends)}
