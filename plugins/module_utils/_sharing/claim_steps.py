# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Steps of gpu_sharing for pools whose devices pods claim: ask, remove what nobody wants, make claims."""

from __future__ import annotations

import typing as t

from .._core.errors import AcceleratorError, ApiError, ForbiddenError, NotReadyError
from .._core.objects import KubeObject, Snapshot, name, number_of
from .._core.ownership import MANAGED_BY, owned, selector
from .._core.readiness import Readiness, pending, ready
from .._impact import impact
from .._kube.client import Api, Query
from .._kube.kinds import known
from .._kube.session import Change
from .._nodes import claims as gpu_claims
from .._nodes.dra_steps import refuse_old_cluster
from .._nodes.evictions import evict
from . import claims, options
from .claims import Claim, object_name_of
from .options import GpuSharingParams

CLAIM: t.Final = known("ResourceClaim")
_NAMESPACE: t.Final = known("Namespace")
_POD: t.Final = known("Pod")
BUSY: t.Final = "GPU-CLAIM-BUSY"
Result = dict[str, t.Any]


class Done(t.NamedTuple):
    """What was done. found: claims of the pools were there before. disruption: which pods it ended."""

    claims: list[Result]
    found: bool
    disruption: list[Result]


NOTHING: t.Final = Done([], False, [])


def present(api: Api, params: GpuSharingParams) -> Done:
    """Make the shared claims of the pools, and remove those that the pools no longer have.

    Raises AcceleratorError before the first write if pods use a claim that has to go, if a claim of another
    client has the name of one, or if its namespace is missing.
    """
    wanted = options.claims_of(options.read(params["pools"], claims_devices=True))
    if params["only_add"]:
        return NOTHING  # claims need the quotas first, and no machine needs them
    if wanted:
        refuse_old_cluster(api)
    if not api.served(CLAIM):
        return NOTHING
    mine = _mine(api)
    _refuse(api, wanted, mine)
    work = claims.compare(wanted, mine, [pool["name"] for pool in params["pools"]])
    disruption = _remove(api, params, work.remove)
    replaced = {object_name_of(claim) for claim in work.remove}
    made = {claim.object_name: _make(api, claim, claim.object_name in replaced) for claim in work.create}
    made |= {claim.object_name: api.apply(claim.manifest, live=live) for claim, live in work.keep}
    found = bool(work.keep or work.remove)
    return Done([claims.as_result(claim, made[claim.object_name]) for claim in wanted], found, disruption)


def absent(api: Api, params: GpuSharingParams) -> Done:
    """Remove the shared claims of the pools. Raises AcceleratorError first if pods use one of them.

    A run that may not list claims leaves them, with a warning: the pools of remove_pool.yml may have none.
    """
    if not api.served(CLAIM):
        return NOTHING
    try:
        mine = _mine(api)
    except ForbiddenError as exc:
        api.warn(f"{exc.message} So shared claims of the pools stay, if there are any.")
        return NOTHING
    work = claims.compare([], mine, [pool["name"] for pool in params["pools"]])
    return Done([], bool(work.remove), _remove(api, params, work.remove))


def _mine(api: Api) -> list[KubeObject]:
    return [claim for claim in api.list(CLAIM, labels=selector(MANAGED_BY)) if owned(claim)]


def _refuse(api: Api, wanted: t.Iterable[Claim], mine: t.Iterable[KubeObject]) -> None:
    """Raise AcceleratorError for a claim that another client made, or whose namespace is missing."""
    there, places = {object_name_of(obj) for obj in mine}, set[str]()
    for claim in wanted:
        if claim.object_name in there:
            continue
        if (live := api.get(CLAIM, claim.name, claim.namespace)) is not None and not owned(live):
            raise AcceleratorError(
                "GPU-CLAIM-FOREIGN", namespace=claim.namespace, name=claim.name, pool=claim.pool
            )
        places.add(claim.namespace)
    # In check mode an earlier step of the run may be the one that creates the namespace.
    for place in sorted(places) if not api.check_mode else ():
        if api.get(_NAMESPACE, place) is None:
            raise AcceleratorError("GPU-CLAIM-NO-NAMESPACE", namespace=place)


