# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""The stages of a result: pools, the stages of a backend's chain and their lines, from its judgements and from what was seen of each node besides."""

from __future__ import annotations

import typing as t

from ansible_collections.accelerators.openshift.plugins.module_utils._core.readiness import READY, worst
from ansible_collections.accelerators.openshift.plugins.module_utils._nodes.pool_nodes import nodes_of
from ansible_collections.accelerators.openshift.plugins.module_utils._stack import stages
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.finding import Part
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.stages import Chain, Place, Stage

Data = dict[str, t.Any]
Snapshot = t.Mapping[str, t.Sequence[Data]]
# What a node shows of its stages where nothing is wrong with them: since when, what is late there, or why there is nothing to see.
Seen = t.Callable[[Data], t.Mapping[str, Stage]]
UNASKED: t.Final = "not looked at, since what it brings is there"


def _nothing(_node: Data) -> t.Mapping[str, Stage]:
    return {}


def summarize(
    chain: Chain,
    snapshot: Snapshot,
    live: Data,
    pools: t.Sequence[Data],
    parts: t.Sequence[Part],
    seen: Seen = _nothing,
    besides: t.Mapping[str, Stage] | None = None,
) -> Data:
    """live: the custom resource, empty while it is not there. besides: more of a stage that is judged for each node, and belongs to none."""
    found = stages_of(chain, snapshot, live, pools, parts, seen, besides or {})
    return {"pools": pools_of(snapshot, pools, parts), "stages": found, "lines": stages.table(found)}


def stages_of(
    chain: Chain,
    snapshot: Snapshot,
    live: Data,
    pools: t.Sequence[Data],
    parts: t.Sequence[Part],
    seen: Seen,
    besides: t.Mapping[str, Stage],
) -> list[Data]:
    """Catalogue, install plan and CSV only where the snapshot has what was read of them."""
    own = {one: of_parts(one, _at(parts, one)) for one in chain.needs if one not in chain.of_nodes}
    shared = stages.settle(
        {**own, **_operator(chain, snapshot), stages.CRD: _custom_resource(live, parts)}, chain
    )
    places: dict[str, list[Place]] = {one: [] for one in chain.of_nodes}
    for pool, node, found in _of_nodes(chain, snapshot, pools, parts, seen):
        settled = stages.settle({**shared, **found}, chain)
        for one in chain.of_nodes:
            places[one].append(Place(pool, node, settled[one]))
    for one, stage in besides.items() if pools else ():
        places[one].append(Place("", "", stage))
    result = [stages.told(stage) for stage in shared.values()]
    return result + [stages.across(one, found) for one, found in places.items() if found]


def pools_of(snapshot: Snapshot, pools: t.Sequence[Data], parts: t.Sequence[Part]) -> list[Data]:
    """Each pool by itself: what is wrong with another one, or with nodes of nobody, does not matter to it."""
    shared = [
        one
        for one in parts
        if not one.pool and one.stage == stages.CRD and not one.is_ready and not one.waits
    ]
    found = []
    for pool in pools:
        nodes = [node["metadata"]["name"] for node in nodes_of(snapshot["nodes"], pool)]
        own = [one for one in parts if one.pool == pool["name"]]
        bad = {one.node for one in own if not one.is_ready}
        verdict = worst([*shared, *own]) if parts else None
        found.append(
            {
                "name": pool["name"],
                "ready": bool(verdict and verdict.is_ready and (own or shared or nodes)),
                "nodes": len(nodes),
                "nodes_ready": len([name for name in nodes if name not in bad]) if verdict else 0,
                "code": verdict.code if verdict else "",
                "message": verdict.message if verdict and not verdict.is_ready else "",
                "remedy": verdict.remedy if verdict and not verdict.is_ready else "",
            }
        )
    return found


def of_parts(name: str, own: t.Sequence[Part], since: str = "") -> Stage:
    """A stage by the judgements that are its own. since: when it became ready, where nothing is wrong."""
    if not own:
        return Stage(name, since=since)
    verdict = stages.WAITING if all(one.waits and not one.is_failed for one in own) else worst(own).verdict
    said = tuple(line for one in own for line in one.details or (one.message,))
    moments = sorted(one.since for one in own if one.since)
    return Stage(name, verdict, moments[0] if moments else since, said)


def _at(parts: t.Sequence[Part], stage: str) -> list[Part]:
    return [one for one in parts if one.stage == stage and not one.is_ready]


def _operator(chain: Chain, snapshot: Snapshot) -> dict[str, Stage]:
    if not chain.package:
        return {}
    if "subscriptions" not in snapshot:
        return {one: Stage(one, evidence=(UNASKED,)) for one in (stages.CATALOGUE, stages.PLAN, stages.CSV)}
    from ansible_collections.accelerators.openshift.plugins.module_utils._stack import olm_stages

    return {stage.name: stage for stage in olm_stages.judge(snapshot, chain.package)}


def _custom_resource(live: Data, parts: t.Sequence[Part]) -> Stage:
    """There, counted, and brought to the operands. What it says of its operands is their own matter, where it is not alone with it."""
    own = _at(parts, stages.CRD)
    if not live:
        return (
            of_parts(stages.CRD, own)._replace(verdict=stages.WAITING)
            if all(one.waits for one in own)
            else of_parts(stages.CRD, own)
        )
    if all(one.waits for one in own):
        own = []
    return of_parts(stages.CRD, own, str(live["metadata"].get("creationTimestamp") or ""))


def _of_nodes(
    chain: Chain, snapshot: Snapshot, pools: t.Sequence[Data], parts: t.Sequence[Part], seen: Seen
) -> t.Iterator[tuple[str, str, dict[str, Stage]]]:
    bad: dict[str, list[Part]] = {}
    for one in parts:
        if one.node and not one.is_ready:
            bad.setdefault(one.node, []).append(one)
    for pool in pools:
        missing = [one for one in parts if one.pool == pool["name"] and not one.node and not one.is_ready]
        if missing:
            first = chain.of_nodes[0]
            yield pool["name"], "", stages.waiting(chain) | {first: of_parts(first, missing)}
        for node in nodes_of(snapshot["nodes"], pool):
            name = str(node["metadata"]["name"])
            yield pool["name"], name, _of_node(chain, bad.get(name, []), seen(node))


def _of_node(chain: Chain, own: t.Sequence[Part], seen: t.Mapping[str, Stage]) -> dict[str, Stage]:
    """Judgements count for more than what was merely seen."""
    found = {}
    for one in chain.of_nodes:
        shown = seen.get(one) or Stage(one)
        judged = [part for part in own if part.stage == one]
        found[one] = of_parts(one, judged, shown.since if shown.verdict == READY else "") if judged else shown
    return found
