# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Zones with workers of both architectures: each pool copies the set whose machines are like its own."""

from __future__ import annotations

import typing as t

import pytest
from integration.playbook import Run
from integration.scenarios.place import Data, Place, warnings

SCENARIO: t.Final = "mixed-arch-workers"
pytestmark = pytest.mark.long("few clusters have workers of both architectures; unit tests hold the choice")
SETS: t.Final = ("machine.openshift.io/v1beta1", "machinesets", "openshift-machine-api")


def pool(name: str, instance_type: str, zone: str) -> Data:
    candidate = {"instance_type": instance_type, "zones": [zone]}
    return {"name": name, "candidates": [candidate], "replicas": 1}


def image(place: Place, name: str) -> str:
    found = place.client.get(*SETS[:2], name, SETS[2])
    assert found
    return str(found["spec"]["template"]["spec"]["providerSpec"]["value"]["ami"]["id"])


# By name, the set of the other architecture is first in each of these zones.
POOLS: t.Final = [pool("t4", "g4dn.xlarge", "us-east-2a"), pool("t4g", "g5g.xlarge", "us-east-2b")]


def test_each_pool_copies_the_set_of_its_architecture(place: Place) -> None:
    run = place.done("enable_gpus", "--tags gpu_node_pool", gpu_pools=POOLS)
    for mine, worker in (
        ("demo-x7k2p-t4-us-east-2a", "demo-x7k2p-worker-us-east-2a"),
        ("demo-x7k2p-t4g-us-east-2b", "demo-x7k2p-workers-arm-us-east-2b"),
    ):
        assert image(place, mine) == image(place, worker)
    told = " ".join(warnings(run))
    assert "Not taken: demo-x7k2p-arm-worker-us-east-2a makes arm64 machines" in told
    assert "Not taken: demo-x7k2p-worker-us-east-2b makes amd64 machines" in told
    again = place.done("enable_gpus", "--tags gpu_node_pool", gpu_pools=POOLS)
    assert (again.changed, place.writes(again), warnings(again)) == (0, [], [])


def test_a_set_that_the_user_names_is_checked_too(place: Place) -> None:
    arm, amd = "demo-x7k2p-workers-arm-us-east-2b", "demo-x7k2p-worker-us-east-2b"
    wrong = pool("l4", "g6.xlarge", "us-east-2b")

    def enable(source: str) -> Run:
        more = {"gpu_node_pool_source_machine_set": [source]}
        return place.run("enable_gpus", "--tags gpu_node_pool", gpu_pools=[*POOLS, wrong], **more)

    refused = enable(arm)
    assert refused.failure.name == "Fail for pools that are not ready"
    for words in ("1 of 3 pools", "l4: MACH-ARCH", arm, "set gpu_node_pool_source_machine_set"):
        assert words in refused.failure["msg"]
    assert place.writes(refused) == []
    done = enable(amd)
    assert done.rc == 0, done.output[-3000:]
    assert image(place, "demo-x7k2p-l4-us-east-2b") == image(place, amd)
