# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Argo CD has the GPU operator and its ClusterPolicy: a run adds what is missing and leaves these alone."""

from __future__ import annotations

import typing as t

import pytest
from integration.patience import until
from integration.scenarios.place import Data, Place, existing, warnings
from integration.troubles.demo import policies

SCENARIO: t.Final = "foreign-policy"
pytestmark = [
    pytest.mark.long("the whole chain; matrix/test_matrix.py has a foreign ClusterPolicy beside ours"),
    pytest.mark.story("a team comes to a cluster with another team's GPU operator, and goes"),
]
POOLS: t.Final = existing(inference=1, training=8)
POLICIES: t.Final = ("nvidia.com/v1", "clusterpolicies")


def policy(place: Place) -> Data:
    (found,) = place.client.list(*POLICIES)
    return {"uid": found["metadata"]["uid"], "labels": found["metadata"].get("labels"), "spec": found["spec"]}


def test_the_run_adds_the_labels_and_leaves_the_policy(place: Place) -> None:
    until(lambda: policies(place.cluster), "the ClusterPolicy of the other team")
    before = policy(place)
    run = place.done("enable_gpus", gpu_pools=POOLS)
    assert policy(place) == before
    assert [one for one in place.writes(run) if "nvidia" in one] == []
    told = [one for one in warnings(run) if "was not changed (adopt: report)" in one]
    assert any("Subscription gpu-operator-certified" in one and "Argo CD (gpu-stack)" in one for one in told)
    assert any("ClusterPolicy" in one and "Argo CD (gpu-stack)" in one for one in told)
    shown = next(task for task in run.tasks if task.name == "Show the pools")["msg"]
    rows = [line.split() for line in shown if line.startswith(("inference ", "training "))]
    assert [row[3] for row in rows] == ["1/1/1", "1/1/1", "8/8/8"]
    again = place.done("enable_gpus", gpu_pools=POOLS)
    assert (again.changed, place.writes(again)) == (0, [])


def test_the_removal_keeps_what_the_other_team_needs(place: Place) -> None:
    before = policy(place)
    run = place.done("remove_gpus", gpu_pools=POOLS)
    assert policy(place) == before
    (nfd,) = place.client.list("operators.coreos.com/v1alpha1", "subscriptions", "openshift-nfd")
    assert nfd["spec"]["name"] == "nfd"
    told = str(next(one["msg"] for one in run.tasks if one.name == "Say what stays and who needs it"))
    assert "ClusterPolicy" in told
    nodes = place.client.list("v1", "nodes", labels="accelerators.openshift/pool=training")
    assert [one["status"]["allocatable"].get("nvidia.com/gpu") for one in nodes] == ["8"]
