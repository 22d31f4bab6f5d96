"""Quotas of pools that count only some pods."""

from __future__ import annotations

import pytest
from unit import pool_builders
from unit.pools.builders import Data, pool, problems

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import InputError


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
    ("first", "second", "key", "said"),
    [
        ({"priority_classes": ["a"]}, {}, "priority_classes", "an empty value differs from ['a']"),
        (
            {},
            {"priority_classes": ["a"], "name": "gpu-quota"},
            "priority_classes",
            "['a'] differs from an empty value",
        ),
        (
            {"priority_classes": ["a"]},
            {"priority_classes": ["b"]},
            "priority_classes",
            "['b'] differs from ['a']",
        ),
        (
            {"limit_range": {"cpu": "1"}},
            {"limit_range": {"cpu": "2"}},
            "limit_range",
            "{'cpu': '2'} differs from {'cpu': '1'}",
        ),
    ],
)
def test_two_pools_cannot_give_one_quota_other_pods(first: Data, second: Data, key: str, said: str) -> None:
    pools = [pool(quota=[quota(**first)]), pool(name="other", quota=[quota(**second)])]
    with pytest.raises(InputError) as caught:
        pool_builders.plan(pools, cloud="aws")
    assert caught.value.code == "POOL-DIFFERS"
    assert caught.value.message == (
        f"gpu_pools[1].quota[0].{key}: {said} of gpu_pools[0].quota[0].{key}, and the quota has this once "
        "for all pools."
    )
    assert caught.value.remedy.endswith(" Or give one of the quotas a name of its own.")


def test_a_class_without_a_name_is_refused() -> None:
    ((code, path),) = problems([pool(quota=[quota(priority_classes=["Not A Name"])])])
    assert (code, path) == ("POOL-VALUE", "gpu_pools[0].quota[0].priority_classes[0]")


def test_a_default_request_of_something_else_is_refused() -> None:
    ((code, path),) = problems([pool(quota=[quota(limit_range={"cpu": "1", "nvidia.com/gpu": 1})])])
    assert (code, path) == ("QUOTA-LIMIT-RANGE", "gpu_pools[0].quota[0].limit_range.nvidia.com/gpu")
