# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Judge whether networks are ready: attachments, addresses, and what each node offers."""

from __future__ import annotations

import typing as t
from dataclasses import replace

from .._core.errors import text_of
from .._core.objects import KubeObject, Snapshot, name, named, number_of
from .._core.ownership import selector
from .._core.readiness import Grace, Readiness, about_node, at_node, pending, worst
from .._kube.kinds import known
from .._kube.session import Query
from .._nodes.devices import offered
from . import objects
from .objects import ATTACHMENT, MAKERS, SRIOV_NAMESPACE, STATE
from .schema import Network, NodePool

# What every healthy start shows for a while; trouble that lasts fails the task.
PASSING: t.Final = ("NET-ERROR", "NET-NO-CARD", "NET-SYNC", "NET-ALLOC")
_ANNOTATIONS: t.Final = (
    "sriovnetwork.openshift.io/desired-state",
    "sriovnetwork.openshift.io/current-state",
)


def queries(networks: t.Sequence[Network], namespace: str, made: t.Collection[str]) -> dict[str, Query]:
    """Return what the judge looks at. made: kinds of operators' objects that the task wrote."""
    found = {
        nodes_of(pool.name): Query(known("Node"), labels=selector(pool.node_selector))
        for pool in _pools(networks)
    }
    found["attachments"] = Query(ATTACHMENT)
    if any(network.is_sriov for network in networks):
        found["states"] = Query(STATE, SRIOV_NAMESPACE)
    for kind in (*MAKERS.values(), *objects.ADDRESSES):
        if kind.kind in made:
            place = SRIOV_NAMESPACE if kind in (MAKERS["sriov"], MAKERS["sriov_ib"]) else namespace
            found[kind.kind] = Query(kind, place if kind.namespaced else None)
    return found


def _pools(networks: t.Iterable[Network]) -> list[NodePool]:
    """Return the pools of all networks, each once."""
    return list({pool.name: pool for network in networks for pool in network.pools}.values())


def nodes_of(pool: str) -> str:
    """Return the key of a snapshot for the nodes of a pool."""
    return f"nodes of {pool}"


class Judge:
    """Judge all networks together. grace: seconds that trouble may last, for the codes of PASSING."""

    def __init__(self, networks: t.Sequence[Network], grace: float, clock: t.Callable[[], float]) -> None:
        self._networks, self._grace = networks, Grace(clock, grace, PASSING)

    def __call__(self, snapshot: Snapshot) -> Readiness:
        parts = self._grace.harden(
            part for network in self._networks for part in judge_network(network, snapshot)
        )
        lines = tuple(part.message for part in parts if not part.is_ready)
        return replace(worst(parts), details=lines)


def judge_network(network: Network, snapshot: Snapshot) -> list[Readiness]:
    """Return what the network lacks; nothing if it is ready."""
    found = list(_judge_maker(network, snapshot))
    for space in network.namespaces:
        if not any(_is_at(obj, network.name, space) for obj in snapshot["attachments"]):
            text = text_of("NET-ATTACHMENT", network=network.name, namespace=space)
            found.append(pending(f"Attachment:{space}", **text._asdict()))
    for pool in network.pools:
        nodes = snapshot[nodes_of(pool.name)]
        found += _judge_addresses(network, nodes, snapshot)
        for node in nodes:
            verdict = _judge_node(network, node, snapshot)
            found += [verdict] if verdict else []
    return found


def _is_at(obj: KubeObject, wanted: str, space: str) -> bool:
    return name(obj) == wanted and obj["metadata"].get("namespace") == space


def _judge_maker(network: Network, snapshot: Snapshot) -> t.Iterator[Readiness]:
    """Yield the error that the network operator reports on the network's object."""
    kind = MAKERS.get(network.kind)
    live = named(snapshot.get(kind.kind, ()), network.name) if kind else {}
    status = live.get("status") or {}
    if status.get("state") == "error":
        answer = " ".join(str(status.get("reason") or "it gives no reason").split())
        text = text_of("NET-ERROR", kind=live["kind"], name=network.name, answer=answer)
        yield pending(f"Error:{network.name}", **text._asdict())


def _judge_addresses(
    network: Network, nodes: t.Sequence[KubeObject], snapshot: Snapshot
) -> t.Iterator[Readiness]:
    """Yield each node to which the pool of addresses gives nothing; no condition says so."""
    if not network.has_pool_of_addresses:
        return
    pools = [pool for kind in objects.ADDRESSES for pool in snapshot.get(kind.kind, ())]
    status = named(pools, network.name).get("status") or {}
    having = {entry.get("nodeName") for entry in status.get("allocations") or []}
    for node in nodes:
        if name(node) not in having:
            what = about_node(
                "NET-ADDRESSES",
                node=name(node),
                pool=network.name,
                range=network.ipam["range"],
                given=number_of(len(having), "node"),
            )
            yield at_node(name(node), "Addresses", *what)


def _judge_node(network: Network, node: KubeObject, snapshot: Snapshot) -> Readiness | None:
    """Return why the node does not offer the network's devices, or None."""
    wanted, number = 1, offered(node, network.resource)
    if network.is_sriov:
        state = named(snapshot["states"], name(node))
        if problem := judge_state(network, node, state):
            return problem
        wanted = functions(network, state)
    if not network.resource or number == wanted or (number > wanted and not network.is_sriov):
        return None
    what = about_node("NET-ALLOC", node=name(node), number=number, wanted=wanted, resource=network.resource)
    return at_node(name(node), f"Devices:{network.name}", *what)