def _make(api: Api, claim: Claim, is_replaced: bool) -> KubeObject:
    """Create a claim and return it. The server cannot check the new spec of one that is still there."""
    if api.check_mode and is_replaced:
        api.changes.append(Change(f"ResourceClaim {claim.object_name}", {}, claim.manifest))
        return claim.manifest
    try:
        return api.apply(claim.manifest)
    except ApiError as exc:
        if "exceeded quota" not in exc.message:
            raise
        raise NotReadyError(
            "GPU-CLAIM-QUOTA",
            namespace=claim.namespace,
            name=claim.name,
            pool=claim.pool,
            answer=exc.message,
        ) from exc


def _remove(api: Api, params: GpuSharingParams, doomed: t.Sequence[KubeObject]) -> list[Result]:
    """Delete claims once no pod uses them, or with their pods. Return what that ends."""
    users = _users(api, doomed)
    if users and params["on_busy"] == impact.WAIT and api.wait_wanted and not api.check_mode:
        _wait(api, doomed, _unused, "end of pods with shared claims")
        users = []
    found = _impacts(doomed, users)
    if found and (
        params["on_busy"] == impact.FAIL or (params["on_busy"] == impact.WAIT and not api.wait_wanted)
    ):
        raise impact.refusal(found, BUSY)
    for ending in found:
        api.warn(f"{ending.line} (on_busy: {params['on_busy']}).")
    for claim in doomed:
        # The claim goes first: no new pod gets one that is being deleted.
        api.delete(CLAIM, name(claim), claim["metadata"]["namespace"], wait=False)
    if doomed and not api.check_mode:
        for text in filter(None, (evict(api, pod) for pod in users)):
            api.warn(text)
        api.wait_wanted = True
        _wait(api, doomed, _gone, "removal of shared claims")
    return impact.as_result(found)


def _impacts(doomed: t.Iterable[KubeObject], users: t.Sequence[KubeObject]) -> list[impact.Impact]:
    """Return what the removal of these claims ends; nothing if no pod uses them."""
    if not users:
        return []
    used = sorted(object_name_of(claim) for claim in doomed if gpu_claims.users(claim))
    cause = f"{number_of(len(used), 'shared claim')} must go ({', '.join(used)})"
    nodes = tuple(sorted({pod["spec"].get("nodeName") or "" for pod in users} - {""}))
    endings = tuple(map(impact.ending, users))
    return [impact.Impact(cause, "this task", nodes, endings, True, "all together")]


def _users(api: Api, doomed: t.Iterable[KubeObject]) -> list[KubeObject]:
    """Return the pods that use these claims."""
    names: dict[str, set[str]] = {}
    for claim in doomed:
        if users := gpu_claims.users(claim):
            names.setdefault(claim["metadata"]["namespace"], set()).update(users)
    return [
        pod
        for place, wanted in sorted(names.items())
        for pod in sorted(api.list(_POD, place), key=name)
        if name(pod) in wanted
    ]


def _unused(claim: KubeObject) -> bool:
    return not gpu_claims.users(claim)


def _gone(_one: KubeObject) -> bool:
    return False


def _wait(
    api: Api,
    doomed: t.Sequence[KubeObject],
    is_done: t.Callable[[KubeObject], bool],
    stage: str,
) -> None:
    """Wait until each of these claims is gone, or done."""
    uids = {claim["metadata"]["uid"] for claim in doomed}

    def judge(snapshot: Snapshot) -> Readiness:
        left = [
            claim for claim in snapshot["claims"] if claim["metadata"]["uid"] in uids and not is_done(claim)
        ]
        if not left:
            return ready("Free", "no pod uses the claims that must go")
        who = ", ".join(
            f"{object_name_of(claim)}: {', '.join(gpu_claims.users(claim)) or 'no pod'}" for claim in left
        )
        return pending(
            "InUse", f"pods use shared claims that must go: {who}", code=BUSY, remedy=impact.REMEDY
        )

    query = Query(CLAIM, labels=selector(MANAGED_BY))
    api.wait({"claims": query}, judge, stage, on_timeout_code=BUSY)
