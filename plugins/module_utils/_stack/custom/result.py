# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""Result of an object that only speaks for itself: its own stage, then the stages of the nodes."""

from __future__ import annotations

import typing as t
from dataclasses import replace

from ..._core.objects import KubeObject
from ..._core.readiness import FAILED, Readiness
from ..._nodes import pool_nodes
from .. import stages, table
from ..params import StackPool
from ..stages import Finding, as_finding

NODES: t.Final = "nodes"
CHAIN: t.Final = stages.chain({NODES: (), stages.ALLOCATABLE: (stages.CRD, NODES)})


def summarize(
    live: KubeObject | None,
    own: Readiness,
    nodes: t.Sequence[KubeObject],
    pools: t.Sequence[StackPool],
    failed: str = "",
) -> dict[str, t.Any]:
    """Return pools, stages and lines. own: what the object says. failed: the code that lasted too long."""
    findings = [_finding(own, stages.CRD)] if not own.is_ready else []
    for pool in pools:
        findings.append(_finding(pool_nodes.judge_size(nodes, pool), NODES, pool["name"]))
        for node in pool_nodes.nodes_of(nodes, pool):
            found = pool_nodes.judge_devices([node], pool)
            findings += [
                _finding(
                    one,
                    stages.ALLOCATABLE if one.code == "GPU-ALLOC" else NODES,
                    pool["name"],
                    str(node["metadata"]["name"]),
                )
                for one in found
            ]
    findings = [replace(one, verdict=FAILED) if failed and one.code == failed else one for one in findings]
    return table.summarize(CHAIN, {"nodes": nodes}, live or {}, pools, findings)


def _finding(one: Readiness, stage: str, pool: str = "", node: str = "") -> Finding:
    return as_finding(one, stage, pool, node, waits=stage == stages.ALLOCATABLE)
