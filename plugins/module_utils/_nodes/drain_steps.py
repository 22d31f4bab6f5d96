# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""Drain nodes: cordon, then evict every pod through the eviction API, which honours PodDisruptionBudgets."""

from __future__ import annotations

import typing as t

from .._core.objects import KubeObject
from .._kube.client import Api, Query
from .._kube.kinds import known
from . import drain as node_drain, node as node_facts
from .drain import Rules

# With more nodes than this, one query reads all pods instead of one query for each node.
_FEW: t.Final = 8


def pods_on(api: Api, nodes: t.Collection[str]) -> list[KubeObject]:
    """Return the pods on these nodes."""
    if len(nodes) > _FEW:
        return api.list(known("Pod"), keep=lambda pod: pod if node_drain.node_of(pod) in nodes else None)
    return [pod for node in sorted(nodes) for pod in api.list(known("Pod"), fields=_of(node))]


def check(api: Api, nodes: t.Collection[str], rules: Rules, why: str) -> None:
    """Raise NODE-BUSY, NODE-EMPTYDIR or NODE-UNMANAGED if the rules forbid an eviction; change nothing."""
    if problem := node_drain.refusal(pods_on(api, nodes), rules, why) if nodes else None:
        raise problem


def drain(
    api: Api, nodes: t.Collection[str], rules: Rules, why: str, mark: str = node_facts.CORDONED_FOR_POOL
) -> None:
    """Cordon the nodes and evict their pods. mark: what the cordon is for.

    Raise if the rules forbid an eviction, and WaitTimeoutError if pods are left at the end of the task's
    time: the
    nodes stay cordoned then, and the next run resumes the drain.
    """
    check(api, nodes, rules, why)
    live = {node: api.get(known("Node"), node) for node in sorted(nodes)}
    cordoned = [node for node, one in live.items() if one is not None and _cordon(api, one, mark)]
    if cordoned and (problem := node_drain.refusal(pods_on(api, nodes), rules, why)):
        # A pod came before the cordon took effect.
        for node in cordoned:
            uncordon(api, node)
        raise problem
    lost = frozenset(node for node, one in live.items() if one is None or not node_facts.is_ready(one))
    emptied = {
        node: node_facts.cordoned_since(one)
        for node, one in live.items()
        if one is not None and node_facts.cordon_mark(one)
    }
    _empty(api, nodes, node_drain.Emptied(frozenset(nodes), rules, api.clock, lost, emptied))


def uncordon(api: Api, node: str) -> None:
    """Let the scheduler put pods on the node again."""
    api.merge_patch(
        known("Node"),
        node,
        None,
        {"metadata": {"annotations": {node_facts.CORDON_MARK: None}}, "spec": {"unschedulable": None}},
    )


def _empty(api: Api, nodes: t.Collection[str], judge: node_drain.Emptied) -> None:
    """Evict until no pod is left; only once in check mode and if the task does not wait."""
    pods = known("Pod")
    queries = (
        {node: Query(pods, fields=_of(node)) for node in sorted(nodes)}
        if len(nodes) <= _FEW
        else {"pods": Query(pods)}
    )
    while True:
        snapshot = api.wait(queries, judge, f"drain of {', '.join(map(node_facts.short, sorted(nodes)))}")
        left = judge.left(snapshot)
        for pod in judge.due(left):
            text = api.evict(pod)
            judge.refused[pod["metadata"]["uid"]] = (text, api.clock())
        if not left or api.check_mode or not api.wait_wanted:
            for remark in judge.remarks(snapshot):
                api.warn(remark)
            return


def _cordon(api: Api, node: KubeObject, mark: str) -> bool:
    if node_facts.is_cordoned(node):
        return False
    body = {"metadata": {"annotations": {node_facts.CORDON_MARK: mark}}, "spec": {"unschedulable": True}}
    api.merge_patch(known("Node"), node_facts.name(node), None, body)
    return True


def _of(node: str) -> str:
    return f"spec.nodeName={node}"
