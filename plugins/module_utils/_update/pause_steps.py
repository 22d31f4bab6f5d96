# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""Steps of update_pools: pause the MachineConfigPools of GPU nodes, and release them after the update."""

from __future__ import annotations

import typing as t

from .._core.objects import KubeObject, name
from .._frame.argspec import BusyParams, LockParams, WaitParams
from .._impact import consent
from .._kube.client import Api
from .._kube.kinds import known
from .._nodes import drain
from .._tuning import rollout, rollout_waits
from . import pause
from .pause import Member
from .rollout import MARK, selector

_BUSY: t.Final = "UPDATE-BUSY"
_GRACE: t.Final = 120.0


class UpdatePoolsParams(LockParams, BusyParams, WaitParams):
    """The options of update_pools. version: the release that the pools wait for."""

    state: t.Literal["paused", "released"]
    version: str


def paused(api: Api, params: UpdatePoolsParams) -> dict[str, t.Any]:
    """Pause the pools that have only GPU nodes. Raises AcceleratorError before the first write."""
    found = _members(api)
    wanted = pause.to_pause(found)
    for one in wanted:
        _patch(api, one, {"paused": True}, params["version"] or "unknown")
    titles = {one.title for one in found if one.is_paused} | {one.title for one in wanted}
    pools = pause.as_result(found, titles)
    return {"pools": pools, "reboots": [], "ends": [], "table": pause.table(pools)}


def released(api: Api, params: UpdatePoolsParams) -> dict[str, t.Any]:
    """Unpause the pools that a run paused, and wait until their nodes have their configuration.

    Raises AcceleratorError before the first write while the cluster is being updated, or if pods with GPUs
    would end and on_busy is fail.
    """
    found = _members(api)
    mine = [one for one in found if one.is_marked]
    if mine:
        pause.refuse_unfinished(api.get(known("ClusterVersion"), "version"))
    going = pause.reboots(mine, _pods(api, mine))
    labels = {one.title: _labels(one) for one in mine}
    questions = [rollout.question(one, labels[one.name]) for one in going]
    ends = consent.ask(api, questions, params["on_busy"], _BUSY)
    for one in mine:
        if one.is_paused:
            _patch(api, one, {"paused": False}, pause.version(one))
    rollout_waits.wait_pools(api, labels, (), _GRACE)
    # The mark goes last: a run that was killed before it waits for the nodes again.
    for one in mine if api.wait_wanted or api.check_mode else ():
        _patch(api, one, {}, None)
    titles = {one.title for one in found if one.is_paused and not one.is_marked}
    pools = pause.as_result(found, titles)
    return {
        "pools": pools,
        "reboots": [one.as_result() for one in going],
        "ends": ends,
        "table": pause.table(pools),
    }


def _members(api: Api) -> list[Member]:
    return pause.members(api.list(rollout_waits.POOL), api.list(known("Node")))


def _pods(api: Api, found: t.Iterable[Member]) -> list[KubeObject]:
    names = {name(node) for one in found for node in one.gpus}

    def working(pod: KubeObject) -> KubeObject | None:
        return pod if drain.node_of(pod) in names and drain.busy([pod]) else None

    return api.list(known("Pod"), keep=working) if names else []


def _labels(one: Member) -> str:
    """Return the pool's node selector as a query of the API server."""
    return selector({"spec": {"selector": one.pool["spec"].get("nodeSelector")}}) or ""


def _patch(api: Api, one: Member, spec: KubeObject, version: str | None) -> None:
    body = {"metadata": {"annotations": {MARK: version}}, "spec": spec}
    api.merge_patch(rollout_waits.POOL, one.title, None, body)
