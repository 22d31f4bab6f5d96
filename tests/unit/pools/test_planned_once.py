"""A pool is planned once in a run of enable_gpus.yml: what gpu_plan returns, the other modules read back."""

from __future__ import annotations

import typing as t

import pytest
from unit import engine, pool_builders
from unit.fake_server import FakeServer
from unit.pools.builders import PARAMS, existing, pool as described

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import (
    AcceleratorError,
    InputError,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._machines.pool_options import (
    GpuMachinesetParams,
    draft,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._pools import (
    draft as pool_draft,
    model,
    plan as pool_plan,
    schema,
    steps,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._pools.draft import Place
from ansible_collections.accelerators.openshift.plugins.module_utils._pools.model import Pool

Data = dict[str, t.Any]
INFRASTRUCTURE: t.Final = {
    "apiVersion": "config.openshift.io/v1",
    "kind": "Infrastructure",
    "metadata": {"name": "cluster"},
    "status": {"infrastructureName": "demo-x7k2p", "platformStatus": {"type": "AWS"}},
}
POOLS: t.Final[list[Data]] = [
    {
        "name": "t4",
        "candidates": [
            {"instance_type": "g4dn.xlarge", "zones": ["us-east-2a"], "market": "spot"},
            {"instance_type": "g5.xlarge", "zones": ["us-east-2b"]},
        ],
        "autoscale": {"min": 1, "max": 4},
        "health": {},
        "taints": [{"key": "nvidia.com/gpu", "effect": "NoSchedule"}],
        "node_role": False,
        "source_machine_set": ["worker-a"],
    },
    {"name": "own", "existing": {"node_selector": {"gpu": "own"}, "expected": {"nvidia.com/gpu": 2}}},
]


class Calls:
    """How often the planner read a description, and how often it made a pool of one."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.read = self.made = 0
        read, make = pool_draft._read, pool_draft.make

        def counted_read(*args: t.Any) -> Data:
            self.read += 1
            return read(*args)

        def counted_make(pool: Data) -> Pool:
            self.made += 1
            return make(pool)

        monkeypatch.setattr(pool_draft, "_read", counted_read)
        monkeypatch.setattr(pool_draft, "make", counted_make)


def plan(
    pools: t.Any, platform: t.Any = None, catalogue: list[Data] | None = None
) -> tuple[Data, FakeServer]:
    """Return the plan of gpu_plan on a cluster on AWS, and the cluster."""
    server = FakeServer("Infrastructure", "ClusterAutoscaler")
    server.put(INFRASTRUCTURE)
    params: steps.GpuPlanParams = {
        "pools": pools,
        "gpu_pools_name": "gpu_pools",
        "platform": platform,
        "accelerator_limits": None,
        "backend": None,
        "catalogue": catalogue or [],
        "queues": [],
        "networks": [],
        "incomplete": [],
        "prices": None,
        "cost_classes": None,
        "replicas": {},
        "leftovers": False,
        "wait": True,
        "wait_timeout": 60,
    }
    return steps.plan(engine.api_on(server), params), server


def test_a_cluster_of_red_hat_makes_no_machines_and_the_command_is_there_before_any_other_question() -> None:
    server = FakeServer("Infrastructure", "Node")
    tags = [{"key": "red-hat-clustertype", "value": "rosa"}]
    told = {"type": "AWS", "aws": {"resourceTags": tags}}
    server.put(INFRASTRUCTURE | {"status": {"infrastructureName": "demo", "platformStatus": told}})
    params = PARAMS | {"pools": POOLS}
    with pytest.raises(AcceleratorError) as caught:
        steps.plan(engine.api_on(server), t.cast(steps.GpuPlanParams, params))
    assert caught.value.code == "MACH-NO-API"
    assert caught.value.message.startswith(
        "This cluster has no Machine API that this collection may use: Red Hat "
    )
    assert caught.value.remedy.startswith("Run `rosa create machinepool --cluster CLUSTER_NAME --name t4 ")


def test_a_run_plans_each_pool_once(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = Calls(monkeypatch)
    made, _server = plan(POOLS)
    assert (calls.read, calls.made) == (2, 2)
    on_aws = Place("aws", "demo-x7k2p")
    scaled, own = made["pools"]
    drafted = draft(t.cast(GpuMachinesetParams, {"pool": scaled}))
    drafted.check()
    (machines,) = drafted.pools(on_aws)
    autoscaled = pool_plan.draft(made["pools"], "pools").pools(Place())
    obtained = {**scaled, "candidates": scaled["candidates"][:1]}
    again, _server = plan([own, obtained])
    assert (calls.read, calls.made) == (2, 2)
    assert [pool.as_result() for pool in (machines, *autoscaled)] == [scaled, scaled, own]
    assert again["pools"] == [own, obtained]


def test_a_description_is_planned_once_by_the_module_that_gets_it(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = Calls(monkeypatch)
    drafted = draft(t.cast(GpuMachinesetParams, {"pool": POOLS[0]}))
    drafted.check()
    (pool,) = drafted.pools(Place("aws", "demo-x7k2p"))
    assert (calls.read, calls.made) == (1, 1)
    assert pool.as_result() == plan(POOLS)[0]["pools"][0]


def test_wrong_input_costs_no_request() -> None:
    server = FakeServer("Infrastructure", "ClusterAutoscaler")
    with pytest.raises(InputError):
        steps.plan(
            engine.api_on(server),
            t.cast("steps.GpuPlanParams", {**PARAMS, "pools": [{**POOLS[0], "taints": "x"}]}),
        )
    assert server.requests == []


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"candidates": [{"instance_type": "Standard_NC24ads_A100_v4"}]}, "POOL-INSTANCE-TYPE"),
        ({"azure": {"ultra_disks": True}}, "POOL-PLATFORM"),
        ({"name": "a-name-that-is-much-too-long-for-machine-set"}, "POOL-NAME"),
    ],
)
def test_what_the_platform_forbids_is_found_with_the_platform(changes: Data, code: str) -> None:
    with pytest.raises(InputError) as caught:
        plan([{**POOLS[0], **changes}])
    assert code in [one["code"] for one in caught.value.facts["problems"]]


def test_a_type_that_the_platform_makes_another_one_is_resolved_again() -> None:
    """Without a platform the name is AWS's; on a platform with names of its own it is what the user says."""
    pool = {
        "name": "own",
        "candidates": [{"instance_type": "g4dn.xlarge", "gpus": 3, "gpu_model": "L4"}],
        "replicas": 1,
    }
    first = pool_draft.single(pool)
    first.check()
    (found,) = first.pools(Place("openstack"))
    (alone,) = pool_draft.single(pool).pools(Place("openstack"))
    assert found == alone


@pytest.mark.parametrize(
    "changes",
    [{"candidates": [{"instance_type": "g4dn.xlarge"}]}, {"market": {"kind": "spot"}}, {"replicas": "many"}],
)
def test_what_is_no_plan_is_refused_with_the_path(changes: Data) -> None:
    planned, _server = plan(POOLS)
    with pytest.raises(InputError) as caught:
        Pool.from_result({**planned["pools"][0], **changes}, "pools[0]")
    assert caught.value.code == "POOL-TYPE"
    assert caught.value.message.startswith("pools[0]: must be a pool as gpu_plan returns it")


def test_a_plan_for_another_platform_is_refused() -> None:
    planned, _server = plan([{**POOLS[0], "aws": {"placement_group": "gpus"}}], "aws")
    with pytest.raises(InputError) as caught:
        pool_draft.single(planned["pools"][0]).pools(Place("azure"))
    assert {one["code"] for one in caught.value.facts["problems"]} == {"POOL-PLATFORM"}


def test_the_keys_of_a_pool_are_those_of_the_table() -> None:
    assert {*schema.POOL, "expected", "node_selector"} == model.KEYS


def test_a_key_that_no_pool_has_is_refused_with_the_one_that_is_meant() -> None:
    with pytest.raises(InputError) as caught:
        draft(t.cast(GpuMachinesetParams, {"pool": {**POOLS[0], "helth": {}}})).check()
    assert caught.value.code == "POOL-UNKNOWN-KEY"
    assert "Did you mean health?" in caught.value.remedy


def test_a_wrong_number_of_gpus_is_found_once_the_platform_is_known() -> None:
    wrong = {
        "name": "own",
        "candidates": [{"instance_type": "g4dn.xlarge", "gpus": 4, "zones": ["us-east-2a"]}],
        "replicas": 1,
    }
    draft = pool_draft.single(wrong)
    draft.check()
    with pytest.raises(InputError) as caught:
        draft.pools(Place("aws"))
    assert caught.value.code == "POOL-GPUS"


def test_a_planned_pool_makes_and_scales_machines_as_its_description() -> None:
    scaled = described(replicas=None, autoscale={"min": 1, "max": 2})
    cases = (described(), True, False), (scaled, True, True), (existing(a="b"), False, False)
    for given, makes, scales in cases:
        for pools in ([given], pool_builders.plan([given], cloud="aws")["pools"]):
            checked = pool_plan.draft(pools)
            checked.check(Place("aws"))
            assert (checked.makes_machines, checked.is_scaled) == (makes, scales)
