# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Judge what the GPU operator says of a ClusterPolicy: which one counts, its errors, and its status."""

from __future__ import annotations

import re
import typing as t

from ..._core.conditions import find, since
from ..._core.errors import text_of
from ..._core.objects import KubeObject, Snapshot, name, oldest
from ..._core.readiness import FAILED, PENDING, READY
from ..._nodes.labels import has_nvidia_pci, labels
from .. import operands, stages
from ..known_texts import NFD_WORKERS, OPERATOR
from ..signatures import recognise
from ..stages import RECONCILE_FAILED, Finding, on_object
from .manifest import reason, state
from .node import BLIND

# Name of a state in the operator's message -> component of the operand.
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
# The operator reads these labels of the first GPU node only, and names no node.
_NO_SYSTEM: t.Final = re.compile(r"unable to retrieve OS \w+ from label (\S+)")


def judge_policy(policy: KubeObject, snapshot: Snapshot) -> Finding:
    """Return a finding if this policy cannot work whatever its operands do, else ready.

    An older policy or a GPUCluster makes it useless; or the operator cannot reconcile it at all.
    """
    object_name = name(policy)
    counts = oldest(snapshot["policies"])
    if name(counts) != object_name:
        names = f"{name(counts)} {object_name}"
        text = text_of("GPU-CP-IGNORED", older=name(counts), policy=object_name, names=names)
        return on_object(FAILED, "Ignored", **text._asdict())
    error = find(policy, "Error")
    if error.get("status") != "True":
        return on_object(READY)
    said, when = str(error.get("message") or ""), since(policy, "Error")
    known = recognise(said, place=OPERATOR)
    if known and known.code == "GPU-CP-CONFLICT":
        return on_object(
            FAILED, "Conflict", f"ClusterPolicy {object_name}: {said}", known.code, known.remedy, since=when
        )
    if error.get("reason") != RECONCILE_FAILED:
        return on_object(READY)
    code, remedy = "GPU-CP-RECONCILE", operands.OPERATOR_LOG
    if known:
        code, remedy = known.code, known.advice(operands.OPERATOR_LOG)
    where, lacking = _without_system(said, snapshot)
    message = f"The GPU operator cannot reconcile ClusterPolicy {object_name}: {said}{where}"
    if lacking:
        remedy = f"Run `oc delete pod -n openshift-nfd -l app=nfd-worker --field-selector {lacking}`."
    return on_object(PENDING, RECONCILE_FAILED, message, code, remedy, since=when)


def _without_system(said: str, snapshot: Snapshot) -> tuple[str, str]:
    """Return which nodes lack the label that the operator misses, and the field selector of the first.

    Both are empty if the operator misses none, or if no node of the pools lacks it.
    """
    label = _NO_SYSTEM.search(said)
    if label is None:
        return "", ""
    names = [
        name(node)
        for node in snapshot["nodes"]
        if has_nvidia_pci(labels(node)) and label[1] not in labels(node)
    ]
    more = f" and {len(names) - 3} more" if names[3:] else ""
    where = f" (nodes without it: {', '.join(names[:3])}{more})" if names else ""
    return where, f"spec.nodeName={names[0]}" if names else ""


def judge_status(policy: KubeObject, has_nodes: bool) -> Finding:
    """Return the status of the policy as a finding; all other findings are its causes."""
    object_name, now, why, when = name(policy), state(policy), reason(policy), since(policy, "Ready")
    if now == "ready" and why == "Reconciled":
        return on_object(READY, why, since=when)
    if now == "ready" and why in BLIND and not has_nodes:
        message = "The operator is installed and waits for its first GPU node."
        return on_object(READY, why, message, since=when)
    if now == "ready" and why in BLIND:
        message = (
            f"ClusterPolicy {object_name} is ready with reason {why}, although the pools have nodes: "
            "the operator sees no NVIDIA PCI label."
        )
        code = "GPU-NFD-EMPTY"
        return on_object(PENDING, why, message, code, NFD_WORKERS, stage=stages.LABELS, since=when)
    said = find(policy, "Error").get("message", "")
    wrong = f"state {now or 'unknown'}{': ' + said if said else ''}"
    if now == "ready":
        # The operator writes state and conditions one after the other.
        wrong = f"state ready, and its conditions are not yet: {said or why or 'they give no reason'}"
    code, message, remedy = text_of("GPU-CP-NOT-READY", policy=object_name, why=wrong)
    if known := recognise(said, place=OPERATOR):
        code, remedy = known.code, known.advice(remedy)
    if not policy.get("status"):
        remedy = (
            f"{operands.OPERATOR_LOG} If an older ClusterPolicy was deleted, the operator does not turn to "
            f"this one by itself: run `oc delete clusterpolicy {object_name}`, and the task again. "
            "No pod ends: this policy has brought nothing yet."
        )
    return on_object(PENDING, why or "NotReady", message, code, remedy, since=when, waits=True)


def explains(late: t.Mapping[str, t.Mapping[str, str]], policy: KubeObject) -> bool:
    """Return whether nodes outside the pools explain every state that the policy calls not ready."""
    message = find(policy, "Error").get("message", "")
    states = [one for names in _LISTED.findall(message) for one in re.split(r"[;,\s]+", names) if one]
    components = {component for notes in late.values() for component in notes}
    is_named = bool(states) and reason(policy) == "OperandNotReady"
    return is_named and {_STATES.get(one, one) for one in states} <= components
