# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Pools of existing nodes, their geometries, and what a node offers."""

from __future__ import annotations

import typing as t

from cluster import Cluster, must_get
from integration.playbook import Playbook, Run
from integration.troubles.demo import PATIENT

Data = dict[str, t.Any]
POOL: t.Final = "accelerators.openshift/pool"
HALVES: t.Final[Data] = {"mig": {"profile": "3g.20gb", "strategy": "mixed"}}


def pool(name: str, label: str, gpus: int, sharing: Data | None = None) -> Data:
    """Return a pool of the nodes with this label of the pool. gpus: of each node."""
    chosen = {"node_selector": {POOL: label}, "expected": {"nvidia.com/gpu": gpus}}
    return {"name": name, "existing": chosen, **({"sharing": sharing} if sharing else {})}


def play(playbook: Playbook, name: str, given: list[Data], **more: t.Any) -> Run:
    return playbook.playbook(name, gpu_pools=given, **PATIENT | more)


def node(cluster: Cluster, name: str) -> Data:
    found: Data = must_get(cluster.client, "v1", "nodes", name)
    return found


def offers(cluster: Cluster, name: str) -> dict[str, str]:
    """Return what a node offers, without resources of the number 0."""
    found = node(cluster, name)["status"]["allocatable"]
    return {key: number for key, number in found.items() if key.startswith("nvidia.com/") and number != "0"}
