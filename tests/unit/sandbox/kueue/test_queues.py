# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Kueue's stand-in: it admits Jobs, holds them back, and requeues them when their queue is drained."""

from __future__ import annotations

import typing as t
from pathlib import Path

import pytest
from unit.sandbox.fake_api import World
from unit.sandbox.gpu_operator.builders import make

from openshift_sandbox.catalogue import crds
from openshift_sandbox.stand_ins.kueue.queues import QUEUE, VERSION, Queues

Object = dict[str, t.Any]


@pytest.fixture
def world(tmp_path: Path) -> World:
    """Return a cluster with a queue, its LocalQueue and a suspended Job."""
    made = make(Queues(), directory=tmp_path, cluster={"kueue": True})
    for crd in crds.kueue_crds():
        made.api.create(crd | {"status": {"conditions": [{"type": "Established", "status": "True"}]}})
    flavor = {"name": "a100", "resources": [{"name": "nvidia.com/gpu", "nominalQuota": 8}]}
    group = {"coveredResources": ["nvidia.com/gpu"], "flavors": [flavor]}
    queues: list[tuple[str, Object, Object]] = [
        ("ClusterQueue", {"name": "gpus"}, {"stopPolicy": "None", "resourceGroups": [group]}),
        ("LocalQueue", {"name": "mine", "namespace": "team"}, {"clusterQueue": "gpus"}),
    ]
    for kind, metadata, spec in queues:
        made.api.create({"apiVersion": VERSION, "kind": kind, "metadata": metadata, "spec": spec})
    labelled = {"name": "train", "namespace": "team", "labels": {QUEUE: "mine"}}
    made.api.create(
        {"apiVersion": "batch/v1", "kind": "Job", "metadata": labelled, "spec": {"suspend": True}}
    )
    made.settle(2)
    return made


def stop(world: World, policy: str) -> None:
    world.api.patch(VERSION, "clusterqueues", "gpus", None, {"spec": {"stopPolicy": policy}})
    world.settle(2)


def seen(world: World) -> tuple[bool, bool]:
    """Return whether the Workload is admitted, and whether its Job is suspended."""
    status = world.api.get("Workload", "job-train", "team").get("status", {})
    return bool(status.get("admission")), world.api.get("Job", "train", "team")["spec"]["suspend"]


def test_a_job_is_admitted_with_the_first_flavor(world: World) -> None:
    assert seen(world) == (True, False)
    admission = world.api.get("Workload", "job-train", "team")["status"]["admission"]
    assert admission["clusterQueue"] == "gpus"
    assert admission["podSetAssignments"][0]["flavors"] == {"nvidia.com/gpu": "a100"}


def test_hold_keeps_what_is_admitted(world: World) -> None:
    stop(world, "Hold")
    assert seen(world) == (True, False)


def test_a_drained_queue_requeues_and_admits_again(world: World) -> None:
    stop(world, "HoldAndDrain")
    assert seen(world) == (False, True)
    stop(world, "Hold")
    assert seen(world) == (False, True)
    stop(world, "None")
    assert seen(world) == (True, False)
