"""Descriptions of pools for tests, what is wrong with them, and the plan that a report tells."""

from __future__ import annotations

import typing as t

import pytest
from unit import pool_builders

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import InputError
from ansible_collections.accelerators.openshift.plugins.module_utils._pools.account import limits
from ansible_collections.accelerators.openshift.plugins.module_utils._pools.model import Pool

Data = dict[str, t.Any]
# Options of gpu_plan as the module gives them, but for the pools.
PARAMS: t.Final[Data] = {
    "gpu_pools_name": "gpu_pools",
    "platform": None,
    "accelerator_limits": None,
    "backend": None,
    "catalogue": [],
    "queues": [],
    "networks": [],
    "incomplete": [],
    "prices": None,
    "cost_classes": None,
    "replicas": {},
    "leftovers": False,
}
TAINT = {"key": "nvidia.com/gpu", "value": "t4", "effect": "NoSchedule"}


def pool(**changes: t.Any) -> Data:
    base: Data = {
        "name": "t4",
        "candidates": [{"instance_type": "g4dn.xlarge", "zones": ["us-east-2a"]}],
        "replicas": 2,
    }
    return {key: value for key, value in {**base, **changes}.items() if value is not None}


def candidate(name: str, *zones: str, **more: t.Any) -> list[Data]:
    return [{"instance_type": name, "zones": list(zones or ("us-east-2a",)), **more}]


DRIVER: t.Final = {"version": "595.91.07", "repository": "nvcr.io/nvidia", "image": "driver"}
# What a pool of existing nodes does not say.
NOBODY: t.Final[Data] = {"candidates": None, "replicas": None}


def existing(expected: int = 1, /, **selector: str) -> Data:
    return {"name": "old", "existing": {"node_selector": selector, "expected": {"nvidia.com/gpu": expected}}}


def problems(pools: t.Any, **more: t.Any) -> list[tuple[str, str]]:
    with pytest.raises(InputError) as caught:
        pool_builders.plan(pools, **{"cloud": "aws", **more})
    found = caught.value.facts["problems"]
    assert all(one["message"] and one["remedy"] for one in found)
    return [(one["code"], one["path"]) for one in found]


POOLS: list[Data] = [
    {
        "name": "training",
        "candidates": [
            {"instance_type": "p4d.24xlarge", "zones": ["us-east-2a"]},
            {"instance_type": "g4dn.12xlarge", "zones": ["us-east-2b"]},
        ],
        "replicas": 2,
        "quota": [{"namespace": "team-a", "gpus": 8}],
    },
    {"name": "own", "existing": {"node_selector": {"gpu": "own"}, "expected": {"nvidia.com/gpu": 2}}},
]


def planned(pools: list[Data] | None = None, cloud: str = "aws") -> Data:
    plan = pool_builders.plan(pools or POOLS, cloud=cloud)
    return {**plan, "limits": limits(map(Pool.from_result, plan["pools"]), cloud)}
