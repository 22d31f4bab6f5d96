# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Twelve steps of gpu_repartition: create, again, modify, again, delete, again; six of them both ways."""

from __future__ import annotations

import typing as t

import pytest
from cluster import Cluster
from integration.patience import until
from integration.sharing.mig_pool import HALVES, POOL, SEVENTHS, node, offers
from integration.twelve_steps import Case, Walks, task

SCENARIO: t.Final = "gpu-nodes"
pytestmark = [
    pytest.mark.long("the GPUs are cut six times: the unit tests of gpu_repartition hold each of its steps"),
    pytest.mark.story("both ways change the GPUs of one node, and give it whole GPUs at the end"),
]
Data = dict[str, t.Any]
NODE: t.Final = "a100-0"
TRAIN: t.Final[Data] = {"name": "it-train", "node_selector": {POOL: "training"}}


def configured(sharing: Data) -> Data:
    """Return the task that writes the configuration of a geometry. No node has the label of its pool."""
    pool = {"name": TRAIN["name"], "node_selector": {"it": "nowhere"}, "sharing": sharing}
    return task("gpu_sharing", pools=[pool], on_change="keep", only_add=True, wait=False)


STACK: t.Final = task(
    "special_resource",
    pools=[TRAIN | {"expected": {"nvidia.com/gpu": 8}}],
    mig={"strategy": "mixed"},
    mig_manager={"config": {"name": "gpu-mig", "default": ""}},
)
CASE: t.Final = Case(
    "gpu_repartition",
    before=[
        task("olm_operator", name="nfd", namespace="openshift-nfd"),
        task("nfd_labels"),
        task("olm_operator", name="gpu-operator-certified", namespace="nvidia-gpu-operator"),
        configured(HALVES),
        configured(SEVENTHS),
        STACK,
    ],
    create={"pools": [TRAIN | {"sharing": HALVES, "expected": {"nvidia.com/mig-3g.20gb": 16}}]},
    modify={"pools": [TRAIN | {"sharing": SEVENTHS, "expected": {"nvidia.com/mig-1g.5gb": 56}}]},
    delete={"pools": [TRAIN], "state": "absent"},
    varies=frozenset({"diff", "foreseen"}),  # they name the run that cordons the node
)


@pytest.mark.parametrize("in_process", [True, False])
def test_twelve_steps(cluster: Cluster, walks: Walks, in_process: bool) -> None:
    walks.check(CASE, in_process)
    until(lambda: offers(cluster, NODE) == {"nvidia.com/gpu": "8"}, "whole GPUs at the end")
    live = node(cluster, NODE)
    assert not live["spec"].get("unschedulable")
    assert "nvidia.com/mig.config" not in live["metadata"]["labels"]


def test_both_ways_return_the_same(walks: Walks) -> None:
    walks.compare(CASE)
