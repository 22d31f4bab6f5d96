"""The tuning of a pool that the planner refuses."""

from __future__ import annotations

import typing as t

import pytest

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import InputError
from ansible_collections.accelerators.openshift.plugins.module_utils._pools import plan as pool_plan
from ansible_collections.accelerators.openshift.plugins.module_utils._pools.draft import Place
from ansible_collections.accelerators.openshift.plugins.module_utils._pools.tuning_rules import check_pool

Data = dict[str, t.Any]


def pool(kind: str = "p4d.24xlarge", **more: t.Any) -> Data:
    candidate = {"instance_type": kind, "zones": ["us-east-2a"]}
    return {"name": "training", "candidates": [candidate], "replicas": 1, **more}


@pytest.mark.parametrize(
    ("described", "code", "path"),
    [
        (pool(tuning={"profile": "trainnig"}), "POOL-TUNING", "tuning.profile"),
        (pool("g5g.xlarge", tuning={"profile": "training"}), "POOL-TUNING", "tuning.profile"),
        (pool(tuning={"sysctl": {"swappiness": 1}}), "POOL-TUNING", "tuning.sysctl.swappiness"),
        (pool(tuning={"defer": True}), "POOL-REQUIRED", "tuning"),
    ],
)
def test_what_the_planner_refuses(described: Data, code: str, path: str) -> None:
    with pytest.raises(InputError) as caught:
        pool_plan.draft([described], rules=(check_pool,)).check(Place("aws"))
    assert caught.value.code == code
    assert caught.value.message.startswith(f"gpu_pools[0].{path}: ")
