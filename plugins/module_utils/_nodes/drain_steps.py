# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Drain nodes: cordon, then evict every pod through the eviction API, which honours PodDisruptionBudgets."""

from __future__ import annotations

import typing as t

from .._catalogue.well_known import NIC_DRIVER_UPGRADE
from .._core.errors import AcceleratorError, ForbiddenError, NotReadyError
from .._core.objects import KubeObject, Snapshot
from .._core.readiness import Readiness
from .._kube.client import Api, Query
from .._kube.kinds import known
from . import cordons, drain as node_drain, drain_judge, maintenance, node as node_facts, sentinel
from .drain_judge import Rules
from .evictions import evict


def pods_on(api: Api, nodes: t.Collection[str]) -> list[KubeObject]:
    """Return the pods on these nodes."""
    if len(nodes) > node_drain.FEW:
        return api.list(known("Pod"), keep=lambda pod: pod if node_drain.node_of(pod) in nodes else None)
    return [pod for node in sorted(nodes) for pod in api.list(known("Pod"), fields=node_drain.on(node))]


def check(api: Api, nodes: t.Collection[str], rules: Rules, why: str) -> None:
    """Raise if the rules forbid an eviction, or another program maintains a node; change nothing."""
    refuse_claimed(api, nodes, why)
    if problem := drain_judge.refusal(pods_on(api, nodes), rules, why) if nodes else None:
        raise problem


def refuse_claimed(api: Api, nodes: t.Collection[str], why: str) -> None:
    """Raise NODE-MAINTENANCE if another program maintains one of these nodes. why: see check."""
    if not nodes:
        return
    try:
        found = api.list_if_served(known("NodeMaintenance"))
    except ForbiddenError:
        found = []
        api.warn(
            "The identity may not list NodeMaintenances, so the task cannot tell whether another program "
            f"maintains {', '.join(sorted(nodes))}."
        )
    marked = api.list(known("Node"), labels=NIC_DRIVER_UPGRADE)
    if who := maintenance.claims(nodes, found, marked):
        raise AcceleratorError("NODE-MAINTENANCE", why=why, who="; ".join(who), evidence=who)


class Watched(t.NamedTuple):
    """What a drain looks at beside pods and nodes.

    fault: given the snapshot, returns the failed verdict that stops the drain, or None.
    """

    queries: t.Mapping[str, Query]
    fault: t.Callable[[Snapshot], Readiness | None]


NOTHING: t.Final = Watched({}, drain_judge.no_fault)


def drain(
    api: Api,
    nodes: t.Collection[str],
    rules: Rules,
    why: str,
    mark: str = cordons.FOR_POOL,
    watched: Watched = NOTHING,
) -> None:
    """Cordon the nodes and evict their pods. mark: what the cordon is for.

    Raise if the rules forbid an eviction, NotReadyError if a node becomes schedulable meanwhile or if watched
    has a fault, and WaitTimeoutError if pods are left at the end of the task's time: the nodes stay cordoned
    then, and the next run resumes the drain.
    """
    check(api, nodes, rules, why)
    live = {node: api.get(known("Node"), node) for node in sorted(nodes)}
    cordoned = [node for node, one in live.items() if one is not None and _cordon(api, one, mark)]
    if cordoned and (problem := drain_judge.refusal(pods_on(api, nodes), rules, why)):
        # A pod came before the cordon took effect.
        for node in cordoned:
            uncordon(api, node)
        raise problem
    lost = frozenset(node for node, one in live.items() if one is None or not node_facts.is_ready(one))
    emptied = {
        node: cordons.since(one) for node, one in live.items() if one is not None and cordons.purpose(one)
    }
    judge = drain_judge.Emptied(frozenset(nodes), rules, api.clock, lost, emptied, fault=watched.fault)
    try:
        _empty(api, nodes, judge, watched.queries)
    except NotReadyError as exc:
        if exc.code == drain_judge.NEW_WORK:
            for node in cordoned:
                uncordon(api, node)
        raise


def uncordon(api: Api, node: str) -> None:
    """Let the scheduler put pods on the node again, unless NVSentinel holds it: then only our marks go."""
    body: KubeObject = {"metadata": {"annotations": dict(cordons.REMOVED)}}
    if not stays_held(api, api.get(known("Node"), node)):
        body["spec"] = {"unschedulable": None}
    api.merge_patch(known("Node"), node, None, body)


def stays_held(api: Api, node: KubeObject | None) -> bool:
    """Return whether NVSentinel holds the node, and say that it stays cordoned then."""
    if node is None or not (why := sentinel.held(node)):
        return False
    api.warn(
        f"Node {node_facts.name(node)} stays cordoned: NVSentinel holds it ({why}), and lets it go when it "
        "finds the node healthy."
    )
    return True


def _empty(
    api: Api, nodes: t.Collection[str], judge: drain_judge.Emptied, more: t.Mapping[str, Query]
) -> None:
    """Evict until no pod is left; only once in check mode and if the task does not wait."""
    if not nodes:
        return
    queries = _queries(nodes) | dict(more)
    stage, started = f"drain of {', '.join(map(node_facts.short, sorted(nodes)))}", api.clock()
    while True:
        snapshot = api.wait(queries, judge, stage, since=started)
        left = judge.left(snapshot)
        for pod in judge.due(left):
            text = evict(api, pod)
            judge.refused[pod["metadata"]["uid"]] = (text, api.clock())
        if not left or api.check_mode or not api.wait_wanted:
            for warning in judge.warnings(snapshot):
                api.warn(warning)
            return


def _queries(nodes: t.Collection[str]) -> dict[str, Query]:
    found, node = node_drain.pod_queries(nodes), known("Node")
    if len(nodes) > node_drain.FEW:
        return found | {drain_judge.NODES: Query(node)}
    return found | {f"{drain_judge.NODES}{one}": Query(node, name=one) for one in sorted(nodes)}


def _cordon(api: Api, node: KubeObject, mark: str) -> bool:
    if node_facts.is_cordoned(node):
        return False
    api.merge_patch(known("Node"), node_facts.name(node), None, cordons.patch(mark, api.run.id))
    return True
