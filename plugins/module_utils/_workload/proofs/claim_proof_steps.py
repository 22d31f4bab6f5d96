# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Steps that prove the shared claims of a pool: a claim of the proof's own, two pods, and their devices."""

from __future__ import annotations

import secrets
import typing as t

from ..._core.errors import ApiError
from ..._core.objects import KubeObject, name
from ..._core.ownership import selector
from ..._kube.client import Api
from ..._kube.kinds import known
from ..._kube.session import Change
from ..._sharing.claims import Devices, devices_of
from .. import pods as workload_pods
from ..options import GpuWorkloadParams, SharingProofParams
from ..pods import Mark
from ..run_steps import CLAIM, SLICE, clean, create, look
from . import claim_proof as proof, sharing_proof
from .claim_proof import Offer
from .proof_steps import Result, Watch, make_namespace, not_proven, result
from .sharing_proof import Stop

NODE: t.Final = known("Node")


def prove(api: Api, params: GpuWorkloadParams, pool: SharingProofParams, known_now: dict[str, str]) -> Result:
    """Return the result of a pool with shared claims, and note in `known_now` what is proven.

    Raises NotReadyError if pods of one claim see different devices.
    """
    wanted = list(dict.fromkeys(devices_of(one) for one in pool.claims or []))
    nodes = sorted(api.list(NODE, labels=selector(pool.node_selector)), key=name)
    if not nodes or (api.check_mode and not api.served(SLICE)):
        return result(pool, "", None, "no node has its labels")
    slices = api.list(SLICE)
    places = [proof.offer(node, slices) for node in nodes]
    if not params.repeat and any(known_now.get(pool.name) == proof.key(wanted, one) for one in places):
        return result(pool, "", True, "proven before")
    found: list[Result] = []
    last = places[0]
    for one in wanted:
        free = _free(api, params, pool, one, places)
        if isinstance(free, str):
            return not_proven(api, pool, free)
        last, given, left = free
        if api.check_mode:
            change = {"pods": proof.PODS, "node": name(last.node), "claim": one.object_name}
            api.changes.append(Change(f"Pod {params.namespace}: proof of a shared claim", {}, change))
            continue
        shared = _on(api, params, one, (last, given, left))
        if isinstance(shared, Stop):
            if shared.code:
                raise sharing_proof.failure(pool, name(last.node), shared)
            return not_proven(api, pool, shared.why)
        found.append(shared)
    if api.check_mode:
        return result(pool, name(last.node), None, "")
    known_now[pool.name] = proof.key(wanted, last)
    return result(pool, name(last.node), True, "", found)


def _free(
    api: Api,
    params: GpuWorkloadParams,
    pool: SharingProofParams,
    wanted: Devices,
    places: t.Iterable[Offer],
) -> tuple[Offer, GpuWorkloadParams, list[KubeObject]] | str:
    """Return the first node with free devices, the pods' parameters, and pods that earlier proofs left there.

    Return why there is none, as a clause, otherwise.
    """
    why = ""
    for place in places:
        if lacking := place.lacks(wanted):
            why = why or lacking
            continue
        given = proof.workload(params, pool, wanted, max(1, int(api.deadline.remaining())))
        left, busy = look(api, given, [place.node])
        if not busy:
            return place, given, left
        why = f"{name(place.node)}: {'; '.join(busy.values())}"
    return why


def _on(
    api: Api,
    params: GpuWorkloadParams,
    wanted: Devices,
    chosen: tuple[Offer, GpuWorkloadParams, list[KubeObject]],
) -> Result | Stop:
    """Return what two pods with one claim saw. chosen: the node, the pods' parameters, pods left there."""
    place, given, left = chosen
    api.wait_wanted = True
    _clean(api, given, left)
    make_namespace(api, params)
    mark = Mark(secrets.token_hex(3), api.run.id, given.hold)
    made = proof.pods(given, place, mark)
    try:
        create(api, mark.name, made, [proof.claim(given, wanted, mark)])
        return _watch(Watch(api, params, mark, ()), wanted, place, made)
    except ApiError as exc:
        return Stop("", f"the API server refuses a pod or a claim: {exc.message.rstrip('.')}")
    finally:
        _clean(api, given, made)


def _watch(watch: Watch, wanted: Devices, place: Offer, made: t.Sequence[KubeObject]) -> Result | Stop:
    together = watch.together(made, watch.params.hold)
    if together.stop:
        return together.stop
    logs = watch.logs(made)
    if isinstance(logs, Stop):
        return logs
    if stop := watch.together(made, 0.0).stop:
        return stop
    seen = proof.judged(wanted, place, logs)
    if isinstance(seen, Stop):
        return seen
    return {
        "resource": wanted.object_name,
        "replicas": len(made),
        "shares": len(made),
        "devices": len(seen),
        "uuids": seen,
        "overlap_seconds": round(watch.api.clock() - (together.since or 0), 1),
        "refused": "",
    }


def _clean(api: Api, given: GpuWorkloadParams, pods: t.Sequence[KubeObject]) -> None:
    """Delete the pods, and the claims that they use."""
    clean(api, given, pods)
    for mark in sorted({pod["metadata"]["labels"][workload_pods.RUN_LABEL] for pod in pods}):
        api.delete(CLAIM, proof.object_name(mark), given.namespace, wait=False)
