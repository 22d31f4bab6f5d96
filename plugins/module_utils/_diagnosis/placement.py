# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Why no node takes a pod: what each node lacks for it, and which of these reasons counts."""

from __future__ import annotations

import difflib
import json
import typing as t
from collections import Counter
from fractions import Fraction

from .._catalogue.well_known import NVIDIA
from .._core import quantity
from .._core.codes.code import Code
from .._core.objects import KubeObject, at, name, number_of
from .._nodes import cordons, devices, free, startup
from .._nodes.formatting import why_not_ready
from .._nodes.labels import labels
from .._nodes.node import is_cordoned, is_ready
from .._nodes.taints import (
    FAILED,
    STARTUP,
    UNSCHEDULABLE,
    taints,
    tolerates,
    tolerating,
    untolerated,
    write_taint,
)
from .._quota.use import owner
from .._tuning.selectors import fits

# Kinds of reasons: codes, in the order in which a person can do something about them.
TAINT, LABELS, FULL, CLOSED = "SCHED-TAINT", "SCHED-LABELS", "SCHED-FULL", "SCHED-CLOSED"
OFFER, NAME = "SCHED-OFFER", "SCHED-NAME"
_KINDS: t.Final = (TAINT, LABELS, FULL, CLOSED, OFFER, NAME)
_AFFINITY: t.Final = "affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms"
# Taints that say that a node is not fit now: no pod should tolerate them.
_NOT_NOW: t.Final = (FAILED, "ToBeDeletedBy", "node.cloudprovider.kubernetes.io/")
# So many nodes in a line of the table, and so many lines.
_SHOWN, _LINES = 20, 6
_UNITS: t.Final = {"cpu": (1, ""), "memory": (2**30, "Gi"), "ephemeral-storage": (2**30, "Gi")}
Amounts = t.Mapping[str, int]


class Reason(t.NamedTuple):
    """One thing that keeps a pod from a node. fix: a toleration, a label's name, or a remedy of its own."""

    kind: str
    text: str
    fix: str = ""


class Place(t.NamedTuple):
    """A node, the pods on it, and the devices that they hold: who, and how many of which."""

    node: KubeObject
    pods: list[KubeObject]
    held: list[tuple[str, Amounts]]


def asked(pod: KubeObject) -> dict[str, int]:
    """Return the devices that the pod asks for."""
    every = [*(pod["spec"].get("initContainers") or []), *(pod["spec"].get("containers") or [])]
    keys = {key for one in every for key in at(one, "resources.limits") or {} if devices.is_device(key)}
    return {key: number for key in sorted(keys) if (number := free.requested(pod, key))}


def listed(amounts: Amounts) -> str:
    return ", ".join(f"{number} {key}" for key, number in amounts.items())


def places(nodes: t.Iterable[KubeObject], pods: t.Iterable[KubeObject]) -> list[Place]:
    here = {name(node): Place(node, [], []) for node in sorted(nodes, key=name)}
    for pod in pods:
        if place := here.get(str(pod["spec"].get("nodeName"))):
            made, amounts = owner(pod), asked(pod)
            place.pods.append(pod)
            place.held.append((f"{made['kind']} {pod['metadata']['namespace']}/{made['name']}", amounts))
    return [*here.values()]


def holders(every: t.Iterable[Place], wanted: t.Collection[str], space: str = "") -> str:
    """Return a sentence about who holds most of the wanted devices. space: in this namespace alone."""
    found: Counter[str] = Counter()
    for who, amounts in (one for place in every for one in place.held if f" {space}/" in one[0] or not space):
        found[who] += sum(amounts.get(key, 0) for key in wanted)
    top = ", ".join(f"{who} ({number})" for who, number in (+found).most_common(5))
    more = f" and {len(+found) - 5} more" if len(+found) > 5 else ""
    return f" Held by {top}{more}." if top else ""


