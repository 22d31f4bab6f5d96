# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""The nodes of a pool, whatever brings their driver: which they are, whether they are enough, and what they offer."""

from __future__ import annotations

import typing as t

from ansible_collections.accelerators.openshift.plugins.module_utils import _geometry_live as geometry
from ansible_collections.accelerators.openshift.plugins.module_utils._errors import InputError
from ansible_collections.accelerators.openshift.plugins.module_utils._operands import matches
from ansible_collections.accelerators.openshift.plugins.module_utils._readiness import Readiness, pending, ready

Data = dict[str, t.Any]


def check_pools(pools: t.Sequence[Data]) -> None:
    """The pools of gpu_plan carry more than is needed here; what is needed has to be there."""
    for index, pool in enumerate(pools):
        for key in ("name", "node_selector"):
            if not pool.get(key):
                raise InputError("INPUT-REQUIRED", f"pools[{index}].{key} is missing.", "Give each pool a name and a node_selector.")
        if not isinstance(pool["node_selector"], dict) or not isinstance(pool.get("expected") or {}, dict):
            raise InputError("INPUT-TYPE", f"pools[{index}].node_selector and .expected are maps.", "Write {label: value} and {resource: number}.")


def nodes_of(nodes: t.Iterable[Data], pool: Data) -> list[Data]:
    found = [node for node in nodes if matches(pool["node_selector"], geometry.labels(node))]
    return sorted(found, key=lambda node: str(node["metadata"]["name"]))


def judge_size(nodes: t.Iterable[Data], pool: Data) -> Readiness:
    found, wanted = len(nodes_of(nodes, pool)), int(pool.get("min_nodes", pool.get("min_replicas", pool.get("replicas", 1))))
    if found >= wanted:
        return ready()
    selector = ",".join(f"{key}={value}" for key, value in pool["node_selector"].items())
    return pending(
        "NodesMissing",
        f"Pool {pool['name']} has {found} of {wanted} nodes.",
        code="GPU-NODES",
        remedy=f"Look at `oc get nodes -l {selector}` and at the pool's Machines.",
        details=(f"pool {pool['name']}: {found} of {wanted} nodes match {selector}",),
    )
