# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Hard and soft partition of a pool, and its spare devices."""

from __future__ import annotations

import typing as t

import pytest
from unit.pool_builders import plan, single
from unit.pools.builders import TAINT, candidate, existing, pool, problems

T4: t.Final = candidate("g4dn.xlarge", "us-east-2a")
PREFER: t.Final = {"key": "nvidia.com/gpu", "effect": "PreferNoSchedule"}
NEVER: t.Final = {"preemption_policy": "Never"}
SPARE: t.Final = {
    "name": "gpu-spare",
    "value": -10,
    "preemption_policy": "Never",
    "description": "Placeholder pods, which give way to other pods",
}


def test_hard_is_the_taint_of_the_devices() -> None:
    found = plan([pool(candidates=T4, partition="hard")], cloud="aws")
    assert found["pools"][0]["taints"] == [{"key": "nvidia.com/gpu", "effect": "NoSchedule"}]
    assert found["partitions"] == [
        {
            "name": "t4",
            "node_selector": {"accelerators.openshift/pool": "t4"},
            "taints": [{"key": "nvidia.com/gpu", "effect": "NoSchedule"}],
            "resources": ["nvidia.com/gpu"],
            "spare": 0,
        }
    ]
    assert found["priorities"] == []


def test_hard_keeps_the_taints_that_the_user_gave() -> None:
    assert single(pool(partition="hard", taints=[TAINT])).as_result()["taints"] == [TAINT]


def test_soft_is_two_priority_classes_and_no_taint() -> None:
    found = plan([pool(candidates=T4, partition="soft")], cloud="aws")
    assert found["pools"][0]["taints"] == []
    assert [(one["name"], one["value"], one["preemption_policy"]) for one in found["priorities"]] == [
        ("gpu-training", 100000, "PreemptLowerPriority"),
        ("gpu-batch", 1000, "Never"),
    ]


def test_the_classes_of_a_soft_pool_can_be_proved() -> None:
    (found,) = plan([pool(candidates=T4, partition="soft", spare=1)], cloud="aws")["proofs"]["preemption"]
    assert (found["low"], found["high"], found["resource"]) == ("gpu-batch", "gpu-training", "nvidia.com/gpu")
    for own in (
        [{"name": "one", "value": 7}],
        [{"name": "a", "value": 1}, {"name": "b", "value": 2} | NEVER],
    ):
        assert plan([pool(candidates=T4, priority=own)], cloud="aws")["proofs"]["preemption"] == []


def test_soft_keeps_the_classes_that_the_user_gave() -> None:
    own = [{"name": "research", "value": 7}]
    (found,) = plan([pool(candidates=T4, partition="soft", priority=own)], cloud="aws")["priorities"]
    assert (found["name"], found["value"]) == ("research", 7)


def test_a_pool_without_a_partition_is_as_before() -> None:
    found = plan([pool(candidates=T4)], cloud="aws")
    assert (found["pools"][0]["taints"], found["priorities"]) == ([], [])
    assert not {"partition", "spare"} & set(found["pools"][0])


def test_spare_devices_bring_their_priority_class_once() -> None:
    both = [pool(name=one, candidates=T4, spare=2) for one in ("a", "b")]
    found = plan(both, cloud="aws")
    assert found["priorities"] == [SPARE]
    assert [one["spare"] for one in found["partitions"]] == [2, 2]


def test_a_planned_pool_is_read_back() -> None:
    (found,) = plan([pool(candidates=T4, partition="soft", spare=1)], cloud="aws")["pools"]
    assert (found["partition"], found["spare"]) == ("soft", 1)
    assert plan([found], cloud="aws")["pools"] == [found]


def test_existing_nodes_have_their_taint_already() -> None:
    old = {**existing(2, gpu="a"), "partition": "hard"}
    assert problems([old]) == [("POOL-REQUIRED", "gpu_pools[0].taints")]
    found = plan([{**old, "taints": [TAINT], "spare": 5}])
    assert found["partitions"][0]["taints"] == [TAINT]


def test_shared_devices_are_spare_under_their_name() -> None:
    sharing = {"time_slicing": {"replicas": 4, "rename": True}}
    found = plan([pool(candidates=T4, replicas=1, sharing=sharing, spare=4)], cloud="aws")
    assert found["partitions"][0]["resources"] == ["nvidia.com/gpu.shared"]


@pytest.mark.parametrize(
    ("more", "code", "path"),
    [
        ({"partition": "firm"}, "POOL-VALUE", "partition"),
        ({"partition": "soft", "taints": [TAINT]}, "POOL-CONFLICT", "taints"),
        ({"partition": "hard", "taints": [PREFER]}, "POOL-REQUIRED", "taints"),
        ({"spare": 3}, "POOL-TOO-MANY", "spare"),
        ({"spare": -1}, "POOL-VALUE", "spare"),
        ({"priority": [{"name": "gpu-spare", "value": 5}]}, "POOL-CLASS", "priority[0].name"),
    ],
)
def test_what_cannot_be_is_refused(more: dict[str, t.Any], code: str, path: str) -> None:
    assert problems([pool(candidates=T4, **more)]) == [(code, f"gpu_pools[0].{path}")]


def test_pods_that_claim_devices_leave_none_spare() -> None:
    assert problems([pool(candidates=T4, spare=1)], backend="dra") == [("POOL-DRA", "gpu_pools[0].spare")]
    assert plan([pool(candidates=T4)], cloud="aws", backend="dra")["partitions"] == []
