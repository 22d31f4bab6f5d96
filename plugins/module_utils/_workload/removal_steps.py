# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Steps of the removal of validations: delete the namespace, or only our objects where others use it."""

from __future__ import annotations

import typing as t

from .._core.errors import ForbiddenError
from .._core.objects import KubeObject, name
from .._core.ownership import owned, pool_of
from .._kube.client import Api
from .._kube.kinds import KINDS, Kind, known
from .._nodes.labels import labels
from .._nodes.taints import matches
from . import baselines, fingerprints, gate_steps, idle_steps, judge, namespace, obstacles, runs, turns
from .fingerprints import Memory
from .options import GpuWorkloadParams
from .run_steps import MAP, POD, known_runs, read_fingerprints

_KINDS: t.Final = {kind.kind: kind for kind in KINDS.values() if kind.kind in namespace.KINDS}


def absent(api: Api, params: GpuWorkloadParams) -> dict[str, t.Any]:
    """Delete the validation namespace if this collection made it and nobody else uses it.

    Otherwise delete only validation pods of runs that are over, and the fingerprints of the pools that go.
    Return an empty result. Raises InputError for a wrong pool.
    """
    obstacles.check(params)
    found = api.get(known("Namespace"), params.namespace)
    if found is not None:
        _remove(api, params, found)
    return {"workload": judge.summarize([], [], {}, params)}


def _remove(api: Api, params: GpuWorkloadParams, found: KubeObject) -> None:
    place = params.namespace
    gate_steps.remove(api, params, turns.begin(params))
    ours = [pod for pod in api.list(POD, place) if obstacles.is_ours(pod, params)]
    known_now = known_runs(api, ours)
    living = [pod for pod in ours if not known_now.is_over(pod)]
    remembered = read_fingerprints(api, place)
    others = _in_other_pools(api, params, remembered)
    if not namespace.is_made_for_validation(found):
        api.warn(f"Namespace {place} was not made for validations and stays.")
    elif held := [f"Pod {name(pod)} of {runs.shown(pod)}" for pod in living] + _others(api, place):
        api.warn(namespace.stays(place, held))
    elif others:
        api.warn(namespace.stays_for(place, [name(node) for node in others]))
    else:
        api.delete(known("Namespace"), place)
        idle_steps.remove_class(api)
        return
    for pod in ours:
        if pod not in living:
            api.delete(POD, name(pod), place, grace=1)
    if others:
        for one in fingerprints.build(place, remembered, [], others):
            api.apply(one, live=remembered.maps.get(name(one)))
        _forget_proofs(api, params)
        return
    for one in api.list(MAP, place, metadata_only=True):
        if owned(one) and name(one).startswith((fingerprints.NAME, fingerprints.PROOFS, baselines.NAME)):
            api.delete(MAP, name(one), place)


def _forget_proofs(api: Api, params: GpuWorkloadParams) -> None:
    """Take the pools of the task out of the ConfigMap of the proofs of sharing."""
    live = api.get(MAP, fingerprints.PROOFS, params.namespace)
    going = {turn.pool for turn in turns.begin(params)}
    before = dict((live or {}).get("data") or {})
    left = {pool: value for pool, value in before.items() if pool not in going}
    if left != before:
        api.apply(fingerprints.proofs(params.namespace, left), live=live)


def _in_other_pools(api: Api, params: GpuWorkloadParams, remembered: Memory) -> list[KubeObject]:
    """Return the validated nodes that the pools of the task do not select; none if it has no pools."""
    going = turns.begin(params)
    if not remembered.data or any(turn.params.node_selector is None for turn in going):
        return []
    return [
        node
        for node in api.list(known("Node"), metadata_only=True)
        if name(node) in remembered.data and not any(_is_of(node, turn) for turn in going)
    ]


def _is_of(node: KubeObject, turn: turns.Turn) -> bool:
    """Return True if the pool has the node: by its name, since it may select only some of its nodes."""
    is_named = bool(turn.pool) and pool_of(node) == turn.pool
    return is_named or matches(turn.params.node_selector or {}, labels(node))


def _others(api: Api, place: str) -> list[str]:
    """Return the objects of others in the namespace. A kind that may not be read counts as one."""
    return [text for name_of, kind in _KINDS.items() for text in _of_kind(api, name_of, kind, place)]


def _of_kind(api: Api, name_of: str, kind: Kind, place: str) -> list[str]:
    try:
        return namespace.of_others(name_of, api.list(kind, place, metadata_only=True))
    except ForbiddenError:
        return [f"perhaps some {kind.resource}, which this identity may not list"]
