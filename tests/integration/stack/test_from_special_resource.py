# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""From a SpecialResource with the GPU driver to a ClusterPolicy: killed in the middle, then resumed."""

from __future__ import annotations

import typing as t
from pathlib import Path

import pytest
from cluster import Cluster, must_get
from integration.killed import kill
from integration.patience import until
from integration.playbook import Playbook
from integration.wire import Audit

Data = dict[str, t.Any]
SCENARIO: t.Final = "sro-left-over"
pytestmark = pytest.mark.long("the Special Resource Operator, which is only left over on old clusters")
OPERATORS: t.Final = {"nfd": "openshift-nfd", "gpu-operator-certified": "nvidia-gpu-operator"}

SPACE: t.Final = "nvidia-sro"
NAME: t.Final = "nvidia-gpu-driver-container"
SETS: t.Final = ("apps/v1", "daemonsets")
SPECIALS: t.Final = ("sro.openshift.io/v1beta1", "specialresources")
POLICIES: t.Final = ("nvidia.com/v1", "clusterpolicies")
POOL: t.Final = "accelerators.openshift/pool"
POOLS: t.Final[list[Data]] = [
    {
        "name": "inference",
        "node_selector": {POOL: "inference"},
        "expected": {"nvidia.com/gpu": 1},
        "min_nodes": 2,
    },
    {"name": "training", "node_selector": {POOL: "training"}, "expected": {"nvidia.com/gpu": 8}},
]


def migration(**more: t.Any) -> Data:
    return {
        "backend": "sro",
        "name": "nvidia-gpu",
        "sro": {"migrate_to": "clusterpolicy", **more},
        "pools": POOLS,
        "grace": 5,
        "wait_timeout": 120,
    }


def test_what_runs_is_reported_and_stays(cluster: Cluster, playbook: Playbook, audit: Audit) -> None:
    seen = playbook.module("special_resource", backend="sro", name="nvidia-gpu", wait_timeout=60)
    assert (seen["special_resource"]["state"], seen.changed) == ("ready", False), seen.result
    runs = seen["special_resource"]["runs"]
    assert (runs["chart"], [one["name"] for one in runs["daemonsets"]]) == (
        "nvidia-gpu 0.0.1",
        [f"{SPACE}/{NAME}"],
    )
    asked = playbook.module("special_resource", **migration())
    assert (asked["special_resource"]["reason"], asked.changed, audit.writes(asked)) == (
        "RemovalNotAsked",
        False,
        [],
    )
    planned = playbook.module("special_resource", check=True, **migration(remove=True))
    assert (planned.changed, audit.writes(planned)) == (True, [])
    assert cluster.client.get(*SPECIALS, "nvidia-gpu")


def check_the_new_stack(found: Data) -> None:
    """Check that every step of the migration is done, and that every node has its GPUs."""
    assert (found["backend"], found["state"], [one["done"] for one in found["steps"]]) == (
        "clusterpolicy",
        "ready",
        [True] * 4,
    )
    assert [(one["pool"], one["allocatable"]["nvidia.com/gpu"]) for one in found["nodes"]] == [
        ("inference", 1),
        ("inference", 1),
        ("training", 8),
    ]
    assert {one["verdict"] for one in found["stages"]} == {"ready"}


def test_killed_after_the_removal_and_gone_on_with(
    cluster: Cluster, playbook: Playbook, audit: Audit, tmp_path: Path
) -> None:
    """Hold the DaemonSet with a finalizer, so that the kill comes while the run waits for the old driver."""
    client = cluster.client
    client.patch(*SETS, NAME, SPACE, {"metadata": {"finalizers": ["example.com/kept"]}})

    def leaves() -> bool:
        return (
            not client.get(*SPECIALS, "nvidia-gpu")
            and "deletionTimestamp" in must_get(client, *SETS, NAME, SPACE)["metadata"]
        )

    kill(playbook, tmp_path, leaves, "special_resource", **migration(remove=True))
    assert client.list(*POLICIES) == []
    held = playbook.module("special_resource", **migration(remove=True) | {"wait_timeout": 4})
    assert (held["code"], f"daemonset/{NAME}" in held["msg"], client.list(*POLICIES)) == (
        "GPU-LEFTOVER",
        True,
        [],
    )
    client.patch(*SETS, NAME, SPACE, {"metadata": {"finalizers": None}})
    until(lambda: not client.get(*SETS, NAME, SPACE), "the old DaemonSet is gone")

    moved = playbook.module("special_resource", **migration(remove=True))
    assert not moved.failed, moved.result
    check_the_new_stack(moved["special_resource"])
    assert [one["metadata"]["name"] for one in client.list(*POLICIES)] == ["gpu-cluster-policy"]
    assert client.list("v1", "pods", SPACE) == []
    again = playbook.module("special_resource", **migration(remove=True))
    assert (again.failed, again.changed, audit.writes(again)) == (False, False, [])
