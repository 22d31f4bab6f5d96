# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Steps of node_tuning: give the nodes of each pool its TuneD profile, and wait until they run it."""

from __future__ import annotations

import contextlib
import typing as t

from ..._core.errors import AcceleratorError, NotReadyError, WaitTimeoutError
from ..._core.input import Problems
from ..._core.objects import KubeObject, named
from ..._core.ownership import MANAGED_BY, owned, selector
from ..._core.readiness import Readiness
from ..._kube.client import Api, Query
from ..._kube.kinds import known
from .. import machine_config, rollout_steps
from ..late import REST, Late
from ..options import Tuning
from . import check, judge, manifest, params as options
from .judge import Wanted
from .params import NodeTuningParams

TUNED: t.Final = known("Tuned")
PROFILE: t.Final = known("Profile")
NODE: t.Final = known("Node")


def present(api: Api, params: NodeTuningParams) -> dict[str, t.Any]:
    """Tune the nodes of all pools, and return for each pool its profile, its nodes, and what it replaced.

    Nodes that have to reboot do so first. Raises AcceleratorError before the first write if another object
    would win against the pool's, or if nodes may not reboot. With go_on a pool that fails does not stop the
    others; its error is raised when they are done.
    """
    tunings = options.read(params["pools"])
    if not tunings:
        return {"pools": [], "rebooted": [], "ends": []}
    tuneds = api.list(TUNED, manifest.NAMESPACE)
    before = api.list(PROFILE, manifest.NAMESPACE)
    nodes = {tuning.name: api.list(NODE, labels=selector(tuning.label)) for tuning in tunings}
    _check(tunings, tuneds, nodes)
    for warning in filter(None, map(check.warning, tunings)):
        api.warn(warning)
    objects = {tuning.name: manifest.build(tuning, _parent(api, tuning)) for tuning in tunings}
    late = Late(params["go_on"], lambda: api.deadline.grow(api.deadline.elapsed() + REST))
    with _naming_pools(tunings, {}):
        rolled = _rolled(api, tunings, objects, tuneds, params["on_busy"], late)
    going = [tuning for tuning in tunings if manifest.object_name(tuning.name) not in late.titles]
    wanted = [_applied(api, one, objects[one.name], tuneds) for one in going]
    seen = _wait(api, tunings, wanted, params["grace"], late)
    found = [judge.summarize(one, seen[one.query], seen["profiles"]) for one in wanted]
    for one in found:
        one["replaces"] = _replaced(one["profile"], nodes[one["name"]], before)
        one["reboots"] = rolled.get(one["name"], {}).get("reboots", [])
        one["machine_config_pool"] = rolled.get(one["name"], {}).get("machine_config_pool", "")
        one["new_machines"] = rolled.get(one["name"], {}).get("new_machines", "")
    return {"pools": found, **_disruption(rolled.values())}


def absent(api: Api, params: NodeTuningParams) -> dict[str, t.Any]:
    """Delete the tuning of the pools that this collection made, and wait until no node has their profiles.

    Nodes that rebooted for it go back to the MachineConfigPool worker first, and reboot for that.
    """
    names = [pool["name"] for pool in params["pools"]]
    rolled = rollout_steps.remove(api, names, params["on_busy"]) if _has_pools(api) else []
    titles = [manifest.object_name(name) for name in names]
    deleted = [object_name for object_name in titles if api.delete(TUNED, object_name, manifest.NAMESPACE)]
    if deleted:
        api.wait(
            {"profiles": Query(PROFILE, manifest.NAMESPACE)},
            lambda seen: judge.gone(seen["profiles"], deleted),
            "the nodes' own profiles",
            on_timeout_code="TUNE-LEFT",
        )
    pools = [{"name": one, "profile": object_name} for one, object_name in zip(names, titles, strict=True)]
    return {"pools": pools, **_disruption(rolled)}


def _rolled(
    api: Api,
    tunings: t.Sequence[Tuning],
    objects: t.Mapping[str, KubeObject],
    tuneds: t.Sequence[KubeObject],
    on_busy: str,
    late: Late,
) -> dict[str, dict[str, t.Any]]:
    """Roll out what reboots nodes, if there is anything, and return the results by pool."""
    if not any(tuning.reboots for tuning in tunings) and not _has_pools(api):
        return {}
    leaving = [
        tuning
        for tuning in tunings
        if manifest.goes_by_pool(named(tuneds, manifest.object_name(tuning.name)))
        and not manifest.goes_by_pool(objects[tuning.name])
    ]
    if leaving:
        # The profile that these include goes with the rollout, and kernel arguments come from both.
        rollout_steps.ask(api, tunings, on_busy)
        for one in leaving:
            _applied(api, one, objects[one.name], tuneds)
    return {one["name"]: one for one in rollout_steps.ensure(api, tunings, on_busy, late)}


