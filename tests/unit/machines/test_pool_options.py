"""A pool that gpu_machineset is given: by options of its own, or as a plan has it."""

from __future__ import annotations

import pytest
from unit import pool_builders
from unit.machines.builders import TAINTS, drafted, params

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import AcceleratorError


def test_a_plan_s_candidate_is_an_entry() -> None:
    candidate = pool_builders.plan(
        [
            {
                "name": "t4",
                "candidates": [{"instance_type": "p9.xlarge", "zones": ["a"], "gpus": 2, "gpu_model": "R1"}],
                "replicas": 1,
            }
        ]
    )
    again = drafted(
        {**params(instance_type=None), "candidates": candidate["pools"][0]["candidates"]}, "aws"
    ).as_result()
    assert again["candidates"] == candidate["pools"][0]["candidates"]


def test_a_planned_pool_means_the_same_again() -> None:
    described = {
        "name": "t4",
        "candidates": [{"instance_type": "g4dn.xlarge", "zones": ["us-east-2a"], "market": "spot"}],
        "replicas": 2,
        "taints": TAINTS,
        "provider_spec_patch": {"placementGroupName": "pg"},
        "quota": [{"namespace": "team-a", "gpus": 2}],
    }
    (planned,) = pool_builders.plan([described], cloud="aws")["pools"]
    assert planned["candidates"][0]["market"] == {"type": "spot"}
    assert drafted({"pool": planned}, "aws").as_result() == planned
    assert drafted({"pool": described}, "aws").as_result() == planned


def test_an_unknown_key_of_a_pool_is_told() -> None:
    with pytest.raises(AcceleratorError) as caught:
        drafted({"pool": {"name": "t4", "candidate": []}})
    assert "POOL-UNKNOWN-KEY candidate" in caught.value.message
