# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Kueue's stand-in: which queues are active, and why others are not."""

from __future__ import annotations

import typing as t
from pathlib import Path

import pytest
from unit.sandbox.fake_api import World
from unit.sandbox.gpu_operator.builders import make

from openshift_sandbox.catalogue import crds
from openshift_sandbox.stand_ins.kueue import active, operator
from openshift_sandbox.stand_ins.kueue.active import ActiveQueues
from openshift_sandbox.stand_ins.kueue.queues import VERSION

Object = dict[str, t.Any]


@pytest.fixture
def world(tmp_path: Path) -> World:
    return with_queues(tmp_path)


def with_queues(folder: Path, **scenario: t.Any) -> World:
    """Return a cluster with a queue whose flavor is missing, and its LocalQueue."""
    made = make(ActiveQueues(), directory=folder, **{"cluster": {"kueue": True}, **scenario})
    for crd in crds.kueue_crds():
        made.api.create(crd | {"status": {"conditions": [{"type": "Established", "status": "True"}]}})
    group = {"coveredResources": ["nvidia.com/gpu"], "flavors": [{"name": "a100"}]}
    add(made, "ClusterQueue", {"name": "gpus"}, {"resourceGroups": [group]})
    add(made, "LocalQueue", {"name": "mine", "namespace": "team"}, {"clusterQueue": "gpus"})
    made.settle(2)
    return made


def add(world: World, kind: str, metadata: Object, spec: Object) -> None:
    world.api.create({"apiVersion": VERSION, "kind": kind, "metadata": metadata, "spec": spec})


def seen(world: World) -> list[tuple[str, str]]:
    """Return status and reason of both queues."""
    found = [world.api.get("ClusterQueue", "gpus"), world.api.get("LocalQueue", "mine", "team")]
    return [
        (one["status"]["conditions"][0]["status"], one["status"]["conditions"][0]["reason"]) for one in found
    ]


def test_a_queue_is_active_when_its_flavors_exist(world: World) -> None:
    assert seen(world) == [("False", "FlavorNotFound"), ("False", "ClusterQueueIsInactive")]
    add(world, "ResourceFlavor", {"name": "a100"}, {})
    world.settle(2)
    assert seen(world) == [("True", "Ready"), ("True", "Ready")]


def test_a_stopped_queue_is_not_active(world: World) -> None:
    add(world, "ResourceFlavor", {"name": "a100"}, {})
    world.api.patch(VERSION, "clusterqueues", "gpus", None, {"spec": {"stopPolicy": "Hold"}})
    world.settle(2)
    assert seen(world) == [("False", "Stopped"), ("False", "ClusterQueueIsInactive")]


def test_the_real_kueue_is_left_alone(tmp_path: Path) -> None:
    world = with_queues(tmp_path, cluster={"kueue": "real"})
    assert "status" not in world.api.get("ClusterQueue", "gpus")


def test_kueue_works_while_its_operator_has_it_available(tmp_path: Path) -> None:
    world = with_queues(tmp_path, cluster={})
    assert "status" not in world.api.get("ClusterQueue", "gpus")
    world.api.create({"apiVersion": operator.API_VERSION, "kind": "Kueue", "metadata": {"name": "cluster"}})
    world.settle(2)
    assert "status" not in world.api.get("ClusterQueue", "gpus")
    available = {"status": {"conditions": [{"type": "Available", "status": "True"}]}}
    world.api.patch(operator.API_VERSION, "kueues", "cluster", None, available, "status")
    world.settle(2)
    assert seen(world) == [("False", "FlavorNotFound"), ("False", "ClusterQueueIsInactive")]


def test_the_words_are_kueues() -> None:
    queue = {"spec": {"stopPolicy": "Hold", "resourceGroups": [{"flavors": [{"name": "a"}, {"name": "b"}]}]}}
    text = "Can't admit new workloads: is stopped, references missing ResourceFlavor(s): a,b."
    assert active.cluster_queue(queue, set())["message"] == text
    assert active.local_queue(None)["reason"] == "ClusterQueueDoesNotExist"