def _parent(api: Api, tuning: Tuning) -> str:
    """Return the profile that the pool's PerformanceProfile makes, or ""."""
    if tuning.isolate is None:
        return ""
    return machine_config.tuned_parent(tuning, api.served(known("PerformanceProfile")))


def _has_pools(api: Api) -> bool:
    """Return True if this collection has made a MachineConfigPool in the cluster."""
    return bool(api.list_if_served(known("MachineConfigPool"), labels=selector(MANAGED_BY)))


def _disruption(rolled: t.Iterable[dict[str, t.Any]]) -> dict[str, t.Any]:
    """Return the nodes that reboot, in their order, and the pods that end."""
    reboots, disruptions = list[str](), list[dict[str, t.Any]]()
    for pool in rolled:
        reboots += pool["reboots"]
        disruptions += [ended for ended in pool["ends"] if ended not in disruptions]
    return {"rebooted": reboots, "ends": disruptions}


def _check(
    tunings: t.Sequence[Tuning],
    tuneds: t.Sequence[KubeObject],
    nodes: t.Mapping[str, t.Sequence[KubeObject]],
) -> None:
    """Raise AcceleratorError if a profile does not fit the nodes, or if another object is in the way."""
    problems = Problems()
    for one in tunings:
        check.check_nodes(one, nodes[one.name], problems)
    problems.raise_if_any()
    for one in tunings:
        _refuse_others(one, tuneds, nodes[one.name])


def _refuse_others(tuning: Tuning, tuneds: t.Sequence[KubeObject], nodes: t.Sequence[KubeObject]) -> None:
    """Raise AcceleratorError if the pool's object is foreign, or loses against another one."""
    own = manifest.object_name(tuning.name)
    live = named(tuneds, own)
    if live and not owned(live):
        raise AcceleratorError("TUNE-FOREIGN", name=own)
    if lines := manifest.rivals(tuneds, nodes, own):
        raise AcceleratorError(
            "TUNE-RIVAL",
            evidence=lines,
            path=tuning.path,
            pool=tuning.name,
            profile=own,
            priority=manifest.PRIORITY,
            rivals="; ".join(lines),
        )


def _applied(api: Api, tuning: Tuning, wanted: KubeObject, tuneds: t.Sequence[KubeObject]) -> Wanted:
    api.apply(wanted, live=named(tuneds, manifest.object_name(tuning.name)) or None)
    return Wanted(tuning, wanted["spec"]["profile"][0]["data"])


def _wait(
    api: Api, tunings: t.Sequence[Tuning], wanted: t.Sequence[Wanted], grace: float, late: Late
) -> dict[str, list[KubeObject]]:
    """Wait until the nodes of all pools run their profiles, and return what was seen then.

    Raises the errors of late pools when the others are done. It names all tunings.
    """
    queries = {
        "tuneds": Query(TUNED, manifest.NAMESPACE),
        "profiles": Query(PROFILE, manifest.NAMESPACE),
        **{one.query: Query(NODE, labels=selector(one.tuning.label)) for one in wanted},
    }
    judged = judge.Judge(wanted, grace, api.clock, late.titles)
    with _naming_pools(tunings, judged.verdicts):
        seen: dict[str, list[KubeObject]] | None = None
        while seen is None:
            with late.hold(judged.verdicts):
                seen = api.wait(queries, judged, "tuning of the nodes", on_timeout_code="TUNE-NOT-APPLIED")
        late.raise_if_any()
    return seen


@contextlib.contextmanager
def _naming_pools(tunings: t.Sequence[Tuning], verdicts: t.Mapping[str, Readiness]) -> t.Iterator[None]:
    """Add to the error of a wait which pools are ready.

    verdicts: by profile. A pool whose profile has no verdict is not ready.
    """
    try:
        yield
    except (NotReadyError, WaitTimeoutError) as exc:
        found = {tuning.name: verdicts.get(manifest.object_name(tuning.name)) for tuning in tunings}
        exc.facts["pools"] = [
            {"name": pool, "ready": one is not None and one.is_ready} for pool, one in found.items()
        ]
        raise


def _replaced(
    own: str, nodes: t.Sequence[KubeObject], before: t.Sequence[KubeObject]
) -> dict[str, list[str]]:
    """Return the profiles that nodes of the pool had before the task, each with its nodes."""
    found: dict[str, list[str]] = {}
    for node in nodes:
        name = node["metadata"]["name"]
        active = (named(before, name).get("status") or {}).get("tunedProfile", own)
        if active != own:
            found.setdefault(active, []).append(name)
    return found
