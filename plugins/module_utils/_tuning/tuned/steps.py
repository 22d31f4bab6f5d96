# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""Steps of node_tuning: give the nodes of each pool its TuneD profile, and wait until they run it."""

from __future__ import annotations

import typing as t

from ..._core.errors import AcceleratorError
from ..._core.input import Problems
from ..._core.objects import KubeObject, named
from ..._core.ownership import owned, selector
from ..._kube.client import Api, Query
from ..._kube.kinds import known
from ..options import Tuning
from . import check, judge, manifest, params as options
from .judge import Wanted
from .params import NodeTuningParams

TUNED: t.Final = known("Tuned")
PROFILE: t.Final = known("Profile")
NODE: t.Final = known("Node")


def present(api: Api, params: NodeTuningParams) -> dict[str, t.Any]:
    """Tune the nodes of all pools, and return for each pool its profile, its nodes, and what it replaced.

    Raises AcceleratorError before the first write if another object would win against the pool's.
    """
    tunings = options.read(params["pools"])
    if not tunings:
        return {"pools": []}
    tuneds = api.list(TUNED, manifest.NAMESPACE)
    before = api.list(PROFILE, manifest.NAMESPACE)
    nodes = {one.name: api.list(NODE, labels=selector(one.label)) for one in tunings}
    problems = Problems()
    for one in tunings:
        check.check_nodes(one, nodes[one.name], problems)
    problems.raise_if_any()
    for one in tunings:
        _refuse_others(one, tuneds, nodes[one.name])
    for remark in filter(None, map(check.remark, tunings)):
        api.warn(remark)
    wanted = [_applied(api, one, tuneds) for one in tunings]
    seen = _wait(api, wanted, params["grace"])
    found = [judge.summarize(one, seen[one.query], seen["profiles"]) for one in wanted]
    for one in found:
        one["replaces"] = _replaced(one["profile"], nodes[one["name"]], before)
    return {"pools": found}


def absent(api: Api, params: NodeTuningParams) -> dict[str, t.Any]:
    """Delete the tuning of the pools that this collection made, and wait until no node has their profiles."""
    names = [manifest.title(one["name"]) for one in params["pools"]]
    deleted = [name for name in names if api.delete(TUNED, name, manifest.NAMESPACE)]
    if deleted:
        api.wait(
            {"profiles": Query(PROFILE, manifest.NAMESPACE)},
            lambda seen: judge.gone(seen["profiles"], deleted),
            "the nodes' own profiles",
            on_timeout_code="TUNE-LEFT",
        )
    return {
        "pools": [{"name": one["name"], "profile": manifest.title(one["name"])} for one in params["pools"]]
    }


def _refuse_others(one: Tuning, tuneds: t.Sequence[KubeObject], nodes: t.Sequence[KubeObject]) -> None:
    """Raise AcceleratorError if the pool's object is foreign, or loses against another one."""
    own = manifest.title(one.name)
    live = named(tuneds, own)
    if live and not owned(live):
        message = f"Tuned {own} exists, and this collection did not make it. Nothing was changed."
        remedy = f"Run `oc delete tuned {own} -n {manifest.NAMESPACE}`, or give the pool another name."
        raise AcceleratorError("TUNE-FOREIGN", message, remedy)
    if lines := manifest.rivals(tuneds, nodes, own):
        message = (
            f"{one.path}: the nodes of pool {one.name} would keep another profile than {own}, which has "
            f"priority {manifest.PRIORITY}: {'; '.join(lines)}. Nothing was changed."
        )
        remedy = (
            f"Set a priority above {manifest.PRIORITY} in that Tuned object, or remove `tuning` of the pool."
        )
        raise AcceleratorError("TUNE-RIVAL", message, remedy, lines)


def _applied(api: Api, one: Tuning, tuneds: t.Sequence[KubeObject]) -> Wanted:
    wanted = manifest.build(one)
    api.apply(wanted, live=named(tuneds, manifest.title(one.name)) or None)
    return Wanted(one, wanted["spec"]["profile"][0]["data"])


def _wait(api: Api, wanted: t.Sequence[Wanted], grace: int) -> dict[str, list[KubeObject]]:
    queries = {
        "tuneds": Query(TUNED, manifest.NAMESPACE),
        "profiles": Query(PROFILE, manifest.NAMESPACE),
        **{one.query: Query(NODE, labels=selector(one.tuning.label)) for one in wanted},
    }
    verdict = judge.Judge(wanted, grace, api.clock)
    return api.wait(queries, verdict, "tuning of the nodes", on_timeout_code="TUNE-NOT-APPLIED")


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