def judge_state(network: Network, node: KubeObject, state: KubeObject) -> Readiness | None:
    """Return why the SR-IOV operator has not set the node up for the network, or None.

    C(Succeeded) alone may be older than the policy, as a node state has no observedGeneration.
    """
    object_name, status = name(node), state.get("status") or {}
    if not status.get("interfaces"):
        return at_node(object_name, "NoState", *about_node("NET-NO-STATE", node=object_name))
    sync, marks = str(status.get("syncStatus") or "none"), state["metadata"].get("annotations") or {}
    doing = [str(marks.get(key) or "none") for key in _ANNOTATIONS]
    if sync == "Failed":
        answer = " ".join(str(status.get("lastSyncError") or "it gives no reason").split())
        return at_node(object_name, "Sync", *about_node("NET-SYNC", node=object_name, answer=answer))
    groups, is_done = _groups(network, state), [sync, *doing] == ["Succeeded", "Idle", "Idle"]
    if is_done and groups and _is_made(groups, status["interfaces"]):
        return None
    if is_done and not groups:
        has = ", ".join(
            f"{card.get('name')} ({card.get('vendor')}:{card.get('deviceID')}, {card.get('linkType')})"
            for card in status["interfaces"]
        )
        what = about_node("NET-NO-CARD", node=object_name, network=network.name, interfaces=has)
        return at_node(object_name, f"NoCard:{network.name}", *what)
    what = about_node("NET-STATE", node=object_name, sync=sync, desired=doing[0], current=doing[1])
    return at_node(object_name, "State", *what)


Groups = list[tuple[KubeObject, KubeObject]]


def _groups(network: Network, state: KubeObject) -> Groups:
    """Return each interface of the spec with its group of functions that the network's policies ask for."""
    names = {network.policy_name(pool) for pool in network.pools}
    return [
        (card, group)
        for card in (state.get("spec") or {}).get("interfaces") or []
        for group in card.get("vfGroups") or []
        if group.get("policyName") in names and group.get("resourceName") == network.short_resource
    ]


def _is_made(groups: Groups, interfaces: t.Sequence[KubeObject]) -> bool:
    """Return True if each interface has as many functions as its spec says."""
    there = {card.get("pciAddress"): int(card.get("numVfs") or 0) for card in interfaces}
    return all(there.get(card.get("pciAddress")) == card.get("numVfs") for card, _group in groups)


def functions(network: Network, state: KubeObject) -> int:
    """Return how many functions of the node the network has, from ranges such as C(0-3)."""
    total = 0
    for _card, group in _groups(network, state):
        first, _dash, last = str(group.get("vfRange") or "").partition("-")
        if first.isdigit() and last.isdigit():
            total += int(last) - int(first) + 1
    return total


def known_to(nodes: t.Iterable[KubeObject]) -> t.Callable[[Snapshot], Readiness]:
    """Return a judge that is ready once the SR-IOV operator has read the cards of these nodes."""
    names = sorted({name(node) for node in nodes})

    def judge(snapshot: Snapshot) -> Readiness:
        parts = [
            at_node(node, "NoState", *about_node("NET-NO-STATE", node=node))
            for node in names
            if not (named(snapshot["states"], node).get("status") or {}).get("interfaces")
        ]
        return worst(parts)

    return judge


def cards_of(policies: t.Collection[str], states: t.Iterable[KubeObject]) -> set[tuple[str, str]]:
    """Return node and PCI address of each card with functions of these policies."""
    return {
        (name(state), address)
        for state in states
        for address, card in _cards(state, "spec").items()
        if any(group.get("policyName") in policies for group in card.get("vfGroups") or [])
    }


def _cards(state: KubeObject, part: str) -> dict[str, KubeObject]:
    return {card["pciAddress"]: card for card in (state.get(part) or {}).get("interfaces") or []}


def gone(
    policies: t.Collection[str], nodes: t.Collection[str], cards: t.Collection[tuple[str, str]]
) -> t.Callable[[Snapshot], Readiness]:
    """Return a judge that is ready once no node has functions of the policies; cards: those that had some."""

    def judge(snapshot: Snapshot) -> Readiness:
        parts = [
            at_node(name(state), "Leaving", *about_node("NET-LEFT", node=name(state)))
            for state in snapshot["states"]
            if name(state) in nodes and (_is_busy(state, cards) or cards_of(policies, [state]))
        ]
        return worst(parts)

    return judge


def _is_busy(state: KubeObject, cards: t.Collection[tuple[str, str]]) -> bool:
    marks, status = state["metadata"].get("annotations") or {}, state.get("status") or {}
    there, asked = _cards(state, "status"), _cards(state, "spec")
    left = [key for key in there.keys() - asked.keys() if there[key].get("numVfs")]
    is_idle = all(marks.get(key) in (None, "Idle") for key in _ANNOTATIONS)
    return (
        any((name(state), key) in cards for key in left)
        or not is_idle
        or status.get("syncStatus") == "InProgress"
    )


def summarize(network: Network, snapshot: Snapshot) -> dict[str, t.Any]:
    """Return the network as the module does, with what a pod needs to use it."""
    nodes = {name(node): node for pool in network.pools for node in snapshot[nodes_of(pool.name)]}
    count = {key: offered(node, network.resource) if network.resource else 0 for key, node in nodes.items()}
    return {
        **network.for_pods(),
        "state": "notReady" if judge_network(network, snapshot) else "ready",
        "nodes": count,
    }
