# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Steps of the proof of priorities: fill one node with pods, ask for one more, and see which pod ends."""

from __future__ import annotations

import secrets
import typing as t

from ..._core import references
from ..._core.errors import AcceleratorError, ApiError, InputError
from ..._core.objects import KubeObject, name
from ..._core.ownership import selector
from ..._kube.client import Api, Query
from ..._kube.kinds import known
from ..._nodes import drain
from .. import pods as workload_pods
from ..options import GpuWorkloadParams, PreemptionProofParams
from ..run_steps import JOB, create, is_deleted
from . import preemption
from .preemption import HIGH, KEPT, LOW, Place

POD: t.Final = known("Pod")
NODE: t.Final = known("Node")
CLASS: t.Final = known("PriorityClass")
Result = dict[str, t.Any]


def check(pools: t.Iterable[PreemptionProofParams]) -> None:
    """Raise InputError for an image that no kubelet can parse."""
    for index, pool in enumerate(pools):
        path = f"prove.preemption[{index}].image"
        references.check(pool.image, path, f"the module option {path}")


def prove(api: Api, params: GpuWorkloadParams, pools: t.Sequence[PreemptionProofParams]) -> Result:
    """Prove the priority classes of each pool; return what ended for what.

    Raises InputError for classes that cannot do it, and NotReadyError if another pod ended, or none.
    """
    names = {wanted for one in pools for wanted in (one.low, one.high)}
    classes = {one: found for one in sorted(names) if (found := api.get(CLASS, one))}
    for index, pool in enumerate(pools):
        _check(pool, f"prove.preemption[{index}]", classes)
    return {"preemption": [_prove(api, params, one, int(classes[one.high]["value"])) for one in pools]}


def _check(pool: PreemptionProofParams, path: str, classes: t.Mapping[str, KubeObject]) -> None:
    for key, wanted in (("low", pool.low), ("high", pool.high)):
        if wanted not in classes:
            message = f"{path}.{key}: there is no PriorityClass {wanted}."
            raise InputError("INPUT-VALUE", message, "Set it to one of `oc get priorityclasses`.")
    low, high = classes[pool.low], classes[pool.high]
    if int(low["value"]) >= int(high["value"]) or high.get("preemptionPolicy") == "Never":
        message = f"{path}: pods of class {pool.high} do not push out pods of class {pool.low}."
        remedy = "Set high to a class with a higher value and the preemption policy PreemptLowerPriority."
        raise InputError("INPUT-VALUE", message, remedy)


def _prove(api: Api, params: GpuWorkloadParams, pool: PreemptionProofParams, high: int) -> Result:
    nodes = api.list(NODE, labels=selector(pool.node_selector))
    place = preemption.find_place(nodes, _on(api, nodes), pool.resource, high)
    if isinstance(place, str):
        return _not_proven(api, pool, place)
    if api.check_mode:
        return {"name": pool.name, "node": place.node, "proven": None, "pushed_out": "", "stayed": 0}
    api.wait_wanted = True
    mark = secrets.token_hex(3)
    seconds = max(1, int(api.deadline.remaining()))
    made = [preemption.pod(one, pool, place, params.namespace, mark, seconds) for one in (LOW, KEPT, HIGH)]
    try:
        return _watched(api, params, pool, place, made, high)
    except ApiError as exc:
        return _not_proven(api, pool, f"the API server refuses a pod: {exc.message.rstrip('.')}")
    finally:
        for one in made:
            _clean(api, one)
        is_deleted(api, JOB, workload_pods.owner_name(mark), made[0])


def _watched(
    api: Api,
    params: GpuWorkloadParams,
    pool: PreemptionProofParams,
    place: Place,
    made: t.Sequence[KubeObject],
    value: int,
) -> Result:
    """Return what ended. made: the pods of the proof. value: of the high class."""
    low, kept, high = made
    job = create(api, low["metadata"]["labels"][preemption.LABEL], [low, kept])
    if not _are_placed(api, params, [low, kept]):
        return _not_proven(api, pool, f"the scheduler did not place the pods of the proof on {place.node}")
    before = _on(api, [{"metadata": {"name": place.node}}])
    if weak := preemption.weak(before, pool.resource, value):
        return _not_proven(api, pool, f"pod {weak[0]} came to node {place.node} meanwhile")
    api.create(workload_pods.owned_by(high, job))
    is_placed = _are_placed(api, params, [high])
    after = _on(api, [{"metadata": {"name": place.node}}])
    gone = preemption.lost(before, after, name(low))
    if gone:
        raise preemption.failure(pool, f"{', '.join(gone)} ended for a pod of class {pool.high}")
    if not is_placed:
        raise preemption.failure(
            pool, f"no pod of class {pool.low} ended for one of class {pool.high} on node {place.node}"
        )
    return {
        "name": pool.name,
        "node": place.node,
        "proven": True,
        "pushed_out": name(low),
        "stayed": len(before) - 1,
    }


def _are_placed(api: Api, params: GpuWorkloadParams, pods: t.Sequence[KubeObject]) -> bool:
    mark = pods[0]["metadata"]["labels"][preemption.LABEL]
    query = Query(POD, params.namespace, labels=f"{preemption.LABEL}={mark}")
    judge = preemption.Scheduled([name(one) for one in pods], api.clock, params.grace)
    api.wait({"pods": query}, judge, "proof of the priorities")
    return not judge.late


def _on(api: Api, nodes: t.Sequence[KubeObject]) -> list[KubeObject]:
    """Return the pods of these nodes."""
    names = {name(one) for one in nodes}
    return api.list(POD, keep=lambda one: one if drain.node_of(one) in names else None)


def _not_proven(api: Api, pool: PreemptionProofParams, why: str) -> Result:
    api.warn(f"The priorities of pool {pool.name} are not proven: {why}.")
    return {"name": pool.name, "node": "", "proven": False, "pushed_out": "", "stayed": 0}


def _clean(api: Api, pod: KubeObject) -> None:
    try:
        api.delete(POD, name(pod), pod["metadata"]["namespace"], wait=False, grace=1)
    except AcceleratorError as exc:
        api.warn(f"Pod {drain.name(pod)} could not be deleted, and ends by itself: {exc.message}")
