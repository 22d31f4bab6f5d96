# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""What is told of the stack: its nodes, its stages, and which pools are ready."""

from __future__ import annotations

import typing as t

from ansible_collections.accelerators.openshift.plugins.module_utils import _cluster_policy as cluster_policy
from ansible_collections.accelerators.openshift.plugins.module_utils import _geometry_live as geometry
from ansible_collections.accelerators.openshift.plugins.module_utils import _kernel_match as kernel_match
from ansible_collections.accelerators.openshift.plugins.module_utils import _operands as operands
from ansible_collections.accelerators.openshift.plugins.module_utils import _stages as stages
from ansible_collections.accelerators.openshift.plugins.module_utils._node_labels import has_nvidia_pci
from ansible_collections.accelerators.openshift.plugins.module_utils._pool_nodes import nodes_of
from ansible_collections.accelerators.openshift.plugins.module_utils._readiness import PENDING, READY, worst
from ansible_collections.accelerators.openshift.plugins.module_utils._stack_foreign import behind
from ansible_collections.accelerators.openshift.plugins.module_utils._stack_part import Part
from ansible_collections.accelerators.openshift.plugins.module_utils._stages import Place, Stage

Data = dict[str, t.Any]
Snapshot = t.Mapping[str, t.Sequence[Data]]
UNASKED: t.Final = "not looked at, since what it brings is there"


def summarize(snapshot: Snapshot, name: str, pools: t.Sequence[Data], parts: t.Sequence[Part]) -> Data:
    policy = _policy(snapshot, name)
    revisions, pods = operands.current_revisions(snapshot["revisions"]), operands.by_node(snapshot["pods"])
    nodes = [
        {
            "name": node["metadata"]["name"],
            "pool": pool["name"],
            "expected": geometry.expected(node, pool.get("expected") or {}),
            "allocatable": geometry.resources(node),
            "driver_version": geometry.driver_version(node),
            "product": geometry.product(node),
            "kernel": kernel_match.match(node, policy, {**snapshot, "pods": pods.get(node["metadata"]["name"], [])}).to_dict(),
            "operands": [
                {"name": one.component, "ready": one.ready, "pod": one.pod}
                for one in operands.on_node(node, snapshot["daemonsets"], pods.get(node["metadata"]["name"], []), revisions)
            ],
        }
        for pool in pools
        for node in nodes_of(snapshot["nodes"], pool)
    ]
    table = stages_of(snapshot, name, pools, parts)
    return {
        "name": name,
        "state": cluster_policy.state(policy),
        "reason": cluster_policy.reason(policy),
        "driver_version": next((node["driver_version"] for node in nodes if node["driver_version"]), ""),
        "nodes": nodes,
        "pools": pools_of(snapshot, pools, parts),
        "others": others(snapshot, pools),
        "stages": table,
        "lines": stages.table(table),
    }


def _policy(snapshot: Snapshot, name: str) -> Data:
    return next((entry for entry in snapshot["policies"] if entry["metadata"]["name"] == name), Data())


def pools_of(snapshot: Snapshot, pools: t.Sequence[Data], parts: t.Sequence[Part]) -> list[Data]:
    """Each pool by itself: what is wrong with another one, or with nodes of nobody, does not matter to it."""
    shared = [one for one in parts if not one.pool and one.stage == stages.CRD and not one.is_ready and not one.waits]
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


def stages_of(snapshot: Snapshot, name: str, pools: t.Sequence[Data], parts: t.Sequence[Part]) -> list[Data]:
    """Catalogue, install plan and CSV, and how metrics are collected, only where the snapshot has what was read of them."""
    policy = _policy(snapshot, name)
    crd = _crd(policy, parts)
    shared = stages.settle({**_operator(snapshot), stages.CRD: crd})
    places: dict[str, list[Place]] = {one: [] for one in stages.OF_NODES}
    for pool, node, found in _of_nodes(snapshot, policy, pools, parts):
        settled = stages.settle({**shared, **found})
        for one in stages.OF_NODES:
            places[one].append(Place(pool, node, settled[one]))
    if policy and "monitors" in snapshot and pools:
        places[stages.METRICS].append(Place("", "", metrics_of(snapshot, policy)))
    result = [stages.told(stage) for stage in shared.values()]
    return result + [stages.across(one, found) for one, found in places.items() if found]


