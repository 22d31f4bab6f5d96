# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""enable_gpus.yml with two pools, and the driver of one of them crashes: the other pool gets its GPUs."""

from __future__ import annotations

import typing as t

import pytest
from integration.scenarios.place import Data, Place

from openshift_sandbox import faults

SCENARIO: t.Final = "gpu-nodes"
pytestmark = [
    pytest.mark.long("the whole chain twice: troubles/test_one_pool_is_refused.py goes on without machines"),
    pytest.mark.story("a driver crashes, and is repaired"),
]
CRASH: t.Final = {"node": "a100-0", "text": "Could not unload NVIDIA driver kernel modules"}


def pool(name: str, gpus: int) -> Data:
    """Return a pool of the nodes that the scenario has."""
    selector = {"accelerators.openshift/pool": name}
    return {"name": name, "existing": {"node_selector": selector, "expected": {"nvidia.com/gpu": gpus}}}


POOLS: t.Final = [pool("training", 8), pool("inference", 1)]


def remembered(place: Place) -> set[str]:
    """Return the nodes that are validated."""
    maps = place.client.list("v1", "configmaps", "gpu-validation")
    return {node for one in maps for node in one.get("data") or {}} & {"a100-0", "t4-0", "t4-1"}


def test_the_other_pool_is_validated_and_the_run_fails_at_its_end(place: Place) -> None:
    faults.add(place.cluster.needs_sandbox(), "driver_crashloop", CRASH)
    try:
        run = place.run("enable_gpus", gpu_pools=POOLS)
    finally:
        faults.clear(place.cluster.needs_sandbox(), "driver_crashloop", CRASH)
    assert run.rc != 0
    assert run.failure.name == "Fail for pools that are not ready"
    for words in ("1 of 2 pools", "training: GPU-DRV-", "a100-0", "The other pools are ready."):
        assert words in run.failure["msg"], run.failure["msg"]
    assert "inference: " not in run.failure["msg"]
    assert remembered(place) == {"t4-0", "t4-1"}


def test_the_next_run_ends_what_was_left(place: Place) -> None:
    place.done("enable_gpus", gpu_pools=POOLS, gpu_operator_grace=60)
    assert remembered(place) == {"a100-0", "t4-0", "t4-1"}
    again = place.done("enable_gpus", gpu_pools=POOLS)
    assert (again.changed, place.writes(again)) == (0, [])
