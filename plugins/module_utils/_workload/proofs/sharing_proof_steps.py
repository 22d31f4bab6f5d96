# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Steps of the proof of sharing: fill one node with pods, ask for one more, and read the devices."""

from __future__ import annotations

import secrets
import typing as t

from ..._core import references
from ..._core.errors import ApiError, NotReadyError, WaitTimeoutError
from ..._core.objects import KubeObject, name, number_of
from ..._core.ownership import selector
from ..._kube.client import Api
from ..._kube.kinds import known
from ..._kube.session import Change
from ..._nodes import free
from ..._nodes.placeholders import is_placeholder
from ..._nodes.pool_nodes import check_resources
from .. import fingerprints, pods as workload_pods
from ..options import GpuWorkloadParams, SharingProofParams
from ..pods import Mark
from ..run_steps import MAP, POD, clean, create, look
from . import claim_proof_steps, sharing_proof as proof
from .proof_steps import Result, Watch, make_namespace, not_proven, result
from .sharing_proof import Place, Refused, Shares, Stop

NODE: t.Final = known("Node")


def check(params: GpuWorkloadParams, pools: t.Iterable[SharingProofParams]) -> None:
    """Raise InputError for an image or a resource that no proof can use."""
    references.check(params.image, "image", "gpu_validation_image (module option image)")
    for index, pool in enumerate(pools):
        path, setting = f"prove.sharing[{index}]", "validate.image of the pool in gpu_pools"
        check_resources(pool.resources, f"{path}.resources")
        references.check(pool.image, f"{path}.image", setting)


def prove(api: Api, params: GpuWorkloadParams, pools: t.Sequence[SharingProofParams]) -> Result:
    """Prove the sharing of each pool that is not proven yet; return what ran on which device.

    Raises the error of the first pool whose sharing is disproved, with those of others as evidence.
    """
    live = api.get(MAP, fingerprints.PROOFS, params.namespace)
    known_now = dict((live or {}).get("data") or {})
    results, failures = [], []
    for pool in pools:
        try:
            results.append(_prove(api, params, pool, known_now))
        except (NotReadyError, WaitTimeoutError) as exc:
            failures.append((pool.name, exc))
            known_now.pop(pool.name, None)
    if not api.check_mode and known_now != ((live or {}).get("data") or {}):
        api.apply(fingerprints.proofs(params.namespace, known_now), live=live)
    if failures:
        (_pool, first), *others = failures
        first.evidence += [f"pool {pool}: {one.code}: {one.message}" for pool, one in others]
        first.facts |= {"sharing": results, "failed_pools": [pool for pool, _error in failures]}
        raise first
    return {"sharing": results}


def _prove(
    api: Api, params: GpuWorkloadParams, pool: SharingProofParams, known_now: dict[str, str]
) -> Result:
    """Return the result of one pool, and note in `known_now` what is proven."""
    if pool.claims:
        return claim_proof_steps.prove(api, params, pool, known_now)
    nodes = sorted(api.list(NODE, labels=selector(pool.node_selector)), key=name)
    places = {name(node): proof.shares(node, pool) for node in nodes}
    fit = [Place(node, found) for node in nodes if isinstance(found := places[name(node)], dict)]
    if not params.repeat and any(known_now.get(pool.name) == proof.key(pool, one) for one in fit):
        return result(pool, "", True, "proven before")
    if not nodes:
        return result(pool, "", None, "no node has its labels")
    why = next((one for one in places.values() if isinstance(one, str)), "")
    for place in fit:
        given = proof.workload(params, pool, place.shares, max(1, int(api.deadline.remaining())))
        left, why = _free(api, given, place)
        if not why:
            return _on(api, params, pool, (place, given, left), known_now)
    return not_proven(api, pool, why)


