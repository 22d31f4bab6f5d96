# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""The network adapters' stack as a whole, stage by stage; `ready` of the policy alone proves nothing."""

from __future__ import annotations

import typing as t

from ansible_collections.accelerators.openshift.plugins.module_utils._core.daemon_sets import of_owner
from ansible_collections.accelerators.openshift.plugins.module_utils._core.grace import Grace
from ansible_collections.accelerators.openshift.plugins.module_utils._core.objects import Snapshot
from ansible_collections.accelerators.openshift.plugins.module_utils._core.readiness import (
    PENDING,
    Readiness,
    pending,
    ready,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._nodes.pool_nodes import (
    judge_size,
    nodes_of,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._stack import operands, stages
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.finding import Part, part, placed
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.nicclusterpolicy import (
    manifest as nic_manifest,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.nicclusterpolicy.node import (
    DRIVER,
    PLUGINS,
    SECONDARY,
    judge_node,
    key_of,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.outside_nodes import (
    behind,
    with_status,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.stage_judge import Judge

Data = dict[str, t.Any]

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
# Stage -> beginnings of the names of the pods that know why it is not ready.
PODS: t.Final = {
    stages.CRD: _OPERATOR,
    stages.LABELS: _OPERATOR,
    stages.DRIVER: ("mofed-",),
    stages.PLUGIN: tuple(PLUGINS),
    SECONDARY: ("nv-ipam-", "nic-feature-discovery"),
    stages.ALLOCATABLE: tuple(PLUGINS),
}
# Seen in the first moments of every healthy start, and final when they last.
PASSING: t.Final = (
    "NIC-LABEL",
    "NIC-DRV-CRASH",
    "NIC-OPERAND-CRASH",
    "NIC-IMAGE",
    "NIC-ALLOC",
    "NIC-DRV-OUTDATED",
)


def judging(params: Data, clock: t.Callable[[], float]) -> Judge:
    offered = nic_manifest.offered(params)
    return Judge(
        lambda snapshot: judge(snapshot, params["pools"], offered),
        CHAIN,
        Grace(clock, params["grace"], PASSING),
    )


def policy_of(snapshot: Snapshot) -> Data:
    """Empty while it is not there."""
    return next(
        (one for one in snapshot["policies"] if one["metadata"]["name"] == nic_manifest.NAME),
        dict[str, t.Any](),
    )


def judge(snapshot: Snapshot, pools: t.Sequence[Data], offered: t.Sequence[str]) -> list[Part]:
    """Causes come before consequences; the last part is what the operator says of itself."""
    policy, remedy = policy_of(snapshot), "Look at the events of the operator."
    if not policy:
        return [
            part(
                PENDING,
                "NoPolicy",
                f"NicClusterPolicy {nic_manifest.NAME} is not there yet.",
                code="NIC-STATE",
                remedy=remedy,
                stage=stages.CRD,
                waits=True,
            )
        ]
    parts = [placed(judge_size(snapshot["nodes"], pool), pool["name"]) for pool in pools]
    pods = operands.by_node(snapshot["pods"])
    for pool in pools:
        wanted = {
            name: number for name, number in (pool.get("expected") or {}).items() if name in offered
        } or dict.fromkeys(offered, 0)
        for node in nodes_of(snapshot["nodes"], pool):
            parts += judge_node(
                node, pool, policy, {**snapshot, "pods": pods.get(node["metadata"]["name"], [])}, wanted
            )
    return with_status(
        [*parts, *_judge_rollout(policy, snapshot)],
        _judge_status(policy),
        others(snapshot, policy, pools),
        f"NicClusterPolicy {nic_manifest.NAME}",
    )


def others(snapshot: Snapshot, policy: Data, pools: t.Sequence[Data]) -> dict[str, dict[str, str]]:
    """Node outside the pools -> DaemonSets whose pod is not Ready there, with what is wrong."""
    return (
        behind(snapshot, pools, of_owner(snapshot["daemonsets"], str(policy["metadata"].get("uid"))))
        if pools
        else {}
    )


def _judge_rollout(policy: Data, snapshot: Snapshot) -> list[Part]:
    """The operator compares no generations: right after a change it may call ready what is still as it was."""
    late = []
    for one in of_owner(snapshot["daemonsets"], str(policy["metadata"].get("uid"))):
        version = str((policy["spec"].get(key_of(one)) or {}).get("version") or "")
        images = [
            str(container.get("image", ""))
            for container in one["spec"]["template"]["spec"].get("containers") or []
        ]
        if version and images and not any(version in image for image in images):
            late.append(f"{one['metadata']['name']} (version {version})")
    if not late:
        return []
    message = f"The operator has not yet brought the policy to {', '.join(sorted(late)[:3])}."
    return [
        part(
            PENDING,
            "Rollout",
            message,
            code="NIC-STATE",
            remedy="Look at the log of the NVIDIA Network Operator.",
            stage=stages.CRD,
        )
    ]


def _judge_status(policy: Data) -> Part:
    """What it says of its components is the consequence of what was looked at before; errors are the operator's own."""
    found = nic_manifest.judge(policy)
    conditions = (policy.get("status") or {}).get("conditions") or []
    since = next(
        (str(one.get("lastTransitionTime") or "") for one in conditions if one["type"] == "Ready"), ""
    )
    more: Data = {
        "code": found.code,
        "remedy": found.remedy,
        "stage": stages.CRD,
        "since": since,
        "waits": not found.is_ready and not found.is_failed,
    }
    return part(found.verdict, found.reason, found.message, **more)


def judge_gone(snapshot: Snapshot) -> Readiness:
    """After the policy is deleted the garbage collector takes what it owned."""
    left = [
        one["metadata"]["name"]
        for one in snapshot["daemonsets"]
        if any(o["kind"] == "NicClusterPolicy" for o in one["metadata"].get("ownerReferences") or [])
    ]
    if not left:
        return ready("Gone")
    return pending(
        "Leaving",
        f"{len(left)} DaemonSets are left: {', '.join(left)}.",
        code="NIC-LEFTOVER",
        remedy="Look for finalizers and for pods that do not end.",
    )


def outlived(nodes: t.Collection[str], pods: t.Iterable[Data], drivers: t.Iterable[Data]) -> list[str]:
    """Nodes whose GPU driver, with nvidia-peermem in it, was built before the NIC driver that runs now."""
    newest = {
        pod["spec"].get("nodeName"): pod["metadata"]["creationTimestamp"]
        for pod in pods
        if DRIVER in (pod["metadata"].get("labels") or {})
    }
    old = {
        pod["spec"].get("nodeName")
        for pod in drivers
        if pod["metadata"]["creationTimestamp"] < newest.get(pod["spec"].get("nodeName"), "")
    }
    return sorted(name for name in nodes if name in old)
