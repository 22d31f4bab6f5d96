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
from ansible_collections.accelerators.openshift.plugins.module_utils._pools import geometry
from ansible_collections.accelerators.openshift.plugins.module_utils._sharing import mig_name

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


def test_every_pool_that_shares_its_gpus_is_proven() -> None:
    taint = {"key": "gpu", "effect": "NoSchedule"}
    cut = {"mig": {"layout": {"1g.5gb": 2, "3g.20gb": 1}}}
    pools = [
        pool(name="a", candidates=T4, sharing=FOUR, taints=[taint], validate={"image": "mirror/cuda:1"}),
        pool(name="b", candidates=T4),
        {**existing(1, gpu="a"), "name": "c", "sharing": cut},
    ]
    shared, parts = plan(pools, cloud="aws")["proofs"]["sharing"]
    assert (shared["name"], shared["replicas"], shared["resources"]) == ("a", 4, ["nvidia.com/gpu"])
    assert ([one["key"] for one in shared["tolerations"]][-1], shared["image"]) == ("gpu", "mirror/cuda:1")
    assert (parts["name"], parts["replicas"]) == ("c", 1)
    assert parts["resources"] == ["nvidia.com/mig-1g.5gb", "nvidia.com/mig-3g.20gb"]
    assert plan([pool(candidates=T4)], cloud="aws", backend="dra")["proofs"]["sharing"] == []


@pytest.mark.parametrize(
    ("mig", "name", "number"),
    [
        ({"slices": 7}, "nvidia.com/gpu", 7 * 8 * 2),
        ({"layout": {"3g.20gb": 2}}, "nvidia.com/mig-3g.20gb", 2 * 8 * 2),
    ],
)
def test_pods_share_partitions_by_time_slicing(mig: dict[str, t.Any], name: str, number: int) -> None:
    sharing = {"mig": mig, "time_slicing": {"replicas": 2}}
    kinds = candidate("p4d.24xlarge", "us-east-2a")
    found = plan([pool(candidates=kinds, sharing=sharing)], cloud="aws")
    assert found["validations"][0]["expected"] == {name: number}
    (sharings,), (proofs,) = found["sharings"], found["proofs"]["sharing"]
    assert set(sharings["sharing"]) == {"mig", "time_slicing"}
    assert sharings["partitions"][0]["expected"] == {name: number}
    assert (proofs["replicas"], proofs["resources"]) == (2, [name])
    (planned,) = found["pools"]
    assert plan([planned], cloud="aws")["pools"] == [planned]


def test_existing_nodes_share_their_partitions() -> None:
    sharing = {"mig": {"layout": {"3g.20gb": 2}}, "time_slicing": {"replicas": 2}}
    (one,) = plan([{**existing(8, gpu="a"), "sharing": sharing}])["validations"]
    assert one["expected"] == {"nvidia.com/mig-3g.20gb": 32}


def test_pods_share_no_partitions_by_mps() -> None:
    sharing = {"mig": {"slices": 7}, "mps": {"replicas": 2}}
    wrong = pool(candidates=candidate("p4d.24xlarge", "us-east-2a"), sharing=sharing)
    assert problems([wrong]) == [("POOL-EITHER", "gpu_pools[0].sharing")]


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


P4D: t.Final = candidate("p4d.24xlarge", "us-east-2a")
MIXED: t.Final = {"mig": {"layout": {"1g.5gb": 2, "3g.20gb": 1}}}
CONFIG: t.Final = "nvidia.com/mig.config"


def test_a_pool_with_mig_gives_each_type_its_configuration() -> None:
    kinds = [*P4D, *candidate("p4de.24xlarge", "us-east-2a")]
    (found,) = plan([pool(name="a", candidates=kinds, sharing={"mig": {"slices": 7}})], cloud="aws")[
        "sharings"
    ]
    assert found["sharing"] == {"mig": {"slices": 7, "strategy": "single"}}
    assert [(one["instance_type"], one["expected"]) for one in found["partitions"]] == [
        ("p4d.24xlarge", {"nvidia.com/gpu": 56}),
        ("p4de.24xlarge", {"nvidia.com/gpu": 56}),
    ]
    assert [one["config"][0]["mig-devices"] for one in found["partitions"]] == [{"1g.5gb": 7}, {"1g.10gb": 7}]


