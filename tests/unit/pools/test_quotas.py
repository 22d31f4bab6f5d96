"""Quotas of pools that count only some pods."""

from __future__ import annotations

import pytest
from unit import pool_builders
from unit.pools.builders import Data, pool, problems


def quota(**more: object) -> Data:
    return {"namespace": "a", "gpus": 1, **more}


def test_a_quota_of_classes_keeps_them_and_is_added_up() -> None:
    pools = [
        pool(quota=[quota(name="high", priority_classes=["b", "a"], limit_range={"cpu": 1})]),
        pool(
            name="other",
            quota=[quota(), quota(name="high", priority_classes=["a", "b"], limit_range={"cpu": "1"})],
        ),
    ]
    assert pool_builders.plan(pools, cloud="aws")["quotas"] == [
        {
            "namespace": "a",
            "name": "high",
            "hard": {"requests.nvidia.com/gpu": "2"},
            "priority_classes": ["a", "b"],
            "limit_range": {"cpu": "1"},
        },
        {"namespace": "a", "name": "gpu-quota", "hard": {"requests.nvidia.com/gpu": "1"}},
    ]


@pytest.mark.parametrize(
    ("first", "second", "code", "path"),
    [
        (
            {"priority_classes": ["a"]},
            {},
            "POOL-DIFFERS",
            "gpu_pools[1].quota[0].priority_classes",
        ),
        (
            {"limit_range": {"cpu": "1"}},
            {"limit_range": {"cpu": "2"}},
            "POOL-DIFFERS",
            "gpu_pools[1].quota[0].limit_range",
        ),
        (
            {"priority_classes": ["a"]},
            {"priority_classes": ["b"]},
            "POOL-DIFFERS",
            "gpu_pools[1].quota[0].priority_classes",
        ),
    ],
)
def test_two_pools_cannot_give_one_quota_other_pods(first: Data, second: Data, code: str, path: str) -> None:
    pools = [pool(quota=[quota(**first)]), pool(name="other", quota=[quota(**second)])]
    assert problems(pools) == [(code, path)]


def test_a_class_without_a_name_is_refused() -> None:
    ((code, path),) = problems([pool(quota=[quota(priority_classes=["Not A Name"])])])
    assert (code, path) == ("POOL-VALUE", "gpu_pools[0].quota[0].priority_classes[0]")


def test_a_default_request_of_something_else_is_refused() -> None:
    ((code, path),) = problems([pool(quota=[quota(limit_range={"cpu": "1", "nvidia.com/gpu": 1})])])
    assert (code, path) == ("QUOTA-LIMIT-RANGE", "gpu_pools[0].quota[0].limit_range.nvidia.com/gpu")
