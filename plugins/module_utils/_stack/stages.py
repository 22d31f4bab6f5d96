# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""The stages from a catalogue to a device that pods can request, which stage waits for which, and findings.

A finding is a verdict on one part of a stack, with its stage, pool, node and time. A backend has a CHAIN =
chain({stage of a node: stages that it needs}, package), and its judge turns a snapshot into findings, causes
first. judge.StackJudge is what api.wait calls; diagnose.explain reads OLM and logs when the wait failed;
table.summarize makes pools, stages and lines of the result.
"""

from __future__ import annotations

import typing as t
from dataclasses import dataclass, replace

from .._core.objects import KubeObject, name
from .._core.readiness import FAILED, PENDING, READY, Readiness

WAITING: t.Final = "waiting"
# Reason of an operator that cannot reconcile its custom resource: it then makes nothing for any node.
RECONCILE_FAILED: t.Final = "ReconcileFailed"
ORDER: t.Final = (FAILED, PENDING, WAITING, READY)

CATALOGUE, PLAN, CSV, CRD = "catalogue", "install plan", "csv", "crd"
OF_OLM: t.Final = (CATALOGUE, PLAN, CSV)
LABELS, DRIVER, TOOLKIT, PLUGIN = "nfd labels", "driver", "toolkit", "device plugin"
VALIDATOR, METRICS, ALLOCATABLE = "validator", "metrics", "allocatable"
# This stage replaces the device plugin under dynamic resource allocation.
DRA = "dra driver"
_MOST_EVIDENCE: t.Final = 5


class Chain(t.NamedTuple):
    """The stages of a backend, in order.

    needs: stage -> the stages that it needs, the likeliest cause first. of_nodes: the stages that each node
    has. package: the package of the operator in its catalogue, empty without OLM.
    """

    needs: t.Mapping[str, tuple[str, ...]]
    of_nodes: tuple[str, ...]
    package: str


def chain(of_nodes: t.Mapping[str, tuple[str, ...]], package: str = "") -> Chain:
    """Return the chain of crd and the stages of nodes; with a package, OLM's stages come first."""
    by_olm: dict[str, tuple[str, ...]] = {CATALOGUE: (), PLAN: (CATALOGUE,), CSV: (PLAN,), CRD: (CSV,)}
    return Chain({**(by_olm if package else {CRD: ()}), **of_nodes}, tuple(of_nodes), package)


class Stage(t.NamedTuple):
    """One stage. verdict: ready, pending, failed or waiting. since: an RFC 3339 time, or empty.

    consequence_of: the stage that this one waits for.
    """

    name: str
    verdict: str = READY
    since: str = ""
    evidence: tuple[str, ...] = ()
    consequence_of: str = ""


class Place(t.NamedTuple):
    """A stage of one node. node: empty for the nodes that a pool lacks."""

    pool: str
    node: str
    stage: Stage


def waiting(chain: Chain) -> dict[str, Stage]:
    """Return the stages of a node of which nothing is known yet, all waiting."""
    return {name: Stage(name, WAITING) for name in chain.of_nodes}


def with_causes(found: t.Mapping[str, Stage], chain: Chain) -> dict[str, Stage]:
    """Return the stages in order; a waiting stage names its cause, or becomes pending without one."""
    done: dict[str, Stage] = {}
    for one, needs in chain.needs.items():
        stage = found.get(one)
        if stage is None:
            continue
        if stage.verdict == WAITING:
            cause = next((before for before in needs if before in done and done[before].verdict != READY), "")
            root = (done[cause].consequence_of or cause) if cause else ""
            stage = stage._replace(consequence_of=root, verdict=WAITING if root else PENDING)
        done[one] = stage
    return done


def across(name: str, places: t.Sequence[Place]) -> dict[str, t.Any]:
    """Return one stage of all nodes for the result: the worst verdict, and the nodes that are not ready."""
    verdict = min((place.stage.verdict for place in places), key=ORDER.index, default=READY)
    deciding = [place.stage for place in places if place.stage.verdict == verdict]
    moments = sorted(stage.since for stage in deciding if stage.since)
    found = Stage(
        name,
        verdict,
        (moments[-1] if verdict == READY else moments[0]) if moments else "",
        tuple(dict.fromkeys(line for stage in deciding for line in stage.evidence))[:_MOST_EVIDENCE],
        deciding[0].consequence_of if deciding else "",
    )
    late = [place for place in places if place.stage.verdict != READY]
    nodes = [{"pool": place.pool, "node": place.node, **_facts(place.stage)} for place in late]
    return {**as_result(found), "nodes": nodes, "of": len(places)}


def as_result(stage: Stage) -> dict[str, t.Any]:
    return {"name": stage.name, **_facts(stage)}


