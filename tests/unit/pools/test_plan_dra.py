"""gpu_pools with backend dra: pods claim their GPUs."""

from __future__ import annotations

import pytest
from unit import pool_builders
from unit.pools.builders import NOBODY, Data, candidate, pool, problems


def test_gpus_that_pods_claim() -> None:
    plan = pool_builders.plan(
        [pool(quota=[{"namespace": "a", "gpus": 1}]), pool(name="b", quota=[{"namespace": "a", "gpus": 2}])],
        cloud="aws",
        backend="dra",
    )
    assert plan["stack"] == {"backend": "dra", "driver": {}}
    assert plan["quotas"] == [
        {
            "namespace": "a",
            "name": "gpu-quota",
            "hard": {"gpu.nvidia.com.deviceclass.resource.k8s.io/devices": "3"},
        }
    ]
    assert [one["claims"] for one in plan["validations"]] == [True, True]
    (remark,) = plan["remarks"]
    assert "the pools offer 4 nvidia.com/gpu, but the quotas allow only 3 in total" in remark
    named = {
        "gpu.nvidia.com.deviceclass.resource.k8s.io/devices": 1,
        "count/resourceclaims.resource.k8s.io": 9,
    }
    (quota,) = pool_builders.plan(
        [pool(quota=[{"namespace": "a", "hard": named}])], cloud="aws", backend="dra"
    )["quotas"]
    assert quota["hard"] == {key: str(number) for key, number in sorted(named.items())}


@pytest.mark.parametrize(
    ("changes", "path"),
    [
        ({"candidates": candidate("p4d.24xlarge"), "sharing": {"mig": {"slices": 7}}}, "sharing.mig"),
        ({"sharing": {"time_slicing": {"replicas": 4}}}, "sharing.time_slicing"),
        ({"sharing": {"mps": {"replicas": 4}}}, "sharing.mps"),
        ({"replicas": None, "autoscale": {"min": 1, "max": 2}}, "autoscale"),
        (
            {"quota": [{"namespace": "a", "hard": {"requests.nvidia.com/gpu": 1}}]},
            "quota[0].hard.requests.nvidia.com/gpu",
        ),
        (
            {"quota": [{"namespace": "a", "gpus": 1, "priority_classes": ["high"]}]},
            "quota[0].priority_classes",
        ),
        (
            NOBODY | {"existing": {"node_selector": {"a": "b"}, "expected": {"nvidia.com/mig-1g.5gb": 7}}},
            "existing.expected.nvidia.com/mig-1g.5gb",
        ),
    ],
)
def test_what_only_a_device_plugin_does_is_refused_where_pods_claim(changes: Data, path: str) -> None:
    assert problems([pool(**changes)], backend="dra") == [("POOL-DRA", f"gpu_pools[0].{path}")]