def test_a_new_node_is_partitioned_by_its_machine_set() -> None:
    made = single(pool(name="a", candidates=P4D, sharing=MIXED), cloud="aws")
    again = single(made.as_result(), cloud="aws")
    (entry,) = geometry.inputs([made])[0]["partitions"]
    for one in (made, again):
        assert node_labels(one, one.candidates[0])[CONFIG] == mig_name.name("a", entry["config"])


def test_stack_validation_and_quota_follow_partitions() -> None:
    mig = {"mig": {"slices": 7, "strategy": "mixed"}}
    one = pool(candidates=P4D, sharing=mig, quota=[{"namespace": "team", "gpus": 2}])
    found = plan([one], cloud="aws")
    assert found["groups"][0]["expected"] == {"nvidia.com/mig-1g.5gb": 56}
    assert found["validations"][0]["expected"] == {"nvidia.com/mig-1g.5gb": 56}
    assert found["quotas"][0]["hard"] == {"requests.nvidia.com/mig-1g.5gb": "2"}


def test_existing_nodes_are_partitioned_from_their_whole_gpus() -> None:
    one = {"name": "old", "sharing": MIXED, **existing(2, gpu="a")}
    found = plan([one])
    assert found["pools"][0]["expected"] == {"nvidia.com/mig-1g.5gb": 4, "nvidia.com/mig-3g.20gb": 2}
    assert found["sharings"][0]["partitions"][0]["instance_type"] == ""
    assert plan([found["pools"][0]])["sharings"] == found["sharings"]


@pytest.mark.parametrize(
    ("mig", "path"),
    [
        ({"slices": 7}, "sharing.mig.slices"),
        ({"layout": {"4g.20gb": 2}}, "sharing.mig.layout"),
        ({"profile": "1g.10gb"}, "sharing.mig.profile"),
    ],
)
def test_partitions_of_existing_nodes_are_checked(mig: dict[str, t.Any], path: str) -> None:
    found = problems([{"name": "old", "sharing": {"mig": mig}, **existing(2, gpu="a")}])
    assert found == [("POOL-GEOMETRY", f"gpu_pools[0].{path}")]


def test_with_claims_nothing_is_shared_by_the_device_plugin() -> None:
    assert plan([pool(candidates=T4)], cloud="aws", backend="dra")["sharings"] == []


@pytest.mark.parametrize(
    ("changes", "code", "path"),
    [
        ({"sharing": {"mps": {"replicas": 49}}}, "POOL-VALUE", "sharing.mps.replicas"),
        ({"sharing": {"time_slicing": {"replicas": 1}}}, "POOL-VALUE", "sharing.time_slicing.replicas"),
        ({"sharing": {"time_slicing": {}}}, "POOL-REQUIRED", "sharing.time_slicing.replicas"),
        (
            {"sharing": {"mps": {"replicas": 2, "fail_requests_greater_than_one": "no idea"}}},
            "POOL-TYPE",
            "sharing.mps.fail_requests_greater_than_one",
        ),
        (
            {"candidates": candidate("p3.2xlarge"), "sharing": {"mps": {"replicas": 17}}},
            "POOL-GEOMETRY",
            "sharing.mps.replicas",
        ),
        (
            {"candidates": P4D, "sharing": MIXED, "labels": {"nvidia.com/mig.config": "mine"}},
            "POOL-LABEL-TAKEN",
            "labels.nvidia.com/mig.config",
        ),
        (
            {"candidates": P4D, "sharing": {"mig": {"config": []}}},
            "POOL-GEOMETRY",
            "sharing.mig.config",
        ),
        (
            {"candidates": P4D, "sharing": {"mig": {"config": [{"devices": [8], "mig-enabled": False}]}}},
            "POOL-GEOMETRY",
            "sharing.mig.config[0].devices",
        ),
        (
            {
                "sharing": {"time_slicing": {"replicas": 2}},
                "labels": {"nvidia.com/device-plugin.config": "mine"},
            },
            "POOL-LABEL-TAKEN",
            "labels.nvidia.com/device-plugin.config",
        ),
    ],
)
def test_what_cannot_be_shared_is_refused_with_its_path(
    changes: dict[str, t.Any], code: str, path: str
) -> None:
    assert problems([pool(**changes)]) == [(code, f"gpu_pools[0].{path}")]
