# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Judge the network adapters' stack stage by stage, and return its result: components, nodes, stages, pools.

Status `ready` of the policy alone proves nothing.
"""

from __future__ import annotations

import typing as t

from ..._core.conditions import since
from ..._core.daemon_sets import is_made_by, of_owner
from ..._core.errors import text_of
from ..._core.objects import KubeObject, Snapshot, name, named
from ..._core.readiness import PENDING, Readiness, pending, ready
from ..._nodes import devices
from ..._nodes.labels import labels
from ..._nodes.pool_nodes import nodes_of
from .. import operands, stages, table
from ..judge import StackJudge, judge_pools, patience
from ..node import late_outside, outside_as_result, with_status
from ..params import LookParams, StackPool
from ..stages import Finding, Stage, not_yet, on_object
from . import manifest, node as nic_node
from .manifest import NAME
from .node import DRIVER, PLUGINS, PRESENT, SECONDARY, WAITS, here, judge_node, key_of, stage_of

_NEEDED: t.Final = (stages.DRIVER, stages.CRD, stages.LABELS)
CHAIN: t.Final = stages.chain(
    {
        stages.LABELS: (),
        stages.DRIVER: (stages.CRD, stages.LABELS),
        stages.PLUGIN: _NEEDED,
        SECONDARY: _NEEDED,
        stages.ALLOCATABLE: (stages.PLUGIN, *_NEEDED),
    },
    "nvidia-network-operator",
)
_OPERATOR: t.Final = ("nvidia-network-operator-controller-manager",)
# Stage -> name prefixes of the pods whose logs say why it is not ready.
PODS: t.Final = {
    stages.CRD: _OPERATOR,
    stages.LABELS: _OPERATOR,
    stages.DRIVER: ("mofed-",),
    stages.PLUGIN: tuple(PLUGINS),
    SECONDARY: ("nv-ipam-", "nic-feature-discovery"),
    stages.ALLOCATABLE: tuple(PLUGINS),
}
# Every healthy start shows these codes for a moment; one that lasts fails the task.
PASSING: t.Final = (
    "NIC-LABEL",
    "NIC-DRV-CRASH",
    "NIC-OPERAND-CRASH",
    "NIC-IMAGE",
    "NIC-ALLOC",
    "NIC-DRV-OUTDATED",
)


def judging(params: LookParams, offered: t.Sequence[str], clock: t.Callable[[], float]) -> StackJudge:
    """Return the judge of a wait. offered: resources that the plugins will offer."""
    return StackJudge(
        lambda snapshot: judge(snapshot, params.pools, offered), CHAIN, patience(params, clock, PASSING)
    )


def judge(snapshot: Snapshot, pools: t.Sequence[StackPool], offered: t.Sequence[str]) -> list[Finding]:
    """Return the findings, causes before consequences; the last is the status of the policy.

    offered: names of the resources that the plugins offer.
    """
    policy = named(snapshot["policies"], NAME)
    if not policy:
        return [not_yet(f"NicClusterPolicy {NAME}", "NoPolicy", "NIC-STATE", manifest.NAMESPACE)]

    def of_node(node: KubeObject, pool: StackPool, view: Snapshot) -> t.Iterable[Readiness | None]:
        expected = {one: number for one, number in (pool.get("expected") or {}).items() if one in offered}
        return judge_node(node, policy, view, expected or dict.fromkeys(offered, 0))

    findings = [*judge_pools(snapshot, pools, of_node), *_judge_rollout(policy, snapshot)]
    findings += [_judge_status(each) for each in node_policies(snapshot, pools)]
    late = late_outside(snapshot, pools, own_daemonsets(snapshot, policy))
    return with_status(findings, _judge_status(policy), late, f"NicClusterPolicy {NAME}")


def own_daemonsets(snapshot: Snapshot, policy: KubeObject) -> list[KubeObject]:
    """Return the DaemonSets that the operator made for the policy and for NicNodePolicies."""
    policies = [policy, *(snapshot.get("node_policies") or [])]
    return [one for each in policies for one in of_owner(snapshot["daemonsets"], nic_node.uid_of(each))]


def node_policies(snapshot: Snapshot, pools: t.Sequence[StackPool]) -> list[KubeObject]:
    """Return the NicNodePolicies that select a node of these pools."""
    nodes = [node for pool in pools for node in nodes_of(snapshot["nodes"], pool)]
    found = snapshot.get("node_policies") or []
    return [policy for policy in found if any(nic_node.selects(policy, node) for node in nodes)]


def _judge_rollout(policy: KubeObject, snapshot: Snapshot) -> list[Finding]:
    """Return a finding while DaemonSets have an old version; the policy can be ready before they change."""
    findings = []
    for each in (policy, *(snapshot.get("node_policies") or [])):
        late = []
        for one in of_owner(snapshot["daemonsets"], nic_node.uid_of(each)):
            version = str((each["spec"].get(key_of(one)) or {}).get("version") or "")
            has_containers = bool(one["spec"]["template"]["spec"].get("containers"))
            if version and has_containers and not operands.runs_version(one, version):
                late.append(f"{name(one)} (version {version})")
        if late:
            waits = f"it is not applied yet to {', '.join(sorted(late)[:3])}"
            text = text_of("NIC-STATE", policy=manifest.object_name(each), why=waits)
            findings.append(on_object(PENDING, "Rollout", **text._asdict()))
    return findings


def _judge_status(policy: KubeObject) -> Finding:
    found = manifest.judge(policy)
    when, waits = since(policy, "Ready"), found.verdict == PENDING
    text = found.message, found.code, found.remedy
    return on_object(found.verdict, found.reason, *text, since=when, waits=waits)


def judge_gone(snapshot: Snapshot) -> Readiness:
    """Return ready once the garbage collector has deleted the DaemonSets of the policy."""
    left = [name(one) for one in snapshot["daemonsets"] if is_made_by(one, "NicClusterPolicy")]
    if not left:
        return ready("Gone")
    text = text_of("GPU-LEFT", what="DaemonSets", left=", ".join(left), namespace=manifest.NAMESPACE)
    return pending("Leaving", **text._asdict())


def outlived(
    nodes: t.Collection[str], pods: t.Iterable[KubeObject], drivers: t.Iterable[KubeObject]
) -> list[str]:
    """Return nodes whose GPU driver, with its nvidia-peermem, is older than their running NIC driver.

    pods: of the network operator. drivers: pods of the GPU driver.
    """
    newest = {
        pod["spec"].get("nodeName"): pod["metadata"]["creationTimestamp"]
        for pod in pods
        if DRIVER in labels(pod)
    }
    old = {
        pod["spec"].get("nodeName")
        for pod in drivers
        if pod["metadata"]["creationTimestamp"] < newest.get(pod["spec"].get("nodeName"), "")
    }
    return sorted(node for node in nodes if node in old)


def summarize(
    snapshot: Snapshot,
    pools: t.Sequence[StackPool],
    offered: t.Sequence[str],
    findings: t.Sequence[Finding] | None = None,
) -> dict[str, t.Any]:
    """Return the result. findings: from the judge of a wait; without them this judges the snapshot."""
    if findings is None:
        findings = judge(snapshot, pools, offered)
    policy, view = named(snapshot["policies"], NAME), operands.view_of(snapshot)

    def seen(node: KubeObject) -> t.Mapping[str, Stage]:
        if not policy:
            is_labelled = labels(node).get(PRESENT) == "true"
            return table.before_object(CHAIN, node, is_labelled, f"no label {PRESENT}")
        return _seen(node, policy, view(node), offered)

    late = late_outside(snapshot, pools, own_daemonsets(snapshot, policy)) if policy else {}
    return {
        "name": NAME,
        "state": manifest.state(policy),
        "reason": manifest.judge(policy).reason if policy else "",
        "components": [
            component
            for each in (policy, *node_policies(snapshot, pools))
            for component in manifest.components(each)
        ],
        "nodes": [_node(node, pool, offered) for pool in pools for node in nodes_of(snapshot["nodes"], pool)],
        "others": outside_as_result(late),
        **table.summarize(CHAIN, snapshot, policy, pools, findings, seen),
    }


def _node(node: KubeObject, pool: StackPool, offered: t.Sequence[str]) -> dict[str, t.Any]:
    return {
        "name": node["metadata"]["name"],
        "pool": pool["name"],
        "expected": {one: number for one, number in (pool.get("expected") or {}).items() if one in offered},
        "allocatable": {one: devices.offered(node, one) for one in offered},
        "driver_loaded": labels(node).get(WAITS) == "false",
    }


def _seen(
    node: KubeObject, policy: KubeObject, snapshot: Snapshot, offered: t.Sequence[str]
) -> dict[str, Stage]:
    found = here(node, policy, snapshot)
    keys = {one["metadata"]["name"]: key_of(one) for one in found.daemonsets}
    lacking = operands.by_stage(found.lacking, stage_of)
    shown = operands.shown_stages(node, found.found, lacking, lambda one: stage_of(keys[one.daemonset]))
    missing = [one for one in (stages.DRIVER, stages.PLUGIN, SECONDARY) if one not in shown]
    if not offered:
        missing.append(stages.ALLOCATABLE)
    return {one: Stage(one, evidence=(table.NOT_WANTED,)) for one in missing} | shown
