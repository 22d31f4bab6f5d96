# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Two teams have a file of pools each: the removal of one keeps everything that the other one needs."""

from __future__ import annotations

import typing as t

import pytest
from integration.scenarios.place import Data, Place

SCENARIO: t.Final = "two-pool-files"
pytestmark = [
    pytest.mark.long("the whole chain twice: matrix/test_matrix.py has the cell in every run"),
    pytest.mark.story("two teams come, and go one after the other"),
]
INFERENCE, TRAINING = "two-files/inference.yml", "two-files/training.yml"
POLICIES: t.Final = ("nvidia.com/v1", "clusterpolicies")
SETS: t.Final = ("machine.openshift.io/v1beta1", "machinesets", "openshift-machine-api")


def offered(place: Place, pool: str) -> list[str]:
    """Return the GPUs that each node of a pool offers."""
    nodes = place.client.list("v1", "nodes", labels=f"accelerators.openshift/pool={pool}")
    return [str(one["status"]["allocatable"].get("nvidia.com/gpu")) for one in nodes]


def pods(place: Place) -> set[str]:
    """Return the uids of the driver pods, which are others once a driver was replaced."""
    found = place.client.list("v1", "pods", "nvidia-gpu-operator")
    return {one["metadata"]["uid"] for one in found if "driver" in one["metadata"]["name"]}


def quotas(place: Place) -> set[str]:
    found: list[Data] = place.client.list("v1", "resourcequotas")
    return {one["metadata"]["namespace"] for one in found}


def test_the_second_file_adds_to_the_first(place: Place) -> None:
    place.done("enable_gpus", file=INFERENCE)
    place.done("enable_gpus", file=TRAINING, gpu_on_busy="drain")
    assert (offered(place, "inference"), offered(place, "training")) == (["1"], ["4"])
    (policy,) = place.client.list(*POLICIES)
    tolerated = {one.get("value") for one in policy["spec"]["daemonsets"]["tolerations"]}
    assert {"inference", "training"} <= tolerated or None in tolerated


def test_the_removal_of_one_file_keeps_what_the_other_needs(place: Place) -> None:
    before = pods(place)
    run = place.done("remove_gpus", file=INFERENCE)
    stack, nfd = next(one["msg"] for one in run.tasks if one.name == "Show what stays and who needs it")
    needed = "stays. It is needed by pool training (MachineSet demo-x7k2p-training-us-east-2b)"
    assert stack.startswith(f"The GPU operator with its stack {needed}")
    assert nfd.startswith(f"Node Feature Discovery {needed}")
    assert offered(place, "inference") == []
    assert offered(place, "training") == ["4"]
    assert pods(place) < before
    assert quotas(place) & {"team-inference", "team-training"} == {"team-training"}
    # Both files share the namespace of the validation, which remembers the nodes of the pool that stays.
    again = place.done("enable_gpus", file=TRAINING)
    assert (again.changed, place.writes(again)) == (0, [])


def test_the_removal_of_the_last_file_takes_everything(place: Place) -> None:
    place.done("remove_gpus", file=TRAINING)
    assert offered(place, "training") == []
    assert place.client.list("operators.coreos.com/v1alpha1", "subscriptions") == []
    assert place.client.list(*SETS, labels="accelerators.openshift/pool") == []
    assert place.client.get("v1", "namespaces", "gpu-validation") is None
