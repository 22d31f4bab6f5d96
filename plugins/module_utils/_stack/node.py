# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Judge nodes for several stacks: is one Ready, paused, opted out, tainted?

Operands that are late on nodes outside the pools can keep the custom resource from being ready.
"""

from __future__ import annotations

import typing as t
from dataclasses import replace

from .._catalogue.well_known import MIG_STATE
from .._core import conditions
from .._core.objects import KubeObject, Snapshot, name
from .._core.readiness import PENDING, READY, about_node
from .._nodes.labels import labels
from .._nodes.node import is_ready
from .._nodes.pool_nodes import names_of
from .._nodes.taints import untolerated
from . import operands, stages
from .params import StackPool
from .stages import CRD, Finding, on_node, on_object

# The managers of driver and MIG write this into labels that select other operands.
PAUSED: t.Final = "paused-"


def judge_alive(node: KubeObject) -> Finding | None:
    if is_ready(node):
        return None
    more = {"stage": stages.LABELS, "since": conditions.since(node, "Ready")}
    return on_node(PENDING, node, "NotReady", *about_node("GPU-NODE-NOT-READY", node=name(node)), **more)


def judge_paused(node: KubeObject, snapshot: Snapshot, upgrade: Finding | None) -> Finding | None:
    """Return a finding if operands are still paused although the driver runs again.

    No DaemonSet wants a paused operand, so the operator calls it ready. upgrade: from upgrade.judge_upgrade.
    """
    marks = labels(node)
    paused = [
        key.removeprefix(operands.DEPLOY)
        for key, value in sorted(marks.items())
        if key.startswith(operands.DEPLOY) and value.startswith(PAUSED)
    ]
    if not paused or upgrade is not None or marks.get(MIG_STATE) in ("pending", "rebooting"):
        return None
    if not any(one.component == "driver" and one.ready for one in operands.on_node(node, snapshot, {})):
        return None
    label = f"{operands.DEPLOY}{paused[0]}={marks[operands.DEPLOY + paused[0]]}"
    wanted = " ".join(f"{operands.DEPLOY}{one}=true" for one in paused)
    text = about_node("GPU-PAUSED", node=name(node), label=label, operands=", ".join(paused), labels=wanted)
    return on_node(PENDING, node, "Paused", *text, stage=operands.stage_of(paused[0]))


def judge_opt_out(node: KubeObject, components: t.Iterable[str]) -> Finding | None:
    off = [one for one in components if labels(node).get(operands.DEPLOY + one) == "false"]
    if not off:
        return None
    text = about_node(
        "GPU-OPTED-OUT",
        node=name(node),
        label=f"{operands.DEPLOY}{off[0]}",
        operands=" and ".join(off),
        labels=" ".join(f"{operands.DEPLOY}{one}-" for one in off),
    )
    return on_node(PENDING, node, "OptedOut", *text, stage=operands.stage_of(off[0]))


def about_taints(code: str, node: KubeObject, taints: t.Sequence[str], who: str) -> tuple[str, str, str]:
    """Return what is wrong, the code and the remedy. taints: those that keep the pods of `who` away."""
    away = [f"{one.partition('=')[0].partition(':')[0]}:{one.rpartition(':')[2]}-" for one in taints]
    return about_node(code, node=name(node), taints=", ".join(taints), who=who, away=" ".join(away))


def judge_taints(
    node: KubeObject, daemonsets: t.Iterable[KubeObject], code: str, stage: str
) -> Finding | None:
    """Return a finding if a taint keeps pods of these DaemonSets away; their status does not show that."""
    blocked = {taint for one in daemonsets for taint in untolerated(node, operands.tolerations(one))}
    if not blocked:
        return None
    text = about_taints(code, node, sorted(blocked), "the operator's pods")
    return on_node(PENDING, node, "Taint", *text, stage=stage)


# Node -> component that is not Ready there -> what is wrong.
Late = t.Mapping[str, t.Mapping[str, str]]


def late_outside(
    snapshot: Snapshot, pools: t.Sequence[StackPool], daemonsets: t.Sequence[KubeObject] | None = None
) -> dict[str, dict[str, str]]:
    """Return nodes outside the pools with their operands that are not Ready; empty without pools.

    daemonsets: of the stack; the default is those of the GPU operator.
    """
    if not pools:
        return {}
    ours = names_of(snapshot["nodes"], pools)
    revisions = operands.current_revisions(snapshot["revisions"])
    if daemonsets is None:
        daemonsets = [one for one in snapshot["daemonsets"] if operands.is_operand(one)]
    found: dict[str, dict[str, str]] = {}
    for node, pods in operands.by_node(snapshot["pods"]).items():
        if node in ours or not node:
            continue
        here = [operands.of_daemonset(one, pods, revisions) for one in daemonsets]
        if notes := {one.component: one.note for one in here if one.pod and not one.ready}:
            found[node] = notes
    return found


def _outside_phrases(late: Late) -> str:
    """Return the nodes as part of a sentence, each with the first operand that is not Ready."""
    return "; ".join(
        f"{node} ({next(iter(notes))} {next(iter(notes.values()))})" for node, notes in sorted(late.items())
    )


def outside_as_result(late: Late) -> list[dict[str, t.Any]]:
    return [
        {"name": node, "operands": [{"name": one, "note": note} for one, note in notes.items()]}
        for node, notes in sorted(late.items())
    ]


def ready_but_outside(late: Late, object_name: str) -> Finding:
    """Return the finding that only nodes outside the pools keep the custom resource from being ready."""
    what = f"{object_name} is notReady for nodes outside the pools alone: {_outside_phrases(late)}."
    return on_object(READY, "OthersNotReady", what)


def with_status(
    findings: t.Sequence[Finding], status: Finding, late: Late, object_name: str
) -> list[Finding]:
    """Return the findings, with the status of the custom resource last.

    If only nodes outside the pools keep it from being ready, its status counts as ready. If nothing explains
    the status, it no longer counts as a consequence.
    """
    said = [one for one in [*findings, status] if one.stage == CRD and one.waits]
    if not said or not all(one.is_ready or one in said for one in findings):
        return [*findings, status]
    if not late:
        return [replace(one, waits=False) if one in said else one for one in [*findings, status]]
    return [*(one for one in findings if one not in said), ready_but_outside(late, object_name)]
