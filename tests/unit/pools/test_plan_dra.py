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
        ({"spare": 1}, "spare"),
        ({"validate": {"gate": True}}, "validate.gate"),
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


def test_existing_nodes_may_have_whole_gpus_and_devices_of_others_where_pods_claim() -> None:
    offered = {"nvidia.com/gpu": 2, "amd.com/gpu": 1}
    old = {"name": "old", "existing": {"node_selector": {"a": "b"}, "expected": offered}}
    assert pool_builders.plan([old], backend="dra")["pools"][0]["expected"] == offered


CLAIM: dict[str, object] = {"name": "shared-gpu", "namespace": "team-a"}


def shared(*claims: Data, **more: object) -> Data:
    """Return a pool with these shared claims."""
    return pool(sharing={"claims": [CLAIM | one for one in claims]}, **more)


def test_shared_claims_become_the_inputs_of_the_roles() -> None:
    plan = pool_builders.plan(
        [shared({}, {"name": "b"}), pool(name="whole")],
        cloud="aws",
        backend="dra",
    )
    assert plan["sharings"] == []
    first, second = plan["claims"]
    assert [one["name"] for one in first["sharing"]["claims"]] == ["shared-gpu", "b"]
    assert {tuple(one["models"]) for one in first["sharing"]["claims"]} == {("T4",)}
    assert (second["name"], second["sharing"]) == ("whole", {})
    # Two claims of one kind need one proof.
    (proof,) = plan["proofs"]["sharing"]
    assert proof["claims"] == [
        {"device_class": "gpu.nvidia.com", "profile": "", "count": 1, "models": ["T4"]}
    ]
    assert pool_builders.plan([pool()], cloud="aws")["claims"] == []


def test_the_models_of_a_claim_stay_when_one_candidate_is_obtained() -> None:
    both = [{"instance_type": kind, "zones": ["us-east-2a"]} for kind in ("g4dn.xlarge", "g5.xlarge")]
    plan = pool_builders.plan([shared({}, candidates=both)], cloud="aws", backend="dra")
    (planned,) = plan["pools"]
    obtained = planned | {"candidates": planned["candidates"][:1]}
    again = pool_builders.plan([obtained], cloud="aws", backend="dra")
    assert again["claims"] == plan["claims"]
    assert plan["claims"][0]["sharing"]["claims"][0]["models"] == ["A10G", "T4"]


@pytest.mark.parametrize(
    ("pools", "code", "path"),
    [
        ([pool(sharing={"claims": []})], "POOL-EMPTY", "[0].sharing.claims"),
        ([shared({}, {})], "POOL-DUPLICATE", "[0].sharing.claims[1].name"),
        ([shared({}), shared({}, name="b")], "POOL-DUPLICATE", "[1].sharing.claims[0].name"),
        ([shared({"count": 0})], "POOL-VALUE", "[0].sharing.claims[0].count"),
        ([shared({"count": 2})], "POOL-GEOMETRY", "[0].sharing.claims[0].count"),
        (
            [shared({"device_class": "mig.nvidia.com", "profile": "1g.5gb"})],
            "POOL-GEOMETRY",
            "[0].sharing.claims[0].profile",
        ),
        (
            [pool(sharing={"claims": [CLAIM], "mps": {"replicas": 2}})],
            "POOL-EITHER",
            "[0].sharing",
        ),
    ],
)
def test_claims_that_no_node_serves_are_refused(pools: list[Data], code: str, path: str) -> None:
    assert (code, f"gpu_pools{path}") in problems(pools, backend="dra")


def test_partitions_of_an_a100_can_be_claimed() -> None:
    claim = {"device_class": "mig.nvidia.com", "profile": "1g.5gb", "count": 7}
    plan = pool_builders.plan(
        [shared(claim, candidates=candidate("p4d.24xlarge"))], "gpu_pools", "aws", backend="dra"
    )
    (proof,) = plan["proofs"]["sharing"]
    assert proof["claims"] == [
        {"device_class": "mig.nvidia.com", "profile": "1g.5gb", "count": 7, "models": ["A100"]}
    ]


def test_claims_need_the_backend() -> None:
    assert problems([shared({})]) == [("POOL-NO-DRA", "gpu_pools[0].sharing.claims")]