def _facts(stage: Stage) -> dict[str, t.Any]:
    _name, *facts = stage._fields
    return {key: getattr(stage, key) for key in facts} | {"evidence": list(stage.evidence)}


def lines(stages: t.Sequence[dict[str, t.Any]]) -> list[str]:
    """Return lines for the user: ready stages, then each stage in trouble and the stages that wait for it."""
    fine = [stage["name"] for stage in stages if stage["verdict"] == READY]
    told = [f"ready: {', '.join(fine)}"] if fine else []
    waiting: dict[str, list[str]] = {}
    for stage in stages:
        if stage["verdict"] == WAITING:
            waiting.setdefault(stage["consequence_of"], []).append(stage["name"])
    for stage in stages:
        if stage["verdict"] not in (READY, WAITING):
            told.append(_line(stage))
            if names := waiting.pop(stage["name"], []):
                told.append(_waiting_line(names, stage["name"]))
    return [*told, *(_waiting_line(names, cause) for cause, names in waiting.items())]


def _line(stage: dict[str, t.Any]) -> str:
    since = f" since {stage['since']}" if stage["since"] else ""
    own = [one for one in stage.get("nodes") or [] if one["verdict"] == stage["verdict"]]
    where = f" on {len(own)} of {stage['of']} nodes" if own else ""
    why = f": {'; '.join(stage['evidence'])}" if stage["evidence"] else ""
    return f"{stage['name']} {stage['verdict'].upper()}{since}{where}{why}"


def _waiting_line(names: t.Sequence[str], cause: str) -> str:
    return f"{', '.join(names)} {'wait' if len(names) > 1 else 'waits'} for {cause}"


@dataclass(frozen=True)
class Finding(Readiness):
    """A verdict with its place.

    stage, pool, node: empty if the finding belongs to none. since: an RFC 3339 time, or empty.
    waits: the trouble may be only the consequence of an earlier stage.
    """

    stage: str = ""
    pool: str = ""
    node: str = ""
    since: str = ""
    waits: bool = False


# Prefix of a code -> the stage of every finding with such a code.
_STAGE_OF_CODE: t.Final = {
    "GPU-NFD-": LABELS,
    "GPU-NODE-": LABELS,
    "GPU-NODES": LABELS,
}


def on_object(
    verdict: str, reason: str = "", message: str = "", code: str = "", remedy: str = "", **more: t.Any
) -> Finding:
    """Return a finding about the custom resource itself.

    more: other fields; the stage is `crd` by default.
    """
    return Finding(verdict, reason, message, code, remedy, **{"stage": CRD, **more})


def not_yet(object_name: str, reason: str, code: str, namespace: str) -> Finding:
    """Return the finding that the custom resource does not exist yet."""
    message, remedy = f"{object_name} is not there yet.", f"Run `oc get events -n {namespace}`."
    return on_object(PENDING, reason, message, code, remedy, waits=True)


def on_node(
    verdict: str,
    node: KubeObject,
    reason: str,
    what: str,
    code: str,
    remedy: str,
    end: str = "",
    **more: t.Any,
) -> Finding:
    """Return a finding about one node, with its line for the user. end: of the message. more: fields."""
    line = f"{name(node)}: {what}"
    told = (f"{reason}:{name(node)}", f"Node {line}{end}", code, remedy, (line,))
    return Finding(verdict, *told, node=name(node), **more)


def as_finding(
    found: Readiness, stage: str, pool: str = "", node: str = "", *, waits: bool = False
) -> Finding:
    return Finding(**{**vars(found), "stage": stage, "pool": pool, "node": node, "waits": waits})


def placed(found: Readiness, pool: str, node: str = "") -> Finding:
    """Return a judgement as a finding of this pool and node; its code gives the stage if it has none."""
    if isinstance(found, Finding):
        return replace(found, pool=pool, node=node or found.node)
    starts = (stage for start, stage in _STAGE_OF_CODE.items() if found.code.startswith(start))
    return as_finding(found, next(starts, DRIVER), pool, node)


# Node and stage of each finding that is not ready; the node is empty if the operator cannot reconcile.
Late = frozenset[tuple[str, str]]


def late(findings: t.Iterable[Finding]) -> Late:
    """Return the places of which others may be the consequence."""
    return frozenset(
        (node, one.stage)
        for one in findings
        if not one.is_ready
        for node in ({one.node, ""} if one.reason == RECONCILE_FAILED else {one.node} - {""})
    )


def is_consequence(found: Finding, places: Late, chain: Chain) -> bool:
    """Return whether the finding waits for an earlier stage that is not ready itself.

    That stage is one of its node, or the custom resource if the operator cannot reconcile it.
    """
    needed = chain.needs.get(found.stage, ()) if found.waits and found.node else ()
    return any((node, stage) in places for stage in needed for node in (found.node, ""))
