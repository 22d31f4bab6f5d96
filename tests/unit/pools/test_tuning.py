"""The tuning of a pool: what the plan gives to node_tuning."""

from __future__ import annotations

import typing as t

from unit.pool_builders import plan

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
        "architecture": "amd64",
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
    assert (found["architecture"], found["memory_gib"]) == ("amd64", 16)
    assert found.keys() & {"instance_type", "vcpus"} == set()
