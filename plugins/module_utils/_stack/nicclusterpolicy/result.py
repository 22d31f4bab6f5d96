# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""The result of the network adapters' stack: its components, nodes and stages, and which pools are ready."""

from __future__ import annotations

import typing as t

from ..._core.objects import KubeObject, Snapshot, named
from ..._nodes import devices
from ..._nodes.labels import labels
from ..._nodes.pool_nodes import nodes_of
from .. import operands, stages, table
from ..node import late_outside, outside_as_result
from ..params import StackPool
from ..stages import Finding, Stage
from . import manifest
from .judge import CHAIN, judge, own_daemonsets
from .manifest import NAME
from .node import PRESENT, SECONDARY, WAITS, here, key_of, stage_of


def summarize(
    snapshot: Snapshot,
    pools: t.Sequence[StackPool],
    offered: t.Sequence[str],
    findings: t.Sequence[Finding] | None = None,
) -> dict[str, t.Any]:
    """Return the module's result. findings: from the judge of a wait; without them this judges the snapshot.

    offered: names of the resources that the plugins offer.
    """
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
        "components": manifest.components(policy),
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
