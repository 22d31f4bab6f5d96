# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Build pools, stages and lines of a result from the findings and from the state of each node."""

from __future__ import annotations

import typing as t

from .._core.objects import KubeObject, Snapshot, name
from .._core.readiness import PENDING, READY, worst
from .._nodes import startup
from .._nodes.pool_nodes import nodes_of
from . import stages
from .params import StackPool
from .stages import Chain, Finding, Place, Stage

# A function that returns the stages that a node shows, for stages without a finding.
Seen = t.Callable[[KubeObject], t.Mapping[str, Stage]]
NOT_READ: t.Final = "checked only if something is not ready"
NOT_WANTED: t.Final = "not requested"


def _nothing(_node: KubeObject) -> t.Mapping[str, Stage]:
    return {}


def summarize(
    chain: Chain,
    snapshot: Snapshot,
    live: KubeObject,
    pools: t.Sequence[StackPool],
    findings: t.Sequence[Finding],
    seen: Seen = _nothing,
    besides: t.Mapping[str, Stage] | None = None,
) -> dict[str, t.Any]:
    """Return pools, stages and lines of a result.

    live: the custom resource; empty while it does not exist. besides: stage of nodes -> a part of it that
    belongs to no node.
    """
    own = {one: of_findings(one, _at(findings, one)) for one in chain.needs if one not in chain.of_nodes}
    shared = stages.with_causes(
        {**own, **_operator(chain, snapshot), stages.CRD: _custom_resource(live, findings)}, chain
    )
    places: dict[str, list[Place]] = {one: [] for one in chain.of_nodes}
    for pool, node, found in _of_nodes(chain, snapshot, pools, findings, seen):
        complete = stages.with_causes({**shared, **found}, chain)
        for one in chain.of_nodes:
            places[one].append(Place(pool, node, complete[one]))
    for one, stage in (besides or {}).items() if pools else ():
        places[one].append(Place("", "", stage))
    # The stages of catalogue, install plan and CSV are judged only if the snapshot has them.
    result = [stages.as_result(stage) for stage in shared.values()]
    result += [stages.across(one, found) for one, found in places.items() if found]
    return {"pools": pools_of(snapshot, pools, findings), "stages": result, "table": stages.lines(result)}


def before_object(chain: Chain, node: KubeObject, is_labelled: bool, lacking: str) -> dict[str, Stage]:
    """Return the stages of a node while the custom resource does not exist: only its labels are known."""
    stage = Stage(stages.LABELS)
    if not is_labelled:
        stage = Stage(stages.LABELS, PENDING, "", (f"{name(node)}: {lacking}",))
    return stages.waiting(chain) | {stages.LABELS: stage}


def pools_of(
    snapshot: Snapshot, pools: t.Sequence[StackPool], findings: t.Sequence[Finding]
) -> list[dict[str, t.Any]]:
    """Return each pool on its own; trouble of other pools, or of nodes outside the pools, does not count."""
    late = [one for one in findings if not one.pool and not one.is_ready and not one.waits]
    shared = [one for one in late if one.stage == stages.CRD]
    found = []
    for pool in pools:
        nodes = [name(node) for node in nodes_of(snapshot["nodes"], pool)]
        own = [one for one in findings if one.pool == pool["name"]]
        bad = {one.node for one in own if not one.is_ready}
        verdict = worst([*shared, *own]) if findings else None
        is_late = verdict is not None and not verdict.is_ready
        found.append(
            {
                "name": pool["name"],
                "ready": bool(verdict and verdict.is_ready and (own or shared or nodes)),
                "nodes": len(nodes),
                "nodes_ready": len([node for node in nodes if node not in bad]) if verdict else 0,
                "code": verdict.code if verdict else "",
                "message": verdict.message if verdict and is_late else "",
                "remedy": verdict.remedy if verdict and is_late else "",
                "closed": [
                    text._asdict()
                    for node in nodes_of(snapshot["nodes"], pool)
                    if (text := startup.failure(node))
                ],
            }
        )
    return found


def of_findings(object_name: str, own: t.Sequence[Finding], since: str = "") -> Stage:
    """Return a stage from its findings. since: when the stage became ready, if nothing is wrong."""
    if not own:
        return Stage(object_name, since=since)
    only_waits = all(one.waits and not one.is_failed for one in own)
    evidence = tuple(line for one in own for line in one.details or (one.message,))
    moments = sorted(one.since for one in own if one.since)
    verdict = stages.WAITING if only_waits else worst(own).verdict
    return Stage(object_name, verdict, moments[0] if moments else since, evidence)


def _at(findings: t.Sequence[Finding], stage: str) -> list[Finding]:
    return [one for one in findings if one.stage == stage and not one.is_ready]


def _operator(chain: Chain, snapshot: Snapshot) -> dict[str, Stage]:
    if not chain.package:
        return {}
    if "subscriptions" not in snapshot:
        return {one: Stage(one, evidence=(NOT_READ,)) for one in stages.OF_OLM}
    from . import olm_stages

    return {stage.name: stage for stage in olm_stages.judge(snapshot, chain.package)}


def _custom_resource(live: KubeObject, findings: t.Sequence[Finding]) -> Stage:
    """Return the stage of the custom resource, without trouble that belongs to its operands."""
    own = _at(findings, stages.CRD)
    only_waits = all(one.waits for one in own)
    if not live:
        found = of_findings(stages.CRD, own)
        return found._replace(verdict=stages.WAITING) if only_waits else found
    since = str(live["metadata"].get("creationTimestamp") or "")
    return of_findings(stages.CRD, [] if only_waits else own, since)


def _of_nodes(
    chain: Chain,
    snapshot: Snapshot,
    pools: t.Sequence[StackPool],
    findings: t.Sequence[Finding],
    seen: Seen,
) -> t.Iterator[tuple[str, str, dict[str, Stage]]]:
    """Yield pool, node and stages of each node; the node is empty for the nodes that a pool lacks."""
    bad: dict[str, list[Finding]] = {}
    for one in findings:
        if one.node and not one.is_ready:
            bad.setdefault(one.node, []).append(one)
    for pool in pools:
        missing = [one for one in findings if one.pool == pool["name"] and not one.node and not one.is_ready]
        if missing:
            first = chain.of_nodes[0]
            yield pool["name"], "", stages.waiting(chain) | {first: of_findings(first, missing)}
        for node in nodes_of(snapshot["nodes"], pool):
            yield pool["name"], name(node), _of_node(chain, bad.get(name(node), []), seen(node))


def _of_node(chain: Chain, own: t.Sequence[Finding], seen: t.Mapping[str, Stage]) -> dict[str, Stage]:
    """Return the stages of a node; findings take precedence over what the node shows."""
    found = {}
    for one in chain.of_nodes:
        shown = seen.get(one) or Stage(one)
        judged = [finding for finding in own if finding.stage == one]
        since = shown.since if shown.verdict == READY else ""
        found[one] = of_findings(one, judged, since) if judged else shown
    return found
