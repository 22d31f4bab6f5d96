# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""ROSA Classic: its webhook keeps customers from the Machine API, and their GPU nodes come from `rosa`."""

from __future__ import annotations

import typing as t

import pytest
from cluster import must_get
from integration.scenarios.place import Data, Place
from integration.troubles.demo import POOLS, verdict

SCENARIO: t.Final = "rosa-classic"
pytestmark = pytest.mark.long("few users have ROSA Classic, and unit tests hold the message and the command")
EXISTING: t.Final[Data] = {
    "name": "demo",
    "existing": {"node_selector": {"gpu-pool": "demo"}, "expected": {"nvidia.com/gpu": 1}},
    "quota": POOLS[0]["quota"],
}


@pytest.mark.parametrize("name", ["enable_gpus", "plan", "resize_pool"])
def test_a_pool_of_machines_is_refused_with_the_command_that_makes_them(place: Place, name: str) -> None:
    more = {"gpu_pool": "new", "gpu_replicas": 1} if name == "resize_pool" else {}
    run = place.run(name, gpu_pools=[{**POOLS[0], "name": "new"}], **more)
    found = verdict(run, "MACH-NO-API", "machine")
    assert "Red Hat operates it (ROSA Classic)" in found["message"]
    number = more.get("gpu_replicas", 2)
    assert found["remedy"].startswith(
        "Run `rosa create machinepool --cluster CLUSTER_NAME --name new --instance-type g4dn.xlarge "
        f"--replicas {number} --labels gpu-pool=new --taints nvidia.com/gpu=demo:NoSchedule`. Put "
    )
    assert place.writes(run) == []


def test_the_nodes_of_the_machine_pool_are_those_of_the_pool(place: Place) -> None:
    pool = {**POOLS[0], "replicas": 1}
    run = place.done("enable_gpus", gpu_pools=[pool])
    assert [one for one in place.writes(run) if "machine.openshift.io" in one] == []
    again = place.done("enable_gpus", gpu_pools=[pool])
    assert (again.changed, place.writes(again)) == (0, [])


def test_a_node_of_the_machine_pool_is_not_replaced(place: Place) -> None:
    (node,) = place.client.list("v1", "nodes", labels="gpu-pool=demo")
    refused = place.run("replace_node", gpu_node=node["metadata"]["name"])
    assert (refused.failure["code"], place.writes(refused)) == ("NODE-FOREIGN", [])
    now = must_get(place.client, "v1", "nodes", node["metadata"]["name"])
    assert "unschedulable" not in now["spec"]


def test_the_removal_takes_the_stack_and_leaves_the_nodes(place: Place) -> None:
    run = place.done("remove_gpus", gpu_pools=[EXISTING])
    assert [one for one in place.writes(run) if "machine.openshift.io" in one] == []
    assert place.client.get("v1", "namespaces", "nvidia-gpu-operator") is None
    assert len(place.client.list("v1", "nodes", labels="gpu-pool=demo")) == 1