def why(
    pod: KubeObject, every: t.Sequence[Place], is_claimed: bool = False
) -> tuple[str, dict[str, object], tuple[str, ...]] | None:
    """Return code, facts of its text, and nodes by what they lack; None if a node takes the pod.

    is_claimed: nodes give devices to ResourceClaims alone.
    """
    wanted, needs = asked(pod), {key: need for key in _UNITS if (need := _request(pod, key))}
    judged = [
        (place, [*_devices(wanted, place, is_claimed), *_policy(pod, place.node), *_room(needs, place)])
        for place in every
    ]
    judged.sort(key=lambda one: len(one[1]))
    if judged and not judged[0][1]:
        return None
    # A node that the pod does not select is no candidate, unless it selects none.
    meant = [one for one in judged if all(each.kind != LABELS for each in one[1])] or judged
    able = [one for one in meant if not {NAME, OFFER} & {each.kind for each in one[1]}]
    near = [one for one in able if len(one[1]) == len(able[0][1])] or meant
    kinds = Counter(one.kind for _place, found in near for one in found)
    best = min(kinds, key=lambda one: (-kinds[one], _KINDS.index(one)), default=NAME)
    kind = best if able else OFFER if OFFER in kinds else NAME
    pick = next(((name(at.node), one) for at, found in near for one in found if one.kind == kind), None)
    node, first = pick or ("", Reason(NAME, ""))
    values = sorted({str(labels(place.node).get(first.fix, "")) for place in every} - {""})[:_LINES]
    text = first.text + (
        f"; nodes with devices have {', '.join(values)}" if kind == LABELS and values else ""
    )
    held = holders((one for one, _found in able), wanted)
    facts = {"devices": listed(wanted), "why": text, "node": node, "fix": first.fix, "also": held}
    facts |= {"nodes": number_of(len(able), "node"), "offers": _most(wanted, (one for one, _found in meant))}
    return kind, dict(facts), _table(judged)


def _most(wanted: Amounts, every: t.Iterable[Place]) -> str:
    """Return what a node offers at most, of resources with names like the wanted ones."""
    pairs = {pair for place in every for pair in (at(place.node, "status.allocatable") or {}).items()}
    found = sorted((devices.count(number), key) for key, number in pairs if devices.is_device(key))
    most = {key: number for number, key in found if number}
    near = [one for key in wanted for one in difflib.get_close_matches(key, most, 3, 0.3)] or sorted(most)[:3]
    return listed({key: most[key] for key in near}) or "no device"


def _table(judged: t.Sequence[tuple[Place, list[Reason]]]) -> tuple[str, ...]:
    """Return a line for each set of reasons, the nearest nodes first."""
    rows: dict[str, list[str]] = {}
    for place, found in judged:
        rows.setdefault("; ".join(one.text for one in found), []).append(name(place.node))
    lines = [
        f"{', '.join(nodes[:_SHOWN])}{f' and {len(nodes) - _SHOWN} more' if nodes[_SHOWN:] else ''}: {text}"
        for text, nodes in [*rows.items()][:_LINES]
    ]
    left = sum(map(len, [*rows.values()][_LINES:]))
    return (*lines, *([f"{number_of(left, 'more node')} for other reasons"] if left else []))


def _devices(wanted: Amounts, place: Place, is_claimed: bool) -> t.Iterator[Reason]:
    node = place.node
    for key, number in wanted.items():
        offers = devices.offered(node, key)
        if offers >= number:
            left = max(0, offers - sum(amounts.get(key, 0) for _who, amounts in place.held))
            yield from [Reason(FULL, f"{left} of {offers} {key} free")] if left < number else []
            continue
        capacity = at(node, "status.capacity") or {}
        has = max(devices.count(capacity.get(key, 0)), devices.expected(node, {}).get(key, 0))
        is_bare = key.startswith(NVIDIA) and devices.is_gpu_node(node) and not devices.resources(node)
        if (has >= number or is_bare) and not is_claimed:
            yield Reason(OFFER, f"offers {offers} of {has or 'its'} {key}")
        else:
            yield Reason(NAME, f"offers {offers or 'no'} {key}")


