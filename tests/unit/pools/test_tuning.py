"""The tuning of a pool: what the plan gives to node_tuning, and what the planner refuses."""

from __future__ import annotations

import typing as t

import pytest
from unit.pool_builders import plan

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import InputError
from ansible_collections.accelerators.openshift.plugins.module_utils._pools import plan as pool_plan
from ansible_collections.accelerators.openshift.plugins.module_utils._pools.draft import Place
from ansible_collections.accelerators.openshift.plugins.module_utils._pools.tuning import check_pool

Data = dict[str, t.Any]


def pool(*types: str, **more: t.Any) -> Data:
    kinds = [{"instance_type": one, "zones": ["us-east-2a"]} for one in types or ("p4d.24xlarge",)]
    return {"name": "training", "candidates": kinds, "replicas": 1, **more}


def existing(**more: t.Any) -> Data:
    return {
        "name": "old",
        "existing": {"node_selector": {"gpu": "a"}, "expected": {"nvidia.com/gpu": 1}},
        **more,
    }


def test_each_pool_with_tuning_gets_an_entry() -> None:
    asked = {"profile": "training", "sysctl": {"vm.swappiness": 1}}
    found = plan([pool(tuning=asked), existing(tuning={"profile": "grace"})], cloud="aws")
    first, second = found["tunings"]
    assert first == {
        "name": "training",
        "node_selector": {"accelerators.openshift/pool": "training"},
        "tuning": {"profile": "training", "sysctl": {"vm.swappiness": "1"}},
        "arch": "amd64",
        "instance_type": "p4d.24xlarge",
        "vcpus": 96,
        "memory_gib": 1152,
    }
    assert second == {"name": "old", "node_selector": {"gpu": "a"}, "tuning": {"profile": "grace"}}
    assert found["pools"][0]["tuning"] == first["tuning"]
    assert plan([pool()])["tunings"] == []


def test_a_planned_pool_keeps_its_tuning() -> None:
    first = plan([pool(tuning={"profile": "training"})], cloud="aws")
    assert plan(first["pools"])["tunings"] == first["tunings"]


def test_what_candidates_do_not_share_is_not_known() -> None:
    (found,) = plan([pool("g4dn.xlarge", "g4dn.2xlarge", tuning={"profile": "accelerator"})])["tunings"]
    assert (found["arch"], found["memory_gib"]) == ("amd64", 16)
    assert found.keys() & {"instance_type", "vcpus"} == set()


@pytest.mark.parametrize(
    ("described", "code", "path"),
    [
        (pool(tuning={"profile": "trainnig"}), "POOL-TUNING", "tuning.profile"),
        (pool("g5g.xlarge", tuning={"profile": "training"}), "POOL-TUNING", "tuning.profile"),
        (pool(tuning={"sysctl": {"swappiness": 1}}), "POOL-TUNING", "tuning.sysctl.swappiness"),
        (pool(tuning={"defer": True}), "POOL-EMPTY", "tuning"),
    ],
)
def test_what_the_planner_refuses(described: Data, code: str, path: str) -> None:
    with pytest.raises(InputError) as caught:
        pool_plan.draft([described], rules=(check_pool,)).check(Place("aws"))
    assert caught.value.code == code
    assert caught.value.message.startswith(f"gpu_pools[0].{path}: ")
