# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The sharing of a pool in the plan: what gpu_sharing gets, and what follows without being said again."""

from __future__ import annotations

import typing as t

import pytest
from unit.pool_builders import plan, single
from unit.pools.builders import candidate, existing, pool, problems

from ansible_collections.accelerators.openshift.plugins.module_utils._machines.machine_set import node_labels

FOUR: t.Final = {"time_slicing": {"replicas": 4}}
RENAMED: t.Final = {"mps": {"replicas": 4, "rename": True}}
T4: t.Final = candidate("g4dn.xlarge", "us-east-2a")


def test_every_pool_is_told_to_gpu_sharing() -> None:
    found = plan([pool(name="a", candidates=T4, sharing=FOUR), pool(name="b", candidates=T4)], cloud="aws")
    assert found["sharings"] == [
        {
            "name": "a",
            "node_selector": {"accelerators.openshift/pool": "a"},
            "sharing": FOUR,
            "expected": {"nvidia.com/gpu": 4},
        },
        {"name": "b", "node_selector": {"accelerators.openshift/pool": "b"}, "sharing": {}, "expected": {}},
    ]


def test_candidates_with_other_gpus_expect_what_is_discovered() -> None:
    kinds = [*T4, *candidate("g4dn.12xlarge", "us-east-2a")]
    (found,) = plan([pool(candidates=kinds, sharing=FOUR)], cloud="aws")["sharings"]
    assert found["expected"] == {}


@pytest.mark.parametrize(
    ("sharing", "resource", "number"),
    [(FOUR, "nvidia.com/gpu", 4), (RENAMED, "nvidia.com/gpu.shared", 4), ({}, "nvidia.com/gpu", 1)],
)
def test_stack_validation_and_quota_follow(sharing: dict[str, t.Any], resource: str, number: int) -> None:
    more = {"sharing": sharing} if sharing else {}
    one = pool(candidates=T4, quota=[{"namespace": "team", "gpus": 2}], **more)
    found = plan([one], cloud="aws")
    assert found["groups"][0]["expected"] == {resource: number}
    assert found["validations"][0]["expected"] == {resource: number}
    assert found["quotas"][0]["hard"] == {f"requests.{resource}": "2"}


def test_existing_nodes_offer_their_gpus_times_the_replicas() -> None:
    one = {"name": "old", "sharing": RENAMED, **existing(2, gpu="a")}
    (found,) = plan([one])["pools"]
    assert found["expected"] == {"nvidia.com/gpu.shared": 8}
    assert plan([found])["pools"] == [found]


def test_existing_nodes_with_other_devices_are_refused() -> None:
    nodes = {"node_selector": {"gpu": "a"}, "expected": {"nvidia.com/mig-1g.5gb": 7}}
    found = problems([{"name": "old", "sharing": FOUR, "existing": nodes}])
    assert found == [("POOL-GEOMETRY", "gpu_pools[0].sharing.time_slicing")]


def test_a_new_node_has_the_profile_from_its_machine_set() -> None:
    shared = single(pool(name="a", candidates=T4, sharing=FOUR), cloud="aws")
    whole = single(pool(name="a", candidates=T4), cloud="aws")
    label = "nvidia.com/device-plugin.config"
    assert node_labels(shared, shared.candidates[0])[label] == "gpu-a"
    assert label not in node_labels(whole, whole.candidates[0])


def test_with_claims_nothing_is_shared_by_the_device_plugin() -> None:
    assert plan([pool(candidates=T4)], cloud="aws", backend="dra")["sharings"] == []


@pytest.mark.parametrize(
    ("changes", "code", "path"),
    [
        ({"sharing": {"mps": {"replicas": 49}}}, "POOL-VALUE", "sharing.mps.replicas"),
        ({"sharing": {"time_slicing": {"replicas": 1}}}, "POOL-VALUE", "sharing.time_slicing.replicas"),
        ({"sharing": {"time_slicing": {}}}, "POOL-REQUIRED", "sharing.time_slicing.replicas"),
        (
            {"sharing": {"mps": {"replicas": 2, "fail_requests_greater_than_one": False}}},
            "POOL-UNKNOWN-KEY",
            "sharing.mps.fail_requests_greater_than_one",
        ),
        (
            {"candidates": candidate("p3.2xlarge"), "sharing": {"mps": {"replicas": 17}}},
            "POOL-GEOMETRY",
            "sharing.mps.replicas",
        ),
        (
            {
                "sharing": {"time_slicing": {"replicas": 2}},
                "labels": {"nvidia.com/device-plugin.config": "mine"},
            },
            "POOL-LABEL",
            "labels.nvidia.com/device-plugin.config",
        ),
    ],
)
def test_what_cannot_be_shared_is_refused_with_its_path(
    changes: dict[str, t.Any], code: str, path: str
) -> None:
    assert problems([pool(**changes)]) == [(code, f"gpu_pools[0].{path}")]