def _free(api: Api, given: GpuWorkloadParams, place: Place) -> tuple[list[KubeObject], str]:
    """Return the pods that earlier proofs left on the node, and who holds its shares: "" if nobody does.

    Placeholder pods hold them too. A pod in their place would make the autoscaler add a node.
    """
    left, busy = look(api, given, [place.node])
    if busy:
        return left, f"{name(place.node)}: {'; '.join(busy.values())}"
    for one in api.list(POD, fields=f"spec.nodeName={name(place.node)}"):
        if is_placeholder(one) and any(free.requested(one, resource) for resource in place.shares):
            return left, f"{name(place.node)}: held by placeholder pod {name(one)}"
    return left, ""


def _on(
    api: Api,
    params: GpuWorkloadParams,
    pool: SharingProofParams,
    chosen: tuple[Place, GpuWorkloadParams, list[KubeObject]],
    known_now: dict[str, str],
) -> Result:
    """Return the result of a proof on this node. chosen: the place, its parameters, pods of earlier runs."""
    place, given, left = chosen
    if api.check_mode:
        number = sum(place.shares.values()) + len(place.shares)
        object_name = f"Pod {params.namespace}: {number_of(number, 'pod')} on node {name(place.node)}"
        api.changes.append(Change(object_name, {}, {"pods": number, "node": name(place.node)}))
        return result(pool, name(place.node), None, "")
    api.wait_wanted = True
    clean(api, given, left)
    make_namespace(api, params)
    mark = Mark(secrets.token_hex(3), api.run.id, given.hold)
    made = workload_pods.pods(given, [place.node], mark)
    more = proof.one_more(given, place, mark)
    try:
        found = _Run(api, params, pool, place, mark).watch(made, more)
    except ApiError as exc:
        found = Stop("", f"the API server refuses a pod: {exc.message.rstrip('.')}")
    finally:
        clean(api, given, [*made, *more.values()])
    if isinstance(found, Stop):
        if found.code and not (found.code == proof.APART and _free(api, given, place)[1]):
            raise proof.failure(pool, name(place.node), found)
        return not_proven(api, pool, found.why)
    known_now[pool.name] = proof.key(pool, place)
    return result(pool, name(place.node), True, "", devices=found)


class _Run(t.NamedTuple):
    """One proof while its pods run."""

    api: Api
    params: GpuWorkloadParams
    pool: SharingProofParams
    place: Place
    mark: Mark

    def watch(
        self, made: t.Sequence[KubeObject], more: t.Mapping[str, KubeObject]
    ) -> list[dict[str, t.Any]] | Stop:
        """Create the pods, then those too many; return the devices by resource, or why the proof ends."""
        job = create(self.api, self.mark.name, made)
        watch = Watch(self.api, self.params, self.mark, tuple(self.place.shares))
        together = watch.together(made, self.params.hold)
        if together.stop:
            return together.stop
        logs = watch.logs(made)
        if isinstance(logs, Stop):
            return logs
        for pod in more.values():
            self.api.create(workload_pods.owned_by(pod, job))
        refused = Refused([name(one) for one in more.values()], self.api.clock, self.params.grace)
        pods = watch.wait(refused)
        seconds = self.api.clock() - (together.since or 0)
        if stop := proof.interrupted([name(one) for one in made], pods) or proof.of_more(
            more, refused, self.place
        ):
            return stop
        return self._judge(made, logs, refused.answers, more, seconds)

    def _judge(
        self,
        made: t.Sequence[KubeObject],
        logs: t.Mapping[str, str],
        answers: t.Mapping[str, str],
        more: t.Mapping[str, KubeObject],
        seconds: float,
    ) -> list[dict[str, t.Any]] | Stop:
        found = []
        for resource in sorted(self.place.shares):
            mine = [name(one) for one in made if proof.resource_of(one, self.place) == resource]
            seen = proof.counts({object_name: logs[object_name] for object_name in mine})
            part = Shares(resource, self.pool.replicas, mine, seen, answers[name(more[resource])])
            if stop := proof.of_devices(part, self.place):
                return stop
            found.append(part.as_result(seconds))
        return found