def _operator(snapshot: Snapshot) -> dict[str, Stage]:
    if "subscriptions" not in snapshot:
        return {one: Stage(one, evidence=(UNASKED,)) for one in (stages.CATALOGUE, stages.PLAN, stages.CSV)}
    from ansible_collections.accelerators.openshift.plugins.module_utils import _stage_olm as stage_olm

    return {stage.name: stage for stage in stage_olm.judge(snapshot)}


def metrics_of(snapshot: Snapshot, policy: Data) -> Stage:
    from ansible_collections.accelerators.openshift.plugins.module_utils import _stage_metrics as stage_metrics

    return stage_metrics.judge(policy, next(iter(snapshot["namespaces"]), None), snapshot["monitors"])


def _crd(policy: Data, parts: t.Sequence[Part]) -> Stage:
    """The custom resource itself: there, counted, and brought to the operands. What it says of its operands is their own matter."""
    own = [one for one in parts if one.stage == stages.CRD and not one.is_ready]
    if policy and all(one.waits for one in own):
        own = []
    since = str(policy["metadata"].get("creationTimestamp") or "") if policy else ""
    return _stage(stages.CRD, own, since)


def _stage(name: str, own: t.Sequence[Part], since: str = "") -> Stage:
    if not own:
        return Stage(name, since=since)
    verdict = stages.WAITING if all(one.waits for one in own) else worst(own).verdict
    said = tuple(line for one in own for line in one.details or (one.message,))
    moments = sorted(one.since for one in own if one.since)
    return Stage(name, verdict, moments[0] if moments else since, said)


def _of_nodes(snapshot: Snapshot, policy: Data, pools: t.Sequence[Data], parts: t.Sequence[Part]) -> t.Iterator[tuple[str, str, dict[str, Stage]]]:
    pods = operands.by_node(snapshot["pods"])
    for pool in pools:
        missing = [one for one in parts if one.pool == pool["name"] and not one.node and not one.is_ready]
        if missing:
            waiting = {one: Stage(one, stages.WAITING) for one in stages.OF_NODES}
            yield pool["name"], "", waiting | {stages.LABELS: _stage(stages.LABELS, missing)}
        for node in nodes_of(snapshot["nodes"], pool):
            yield pool["name"], str(node["metadata"]["name"]), _of_node(node, {**snapshot, "pods": pods.get(node["metadata"]["name"], [])}, policy, parts)


def _of_node(node: Data, snapshot: Snapshot, policy: Data, parts: t.Sequence[Part]) -> dict[str, Stage]:
    name = str(node["metadata"]["name"])
    own = [one for one in parts if one.node == name and not one.is_ready]
    wanted = operands.on_node(node, snapshot["daemonsets"], snapshot["pods"], operands.current_revisions(snapshot["revisions"]))
    absent = operands.lacking(node, snapshot["daemonsets"], policy.get("spec") or {})
    if not policy:
        labelled = Stage(stages.LABELS) if has_nvidia_pci(geometry.labels(node)) else Stage(stages.LABELS, PENDING, "", (f"{name}: no NVIDIA PCI label",))
        return {one: Stage(one, stages.WAITING) for one in stages.OF_NODES} | {stages.LABELS: labelled}
    found: dict[str, Stage] = {}
    for stage in stages.OF_NODES:
        here = [one for one in wanted if stages.OF_COMPONENT.get(one.component, stages.PLUGIN) == stage]
        late = [f"{name}: {one.component} {one.note}" for one in here if not one.ready]
        late += [f"{name}: no DaemonSet for {component}" for component in absent if stages.OF_COMPONENT[component] == stage]
        since = max((one.since for one in here if one.ready), default="")
        judged = _stage(stage, [one for one in own if one.stage == stage], since)
        if judged.verdict == READY and late:
            judged = Stage(stage, stages.WAITING, min((one.since for one in here if not one.ready and one.since), default=""), tuple(late))
        found[stage] = judged
    return found


def others(snapshot: Snapshot, pools: t.Sequence[Data]) -> list[Data]:
    """Nodes outside the pools on which an operand is not Ready: for the reader, nothing waits for them."""
    if not pools:
        return []
    return [{"name": node, "operands": [{"name": one, "note": note} for one, note in notes.items()]} for node, notes in sorted(behind(snapshot, pools).items())]
