# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Judge one node of the DRA stack: its labels, taints, operands and ResourceSlices, causes first."""

from __future__ import annotations

import typing as t

from ..._core.objects import KubeObject, Snapshot, name
from ..._core.readiness import PENDING, Readiness, about_node
from ..._nodes import devices, dra
from ..._nodes.labels import has_nvidia_pci, labels
from .. import operands, stages
from ..drivers import kernel
from ..node import judge_alive, judge_opt_out, judge_paused, judge_taints
from ..params import StackPool
from ..pods import judge_pods
from ..stages import Finding, on_node
from ..upgrade import judge_upgrade

# A node without these components offers no device.
COMPONENTS: t.Final = ("dra-driver", "dra-validator")
# Causes before their consequences.
_ORDER: t.Final = ("driver", *COMPONENTS)
PLUGIN: t.Final = "nvidia-dra-driver-kubelet-plugin"
# NVIDIADrivers bring the drivers of this stack; kernel.judge expects a ClusterPolicy that says so.
_BY_OBJECTS: t.Final[KubeObject] = {"spec": {"driver": {"useNvidiaDriverCRD": True}}}


def judge_node(
    node: KubeObject, pool: StackPool, snapshot: Snapshot, is_driven: bool
) -> list[Readiness | None]:
    """Return one entry per check, causes first; None for a check that found nothing.

    is_driven: there is a finding about the node's NVIDIADriver already.
    """
    upgrade = judge_upgrade(node, snapshot)
    daemonsets = operands.selecting(node, snapshot["daemonsets"])
    return [
        judge_alive(node),
        _judge_labels(node),
        judge_taints(node, daemonsets, "GPU-TAINT", stages.DRIVER),
        kernel.judge(node, _BY_OBJECTS, snapshot),
        *_judge_operands(node, snapshot, is_driven),
        upgrade if upgrade and upgrade.is_failed else None,
        judge_paused(node, snapshot, upgrade),
        _judge_devices(node, pool, snapshot),
    ]


def operands_of(
    node: KubeObject, snapshot: Snapshot, revisions: t.Mapping[str, str] | None = None
) -> list[operands.Operand]:
    """Return the operands of the stack that select the node, causes first."""
    found = operands.on_node(node, snapshot, revisions)
    return sorted(
        found, key=lambda one: _ORDER.index(one.component) if one.component in _ORDER else len(_ORDER)
    )


def _judge_labels(node: KubeObject) -> Finding | None:
    marks = labels(node)
    if not has_nvidia_pci(marks):
        text = about_node("GPU-NFD-EMPTY", node=name(node))
        return on_node(PENDING, node, "Label", *text, stage=stages.LABELS)
    if marks.get(operands.MODE, "dra") != "dra":
        label = f"{operands.MODE} is {marks[operands.MODE]}"
        text = about_node("GPU-MODE", node=name(node), label=label)
        return on_node(PENDING, node, "Mode", *text, stage=stages.LABELS)
    return judge_opt_out(node, COMPONENTS)


def lacking(node: KubeObject, found: t.Iterable[operands.Operand]) -> list[str]:
    """Return components that the node should have but no DaemonSet brings."""
    marks, served = labels(node), {one.component for one in found}
    called = [one for one in _ORDER if marks.get(operands.DEPLOY + one) == "true"]
    if marks.get(operands.DEPLOY + COMPONENTS[0]) != "false":
        called.append(COMPONENTS[0])
    return [one for one in dict.fromkeys(called) if one not in served]


def _judge_operands(node: KubeObject, snapshot: Snapshot, is_driven: bool) -> list[Finding]:
    pods, found = {name(pod): pod for pod in snapshot["pods"]}, operands_of(node, snapshot)
    absent = [one for one in lacking(node, found) if one != "driver" or not is_driven]
    findings = judge_pods(node, [(one, pods.get(one.pod)) for one in found if not one.ready], absent)
    for one in absent:
        text = about_node("GPU-OPERAND-LACKING", node=name(node), components=one)
        stage = operands.stage_of(one)
        findings.append(on_node(PENDING, node, f"Lacking:{one}", *text, stage=stage, waits=True))
    return findings


def _judge_devices(node: KubeObject, pool: StackPool, snapshot: Snapshot) -> Finding | None:
    offer = dra.offer(name(node), snapshot["slices"])
    offered, wanted = dra.resources(offer.devices), devices.expected(node, pool.get("expected") or {})
    there = [(offered.get(one, 0), number, one) for one, number in wanted.items()]
    wrong = [f"{now} of {number} {one}" for now, number, one in there if now != number]
    if offer.complete and offered and not wrong:
        return None
    what = f"its ResourceSlices offer {', '.join(wrong) or 'no device'}"
    if not offer.complete:
        what = "its ResourceSlices are incomplete"
    pod = next((name(one) for one in snapshot["pods"] if name(one).startswith(PLUGIN)), "")
    log = f" The driver's log: `oc logs -n {operands.NAMESPACE} {pod} --all-containers`." if pod else ""
    text = about_node("GPU-DRA-SLICES", node=name(node), wrong_slices=what, also=log)
    return on_node(PENDING, node, "Slices", *text, stage=stages.ALLOCATABLE, waits=True)
