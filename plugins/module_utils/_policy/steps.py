# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Steps of gpu_admission: placeholder pods for spare devices, and the policies that pods meet."""

from __future__ import annotations

import typing as t

from .._core.errors import ForbiddenError
from .._core.objects import KubeObject, name
from .._core.ownership import owned
from .._kube.client import Api
from .._kube.kinds import known
from . import options, spare
from .admission_steps import Admission
from .options import GpuAdmissionParams, Partition

DEPLOYMENT: t.Final = known("Deployment")
NAMESPACE: t.Final = known("Namespace")
Result = dict[str, t.Any]
# What people put into a namespace, and what a namespace has from the start.
_OTHERS: t.Final = ("Pod", "StatefulSet", "DaemonSet", "Job", "CronJob", "PersistentVolumeClaim", "Service")


def present(api: Api, params: GpuAdmissionParams) -> Result:
    """Keep the spare devices of the pools, and the rules about their taints. Return the module's result.

    Raises AcceleratorError before the first write if an object of others is in the way, or if the cluster
    does not know such rules.
    """
    pools = options.read(params)
    place = params["spare_namespace"]
    live = api.list(DEPLOYMENT, place)
    spare.refuse_foreign(live, pools)
    admission = Admission(api, params)
    admission.refuse(pools)
    seen = _keep_spare(api, params, pools, live)
    outcome = admission.keep(pools)
    return {"spare": [spare.summarize(pool, seen.get(pool.name)) for pool in pools], "admission": outcome}


def absent(api: Api, params: GpuAdmissionParams) -> Result:
    """Take the placeholder pods and the rules of the pools away; return the result.

    The namespace goes with its last placeholder pods, and the policies with their last pool.
    """
    pools = [pool._replace(spare=0) for pool in options.read(params)]
    live = api.list(DEPLOYMENT, params["spare_namespace"])
    admission = Admission(api, params)
    _keep_spare(api, params, pools, live)
    mine = spare.ours(live)
    if mine and len(live) == len(mine) and set(mine) <= {pool.name for pool in pools}:
        _remove_namespace(api, params["spare_namespace"])
    outcome = admission.drop({pool.name for pool in pools})
    return {"spare": [spare.summarize(pool, None) for pool in pools], "admission": outcome}


def _keep_spare(
    api: Api, params: GpuAdmissionParams, pools: t.Sequence[Partition], live: t.Sequence[KubeObject]
) -> dict[str, KubeObject]:
    """Write the Deployments that differ and delete those that no pool wants; return them by pool."""
    place, mine, found = params["spare_namespace"], spare.ours(live), dict[str, KubeObject]()
    wanted = [pool for pool in pools if pool.spare]
    if any(pool.name not in mine for pool in wanted):
        _ensure_namespace(api, place)
    for pool in wanted:
        manifest = spare.build(pool, place, params["spare_image"])
        found[pool.name] = api.apply(manifest, live=mine.get(pool.name))
    for pool in pools:
        if not pool.spare and pool.name in mine:
            api.delete(DEPLOYMENT, spare.object_name(pool.name), place)
    return found


def _ensure_namespace(api: Api, place: str) -> None:
    """Create the namespace. One that others made stays as it is."""
    live = api.get(NAMESPACE, place)
    if live is None or spare.is_made_for_spare(live):
        api.apply(spare.namespace(place), live=live)


def _remove_namespace(api: Api, place: str) -> None:
    """Delete the namespace if this collection made it and nobody else uses it."""
    live = api.get(NAMESPACE, place)
    if not spare.is_made_for_spare(live):
        return
    try:
        others = [
            f"{kind} {name(obj)}"
            for kind in _OTHERS
            for obj in api.list(known(kind), place, metadata_only=True)
            if not owned(obj) and not spare.is_spare(obj)
        ]
    except ForbiddenError as exc:
        others = [f"perhaps more ({exc.message})"]
    if others:
        api.warn(
            f"Namespace {place} stays, because it holds objects of others ({', '.join(others[:5])}). "
            f"Run `oc delete namespace {place}` when nobody needs them: all its pods end."
        )
    else:
        api.delete(NAMESPACE, place)
