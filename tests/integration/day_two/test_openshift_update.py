# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""GPU nodes wait while OpenShift is updated, and follow with drivers for their new kernel."""

from __future__ import annotations

import json
import typing as t
from pathlib import Path

import pytest
from cluster import must_get
from integration.patience import until
from integration.scenarios.place import Data, Place

from openshift_sandbox import faults

SCENARIO: t.Final = "before-update"
pytestmark = [
    pytest.mark.long("an update of all nodes: the unit tests of _update have an operator in memory"),
    pytest.mark.story("nodes are held back, the others are updated, they follow"),
]
GROUP: t.Final = "machineconfiguration.openshift.io/v1"
OLD, NEW = "5.14.0-570.12.1.el9_6.x86_64", "5.14.0-611.5.1.el9_7.x86_64"
SELECTOR: t.Final = {"node.kubernetes.io/instance-type": "g4dn.xlarge"}
POOLS: t.Final = [{"name": "own", "existing": {"node_selector": SELECTOR, "expected": {"nvidia.com/gpu": 1}}}]


def kernels(place: Place, gpus: bool) -> set[str]:
    """Return the kernels of the workers with GPUs, or of the others."""
    nodes = place.client.list("v1", "nodes", labels="node-role.kubernetes.io/worker")
    return {
        str(one["status"]["nodeInfo"]["kernelVersion"])
        for one in nodes
        if ("accelerators.openshift/pool" in one["metadata"]["labels"]) is gpus
    }


def gpu_pool(place: Place) -> Data:
    return must_get(place.client, GROUP, "machineconfigpools", "gpu")


def counted(place: Place) -> int:
    """Return how many nodes the operator counts in the pool of the GPU nodes, 0 before it exists."""
    found = place.client.get(GROUP, "machineconfigpools", "gpu") or {}
    return int((found.get("status") or {}).get("machineCount") or 0)


def test_a_go_pauses_the_pool_of_the_gpu_nodes(place: Place, tmp_path: Path) -> None:
    faults.add(place.cluster.needs_sandbox(), "foreign_pool", {"name": "gpu"})
    until(lambda: counted(place) == 2, "the pool of the GPU nodes")
    answer = tmp_path / "answer.json"
    variables = {"gpu_update_version": "4.22.9", "gpu_update_file": str(answer)}
    run = place.done("before_openshift_update", **variables)
    assert place.writes(run) == []
    run = place.done("before_openshift_update", gpu_update_pools="last", **variables)
    assert place.writes(run) == ["patch machineconfigpools.machineconfiguration.openshift.io /gpu"]
    assert gpu_pool(place)["spec"]["paused"] is True
    assert json.loads(answer.read_text())["go"] is True
    again = place.done("before_openshift_update", "--check", gpu_update_version="4.22.9")
    assert place.writes(again) == []


def test_a_no_go_pauses_nothing(place: Place) -> None:
    run = place.run("before_openshift_update", gpu_update_version="4.22.8", gpu_update_pools="pause")
    assert (run.rc != 0, place.writes(run)) == (True, [])
    said = next(one["msg"] for one in run.tasks if one.name == "Show go or no-go")
    assert said.startswith("no-go for 4.22.8")
    wanted = {"gpu_update_version": "4.22.8", "gpu_update_pools": "pause", "gpu_update_fail_on": "never"}
    run = place.run("before_openshift_update", **wanted)
    assert (run.rc, place.writes(run)) == (0, []), run.output[-4000:]
    said = next(one["msg"] for one in run.tasks if one.name == "Show go or no-go")
    assert said == "no-go for 4.22.8, the checks say blocking"


def test_nothing_is_released_before_the_update_begins(place: Place) -> None:
    early = place.demo.module("update_pools", state="released")
    assert (early.failed, early.result["code"], place.audit.writes(early)) == (True, "UPDATE-NOT-BEGUN", [])
    assert gpu_pool(place)["spec"]["paused"] is True


def test_the_update_leaves_the_gpu_nodes_out(place: Place) -> None:
    change = {"new_kernel": NEW, "new_ostree_version": "9.8.20260815-0"}
    faults.add(place.cluster.needs_sandbox(), "os_update", change)
    cluster = must_get(place.client, "config.openshift.io/v1", "clusterversions", "version")
    done = {**cluster["status"]["history"][0], "version": "4.22.9"}
    status = {"status": {"history": [done, *cluster["status"]["history"]]}}
    place.client.patch("config.openshift.io/v1", "clusterversions", "version", None, status, "status")
    until(lambda: kernels(place, gpus=False) == {NEW}, "the other workers are updated")
    assert kernels(place, gpus=True) == {OLD}


def test_they_follow_and_the_next_run_writes_nothing(place: Place) -> None:
    done = place.demo.module("update_pools", state="released", wait_timeout=300)
    assert not done.failed, done.result
    assert kernels(place, gpus=True) == {NEW}
    assert [one["order"] for one in done.result["pools"]] == ["last"]
    assert "annotations" not in gpu_pool(place)["metadata"] or not gpu_pool(place)["metadata"]["annotations"]
    again = place.demo.module("update_pools", state="released")
    assert (again.changed, place.audit.writes(again)) == (False, [])


def test_their_drivers_fit_and_they_are_validated(place: Place) -> None:
    slow = {"gpu_operator_grace": 120, "node_feature_discovery_grace": 120, "gpu_operator_wait_timeout": 300}
    run = place.done("after_openshift_update", gpu_pools=POOLS, **slow)
    shown = next(one["msg"] for one in run.tasks if one.name == "Show the kernel of each GPU node")
    assert sorted(shown) == [f"gpu-0  {NEW}", f"gpu-1  {NEW}"]
    again = place.done("after_openshift_update", gpu_pools=POOLS, **slow)
    assert (again.changed, place.writes(again)) == (0, [])
