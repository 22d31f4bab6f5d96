# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""The GPU stack as a whole: ClusterPolicy, operands, nodes. `Ready` of the policy alone lies in several ways; this judges the truth."""

from __future__ import annotations

import re
import typing as t
from dataclasses import replace

from ansible_collections.accelerators.openshift.plugins.module_utils._core.grace import Grace
from ansible_collections.accelerators.openshift.plugins.module_utils._core.objects import Snapshot
from ansible_collections.accelerators.openshift.plugins.module_utils._core.readiness import (
    FAILED,
    PENDING,
    READY,
    Readiness,
    pending,
    ready,
    worst,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._nodes.pool_nodes import (
    judge_size,
    nodes_of,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._stack import operands, stages
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.clusterpolicy import (
    manifest as clusterpolicy_manifest,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.clusterpolicy.devices import (
    WITHHELD,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.clusterpolicy.node import (
    BLIND,
    judge_node,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.clusterpolicy.rollout import (
    judge_rollout,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.drivers import kernel
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.drivers.kernel_chain import (
    KernelChain,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.finding import (
    Part,
    hardened,
    is_consequence,
    part,
    placed,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.lines import one_line_each
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.outside_nodes import behind, named
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.signatures import recognise

# Seen in the first moments of every healthy start, and final when they last.
PASSING: t.Final = (
    "GPU-NFD-EMPTY",
    "GPU-DRV-CRASH",
    "GPU-OPERAND-CRASH",
    "GPU-OPERAND-LACKING",
    "GPU-IMAGE",
    "GPU-OPTED-OUT",
    "GPU-MODE",
    "GPU-NVD-LEFT",
    "GPU-PAUSED",
    *kernel.PASSING,
)
# As the operator names its states -> component of the operand.
_STATES: t.Final = {
    "state-driver": "driver",
    "state-container-toolkit": "container-toolkit",
    "state-operator-validation": "operator-validator",
    "state-device-plugin": "device-plugin",
    "state-mps-control-daemon": "mps-control-daemon",
    "state-dcgm": "dcgm",
    "state-dcgm-exporter": "dcgm-exporter",
    "gpu-feature-discovery": "gpu-feature-discovery",
    "state-mig-manager": "mig-manager",
    "state-node-status-exporter": "node-status-exporter",
}
_LISTED: t.Final = re.compile(r"states not ready: \[([^\]]*)\]")
# A driver may take minutes to build, but once the device plugin runs, or the operator calls everything ready, the devices come within moments or never.
DOUBTFUL: t.Final = ("GPU-ALLOC",)


class Judge:
    """The verdict on the whole stack, with a memory of how long a trouble lasts and of what was seen last."""

    chain = stages.GPU_STACK

    def __init__(self, params: dict[str, t.Any], clock: t.Callable[[], float]) -> None:
        self._params = params
        self._patience = Grace(clock, params["grace"], PASSING)
        self._doubt = Grace(clock, params["grace"], DOUBTFUL)
        self._chain = KernelChain()
        self.seen: dict[str, list[dict[str, t.Any]]] = {}
        self.parts: list[Part] = []
        self.looks = 0

    def __call__(self, snapshot: dict[str, list[dict[str, t.Any]]]) -> Readiness:
        self.seen, self.looks = snapshot, self.looks + 1
        parts = judge(snapshot, self._params["name"], self._params["pools"])
        # What only waits for something else is as patient as that.
        causes = [not is_consequence(part, parts) for part in parts]
        parts = hardened(self._patience, parts, causes)
        claimed = parts[-1].is_ready and all(
            part.code not in ("GPU-UPG-RUNNING", "GPU-CP-NOTREADY") for part in parts
        )
        doubtful = [claimed or part.reason.startswith(WITHHELD) for part in parts]
        parts = self.parts = hardened(self._doubt, parts, doubtful)
        verdict = worst(parts)
        if not verdict.is_failed:
            verdict = replace(verdict, details=self._lines(snapshot, parts))
        return (
            verdict
            if not verdict.is_ready
            else ready("Reconciled", "Every node runs every operand and offers what its pool promises.")
        )

    def _lines(self, snapshot: Snapshot, parts: list[Part]) -> tuple[str, ...]:
        nodes = [node for pool in self._params["pools"] for node in pool_nodes(snapshot, pool)]
        return self._chain.tell(
            one_line_each(parts), nodes, policy_of(snapshot, self._params["name"]), snapshot
        )


def policy_of(snapshot: Snapshot, name: str) -> dict[str, t.Any]:
    """Empty while it is not there."""
    return next(
        (entry for entry in snapshot["policies"] if entry["metadata"]["name"] == name), dict[str, t.Any]()
    )


def pool_nodes(snapshot: Snapshot, pool: dict[str, t.Any]) -> list[dict[str, t.Any]]:
    return nodes_of(snapshot["nodes"], pool)


def judge(snapshot: Snapshot, name: str, pools: t.Sequence[dict[str, t.Any]]) -> list[Part]:
    """Causes come before consequences; the last part is what the operator says of itself."""
    policy = policy_of(snapshot, name)
    if not policy:
        remedy = "Look at the events of the GPU operator."
        return [
            part(
                PENDING,
                "NoPolicy",
                f"ClusterPolicy {name} is not there yet.",
                code="GPU-CP-ABSENT",
                remedy=remedy,
                stage=stages.CRD,
                waits=True,
            )
        ]
    parts = [_judge_policy_itself(policy, snapshot)]
    parts += [
        replace(placed(judge_size(snapshot["nodes"], pool), pool["name"]), stage=stages.LABELS)
        for pool in pools
    ]
    pods = operands.by_node(snapshot["pods"])
    for pool in pools:
        for node in pool_nodes(snapshot, pool):
            parts += judge_node(
                node, pool, policy, {**snapshot, "pods": pods.get(node["metadata"]["name"], [])}
            )
    parts += [
        replace(placed(late, ""), stage=stages.CRD) for late in judge_rollout(policy, snapshot["daemonsets"])
    ]
    status = _judge_status(policy, any(pool_nodes(snapshot, pool) for pool in pools))
    if (
        not status.is_ready
        and all(one.is_ready for one in parts)
        and (others := _blamed(snapshot, policy, pools))
    ):
        status = part(
            READY,
            "OthersNotReady",
            f"ClusterPolicy {name} is notReady for nodes outside the pools alone: {'; '.join(others)}.",
            stage=stages.CRD,
        )
    return [*parts, status]


def _judge_policy_itself(policy: dict[str, t.Any], snapshot: Snapshot) -> Part:
    name = policy["metadata"]["name"]
    if clusterpolicy_manifest.state(policy) == "ignored":
        others = sorted(
            entry["metadata"]["name"] for entry in snapshot["policies"] if entry["metadata"]["name"] != name
        )
        return part(
            FAILED,
            "Ignored",
            f"ClusterPolicy {name} is ignored: {', '.join(others) or 'another one'} is older, and only the oldest counts.",
            code="GPU-CP-IGNORED",
            remedy=f"Use special_resource with name={others[0]}, or delete that one."
            if others
            else "Delete the older ClusterPolicy.",
            stage=stages.CRD,
        )
    error = clusterpolicy_manifest.condition(policy, "Error")
    known = recognise(error.get("message", "")) if error.get("status") == "True" else None
    if known and known.code == "GPU-CP-CONFLICT":
        what, since = f"ClusterPolicy {name}: {error['message']}", str(error.get("lastTransitionTime") or "")
        return part(
            FAILED, "Conflict", what, code=known.code, remedy=known.remedy, stage=stages.CRD, since=since
        )
    return part(READY, stage=stages.CRD)


def _judge_status(policy: dict[str, t.Any], has_nodes: bool) -> Part:
    """What the operator says of itself comes last: it is the consequence of all that was looked at before."""
    name, state, reason = (
        policy["metadata"]["name"],
        clusterpolicy_manifest.state(policy),
        clusterpolicy_manifest.reason(policy),
    )
    since = str(clusterpolicy_manifest.condition(policy, "Ready").get("lastTransitionTime") or "")
    if state == "ready" and reason == "Reconciled":
        return part(READY, reason, stage=stages.CRD, since=since)
    if state == "ready" and reason in BLIND:
        if not has_nodes:
            return part(
                READY,
                reason,
                "The operator is installed and waits for its first GPU node.",
                stage=stages.CRD,
                since=since,
            )
        return part(
            PENDING,
            reason,
            f"ClusterPolicy {name} is ready with reason {reason}, although the pools have nodes: the operator sees no NVIDIA PCI label.",
            code="GPU-NFD-EMPTY",
            remedy="Look at the NodeFeatureDiscovery, its nfd-worker pods on the GPU nodes and its PCI class list.",
            stage=stages.LABELS,
            since=since,
        )
    message = clusterpolicy_manifest.condition(policy, "Error").get("message", "")
    known = recognise(message)
    return part(
        PENDING,
        reason or "NotReady",
        f"ClusterPolicy {name} is {state or 'without a state'}{': ' + message if message else ''}.",
        code=known.code if known else "GPU-CP-NOTREADY",
        remedy=known.remedy
        if known
        else f"Look at `oc describe clusterpolicy {name}` and at the log of the GPU operator.",
        stage=stages.CRD,
        since=since,
        waits=True,
    )


def _blamed(snapshot: Snapshot, policy: dict[str, t.Any], pools: t.Sequence[dict[str, t.Any]]) -> list[str]:
    """One phrase a node, when nodes outside the pools explain every state that the policy calls not ready; else nothing."""
    message = clusterpolicy_manifest.condition(policy, "Error").get("message", "")
    states = [one for names in _LISTED.findall(message) for one in re.split(r"[;,\s]+", names) if one]
    if not pools or not states or clusterpolicy_manifest.reason(policy) != "OperandNotReady":
        return []
    others = behind(snapshot, pools)
    components = {component for notes in others.values() for component in notes}
    if not {_STATES.get(state, state) for state in states} <= components:
        return []
    return named(others)


def judge_gone(snapshot: Snapshot) -> Readiness:
    """After the policy is deleted its operands are collected; only then may the operator go."""
    left = [one for one in snapshot["daemonsets"] if operands.is_operand(one)]
    pods = [
        pod
        for pod in snapshot["pods"]
        if any(owner["kind"] == "DaemonSet" for owner in pod["metadata"].get("ownerReferences") or [])
    ]
    if not left and not pods:
        return ready("Gone", "No operand is left.")
    names = [f"daemonset/{one['metadata']['name']}" for one in left] + [
        f"pod/{pod['metadata']['name']}" for pod in pods
    ]
    message = f"{len(left)} DaemonSets and {len(pods)} pods of the stack are left."
    line = f"{len(names)} left: {', '.join(names[:5])}{', …' if len(names) > 5 else ''}"
    return pending(
        "Leaving",
        message,
        code="GPU-LEFTOVER",
        remedy="Look for finalizers and for pods that do not end.",
        details=(line,),
    )
