# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Steps of gpu_hardware_profile: find what OpenShift AI reads, refuse, write, and delete what is left."""

from __future__ import annotations

import contextlib
import typing as t

from .._core.diff import object_name
from .._core.errors import AcceleratorError, ForbiddenError, KindNotServedError
from .._core.objects import KubeObject, name
from .._core.ownership import owned
from .._frame.argspec import LockParams, StateParams
from .._kube.client import Api
from .._kube.kinds import Kind, known
from .._pools.model import Pool
from .._queue import refusals
from . import profiles

# Where Red Hat's OpenShift AI has its dashboard.
USUAL: t.Final = "redhat-ods-applications"
# Live profiles by kind, namespace and name.
Profiles = dict[tuple[Kind, str, str], KubeObject]
_OPERATOR: t.Final = "dscinitialization.opendatahub.io/v1"


class GpuHardwareProfileParams(StateParams, LockParams):
    """The options of gpu_hardware_profile. pools, queues: as gpu_queue takes them.

    hardware_profiles: False takes back what an earlier run offered.
    """

    pools: list[dict[str, t.Any]]
    queues: list[dict[str, t.Any]]
    claims: bool
    hardware_profiles: bool
    namespace: str | None
    adopt: t.Literal["report", "take"]


def present(api: Api, params: GpuHardwareProfileParams) -> dict[str, t.Any]:
    """Make a profile for each pool or queue. Return the module's result.

    Raises AcceleratorError before the first write for anything that is in the way.
    """
    if not params["pools"]:
        return {"profiles": []}
    if not params["hardware_profiles"]:
        return _take_back(api, [str(pool.get("name")) for pool in params["pools"]])
    pools = [Pool.from_result(raw, f"pools[{index}]") for index, raw in enumerate(params["pools"])]
    if params["claims"]:
        raise AcceleratorError("POLICY-PROFILE-CLAIMS")
    kinds = _kinds(api)
    if not kinds:
        raise AcceleratorError("POLICY-NO-PROFILES")
    kind, place, names = kinds[0], _namespace(api, params["namespace"]), [pool.name for pool in pools]
    has_queues = kind.group == profiles.GROUP
    if params["queues"] and not has_queues:
        api.warn(f"{kind.resource} knows no queues: each profile offers a pool, past the queues.")
    made = profiles.profiles(pools, params["queues"] if has_queues else [])
    left, wanted = _live(api, kinds), list[tuple[KubeObject, KubeObject | None]]()
    for profile in made:
        now = left.pop((kind, place, profile.name), None)
        is_enabled = bool(((now or {}).get("spec") or {}).get("enabled", True))
        if now is not None and not owned(now):
            raise AcceleratorError(
                "POLICY-PROFILE-FOREIGN", kind=kind.resource, name=profile.name, namespace=place
            )
        wanted.append((profiles.build(profile, kind[:2], place, names, is_enabled), now))
        refusals.foreign(now, wanted[-1][0], params["adopt"])
    for obj, now in wanted:
        api.apply(obj, force_conflicts=now is not None, live=now)
    for found, space, old in [key for key, obj in left.items() if profiles.of_list(obj, names)]:
        api.delete(found, old, space)
    return {"profiles": [{"name": profile.name, "title": profile.title} for profile in made]}


def _take_back(api: Api, names: list[str]) -> dict[str, t.Any]:
    """Delete our profiles of this list of pools, but none with which something runs."""
    gone = {key: obj for key, obj in _seen(api).items() if profiles.of_list(obj, names)}
    users = _users(api) if gone else {}
    for (kind, space, old), obj in gone.items():
        if old in users:
            api.warn(f"{object_name(obj)} stays: {users[old]} runs with it. Stop that, and run again.")
        else:
            api.delete(kind, old, space)
    return {"profiles": []}


def _users(api: Api) -> dict[str, str]:
    """Return the name of each profile with which a workbench or a model runs, and one of these."""
    found: dict[str, str] = {}
    for kind in (Kind(*known_kind) for known_kind in profiles.USERS):
        with contextlib.suppress(ForbiddenError):
            for user in api.list_if_served(kind, metadata_only=True):
                found |= dict.fromkeys(profiles.named(user), object_name(user))
    return found


def absent(api: Api, params: GpuHardwareProfileParams) -> dict[str, t.Any]:
    """Delete our profiles that offer nothing but these pools. Return the module's result."""
    names = {str(pool["name"]) for pool in params["pools"]}
    live: Profiles = {}
    if names:
        live = _live(api, _kinds(api)) if params["hardware_profiles"] else _seen(api)
    gone = [key for key, obj in live.items() if profiles.offers_only(obj, names)]
    for kind, space, old in gone:
        api.delete(kind, old, space)
    return {"profiles": [{"name": old} for _kind, _space, old in gone]}


def _kinds(api: Api) -> list[Kind]:
    """Return the kinds of profiles that the cluster serves, the newest first, each in its newest version."""
    found: dict[tuple[str, str], Kind] = {}
    for api_version, kind, _plural in profiles.KINDS:
        with contextlib.suppress(KindNotServedError):
            served = api.resolve(api_version, kind)
            found.setdefault((served.group, served.kind), served)
    return list(found.values())


def _seen(api: Api) -> Profiles:
    """Return all profiles without a look at the kinds, and none that the identity may not list.

    So a run asks that makes no profiles: most clusters have no OpenShift AI.
    """
    found: Profiles = {}
    for kind in (Kind(*known_kind) for known_kind in profiles.KINDS):
        if kind.resource not in {seen.resource for seen, _space, _name in found}:
            with contextlib.suppress(ForbiddenError, KindNotServedError):
                found |= _live(api, [kind])
    return found


def _live(api: Api, kinds: t.Iterable[Kind]) -> Profiles:
    every = ((kind, obj) for kind in kinds for obj in api.list(kind))
    return {(kind, obj["metadata"]["namespace"], name(obj)): obj for kind, obj in every}


def _namespace(api: Api, given: str | None) -> str:
    """Return the namespace of the dashboard. Raises AcceleratorError if it does not exist."""
    place = given or USUAL
    with contextlib.suppress(KindNotServedError, ForbiddenError):
        for obj in [] if given else api.list(api.resolve(_OPERATOR, "DSCInitialization")):
            place = (obj.get("spec") or {}).get("applicationsNamespace") or place
    if api.get(known("Namespace"), place) is None:
        raise AcceleratorError("POLICY-PROFILE-NAMESPACE", namespace=place)
    return place