def _policy(pod: KubeObject, node: KubeObject) -> t.Iterator[Reason]:
    """Yield labels, taints and states of the node that keep the pod away, however much is free."""
    given = pod["spec"].get("tolerations") or []
    hard = untolerated(node, given)
    yield from _closed(node, given, hard)
    yield from _labels(node, pod["spec"])
    for taint in taints(node) if hard else ():
        if taint["key"] != STARTUP and (title := write_taint(taint)) in hard:
            kind = CLOSED if taint["key"].startswith(_NOT_NOW) else TAINT
            yield Reason(
                kind, f"untolerated taint {title}", json.dumps(tolerating(taint)) if kind == TAINT else ""
            )


def _closed(node: KubeObject, given: t.Sequence[KubeObject], hard: t.Sequence[str]) -> t.Iterator[Reason]:
    title, cordon = name(node), {"key": UNSCHEDULABLE, "effect": "NoSchedule"}
    gone = node["metadata"].get("deletionTimestamp")
    if gone or not is_ready(node):
        yield Reason(CLOSED, f"being deleted since {gone}" if gone else why_not_ready(node))
    if is_cordoned(node) and not any(tolerates(one, cordon) for one in given):
        again = f"When nobody works on node {title} any more, run `oc adm uncordon {title}`."
        yield Reason(CLOSED, cordons.shown(node), again)
    if any(one.startswith(STARTUP) for one in hard):
        again = "Run `ansible-playbook playbooks/validate.yml -e @FILE`, which validates and opens it."
        known = startup.failure(node) or Code(CLOSED, "new, not validated", again)
        yield Reason(CLOSED, known.message, known.remedy)


def _labels(node: KubeObject, spec: KubeObject) -> t.Iterator[Reason]:
    have = {**labels(node), "metadata.name": name(node)}
    wanted = (spec.get("nodeSelector") or {}).items()
    failed = [
        rule for key, one in wanted if not fits(rule := {"key": key, "operator": "In", "values": [one]}, have)
    ]
    terms = [
        [
            rule
            for rule in [*term.get("matchExpressions", []), *term.get("matchFields", [])]
            if not fits(rule, have)
        ]
        for term in at(spec, _AFFINITY) or []
    ]
    for rule in failed + min(terms, key=len, default=[]):
        key, values = rule["key"], ", ".join(map(str, rule.get("values") or []))
        near = [key] if key in have else difflib.get_close_matches(key, have, 1, 0.8)
        has = f"the node has {near[0]}={have[near[0]]}" if near else "the node has no such label"
        yield Reason(LABELS, f"the pod wants {key} {rule['operator']} [{values}], {has}", key)


def _room(needs: t.Mapping[str, Fraction], place: Place) -> t.Iterator[Reason]:
    has = place.node["status"].get("allocatable") or {}
    if len(place.pods) >= devices.count(has.get("pods")) > 0:
        yield Reason(FULL, f"has its {len(place.pods)} pods")
    for key, need in needs.items():
        total = quantity.parse(has.get(key) or 0)
        left = total - sum(_request(one, key) for one in place.pods)
        if left < need and total:
            unit, word = _UNITS[key]
            some, every, wants = (f"{float(one / unit):g}{word}" for one in (left, total, need))
            yield Reason(FULL, f"{some} of {every} {key} free, {wants} asked for")


def _request(pod: KubeObject, key: str) -> Fraction:
    def of(group: str) -> list[Fraction]:
        every = [at(one, "resources.requests") or {} for one in pod["spec"].get(group) or []]
        return [quantity.parse(one[key]) for one in every if key in one]

    return max(sum(of("containers"), Fraction()), *of("initContainers"), Fraction())
