"""gpu_pools: what follows from a sound description, and every way to get it wrong."""

from __future__ import annotations

import typing as t
from pathlib import Path

import pytest
import yaml
from unit import pool_builders

from ansible_collections.accelerators.openshift.plugins.module_utils._catalogue.overrides import extended
from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import InputError
from ansible_collections.accelerators.openshift.plugins.module_utils._platforms.registry import BY_KEY

Data = dict[str, t.Any]
# An example that is a list is a playbook, which says what it needs by itself.
EXAMPLES = sorted(
    path
    for path in (Path(__file__).resolve().parents[3] / "examples").rglob("*.yml")
    if isinstance(yaml.safe_load(path.read_text()), dict)
)
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


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_every_example_is_sound(path: Path) -> None:
    given = yaml.safe_load(path.read_text())
    pools = given["gpu_pools"]
    # An example for one platform is named after it.
    platform = path.stem.partition("-")[0]
    planned = pool_builders.plan(
        pools,
        cloud=platform if platform in BY_KEY else "aws",
        prefix="demo-x7k2p",
        backend=given.get("gpu_backend"),
    )
    assert [one["name"] for one in planned["pools"]] == [one["name"] for one in pools]
    assert planned["remarks"] == []


def test_the_plan_of_a_pool() -> None:
    other = {"key": "team", "value": "ml", "effect": "NoSchedule"}
    plan = pool_builders.plan(
        [
            pool(
                taints=[TAINT, other, {"key": "x", "effect": "PreferNoSchedule"}],
                labels={"team": "ml"},
                replicas="2",
            )
        ],
        cloud="aws",
    )
    (planned,) = plan["pools"]
    assert (
        planned["candidates"][0]
        | {"gpu_model": "T4", "gpus_per_node": 1, "arch": "amd64", "vcpus": 4, "memory_gib": 16}
        == planned["candidates"][0]
    )
    assert (planned["replicas"], planned["min_replicas"], planned["market"], planned["accelerator"]) == (
        2,
        2,
        {"type": "on_demand"},
        "nvidia-t4",
    )
    assert planned["expected"] == {"nvidia.com/gpu": 1}
    assert planned["node_selector"] == {"accelerators.openshift/pool": "t4"}
    assert plan["tolerations"] == [
        {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"},
        {"key": "team", "operator": "Equal", "value": "ml", "effect": "NoSchedule"},
        {"key": "x", "operator": "Exists", "effect": "PreferNoSchedule"},
    ]
    assert (
        plan["validations"][0] | {"pool": "t4", "benchmark": "vectoradd", "expected": {"nvidia.com/gpu": 1}}
        == plan["validations"][0]
    )
    assert plan["expected_labels"][0]["count"] == 2


def test_quotas_of_pools_are_added_up() -> None:
    pools = [
        pool(
            quota=[
                {"namespace": "a", "gpus": 1},
                {
                    "namespace": "b",
                    "name": "own",
                    "hard": {"requests.nvidia.com/gpu": 1, "requests.memory": "64Gi"},
                },
            ]
        ),
        pool(name="other", quota=[{"namespace": "a", "gpus": 1}]),
    ]
    plan = pool_builders.plan(pools, cloud="aws")
    assert plan["quotas"] == [
        {"namespace": "a", "name": "gpu-quota", "hard": {"requests.nvidia.com/gpu": "2"}},
        {
            "namespace": "b",
            "name": "own",
            "hard": {"requests.memory": "64Gi", "requests.nvidia.com/gpu": "1"},
        },
    ]
    assert "4 nvidia.com/gpu" in plan["remarks"][0]
    assert "1 can be used only by namespaces without a quota" in plan["remarks"][0]


def test_a_priority_class_that_pools_share_is_made_once() -> None:
    one = {"name": "high", "value": 100}
    assert pool_builders.plan([pool(priority=[one]), pool(name="b", priority=[one])], cloud="aws")[
        "priorities"
    ] == [{"name": "high", "value": 100, "preemption_policy": "PreemptLowerPriority", "description": ""}]


def test_nodes_that_exist_are_a_pool_without_machines() -> None:
    (planned,) = pool_builders.plan([existing(2, rack="r1")], cloud="aws")["pools"]
    assert (planned["candidates"], planned["replicas"], planned["existing"]) == ([], 0, True)
    assert (planned["node_selector"], planned["expected"]) == ({"rack": "r1"}, {"nvidia.com/gpu": 2})


def test_a_type_that_is_newer_than_the_catalogue() -> None:
    (planned,) = pool_builders.plan(
        [pool(candidates=candidate("p9.48xlarge", gpus=8, gpu_model="R100"))], cloud="aws"
    )["pools"]
    assert (planned["expected"], planned["accelerator"]) == ({"nvidia.com/gpu": 8}, "nvidia-r100")


def test_what_a_candidate_says_of_a_type_stays_with_it() -> None:
    facts = {
        "gpus": 4,
        "gpu_model": "GB200",
        "gpu_memory_gib": 186,
        "vcpus": 144,
        "memory_gib": 960,
        "arch": "arm64",
        "driver": "datacenter",
    }
    (planned,) = pool_builders.plan([pool(candidates=candidate("p9.48xlarge", **facts))], cloud="aws")[
        "pools"
    ]
    (found,) = planned["candidates"]
    assert {key: found[key] for key in ("arch", "vcpus", "memory_gib", "gpu_memory_gib", "mig_capable")} == {
        "arch": "arm64",
        "vcpus": 144,
        "memory_gib": 960,
        "gpu_memory_gib": 186,
        "mig_capable": True,
    }
    assert pool_builders.plan([planned], cloud="aws")["pools"] == [planned]


def test_a_catalogue_of_one_s_own_is_needed_once() -> None:
    own = extended(
        [{"cloud": "aws", "instance_type": "p9.48xlarge", "gpus": 8, "gpu_model": "L4", "gpu_share": "1/4"}]
    )
    (planned,) = pool_builders.plan([pool(candidates=candidate("p9.48xlarge"))], cloud="aws", catalogue=own)[
        "pools"
    ]
    assert (planned["candidates"][0]["gpu_share"], planned["candidates"][0]["driver"]) == ("1/4", "grid")
    assert pool_builders.plan([planned], cloud="aws")["pools"] == [planned]


def test_other_types_that_are_offered_are_nvidia_s() -> None:
    with pytest.raises(InputError) as caught:
        pool_builders.plan([pool(candidates=candidate("dl1.24xlarge"))], cloud="aws")
    assert "p4d.24xlarge" in caught.value.remedy
    assert "dl2q" not in caught.value.remedy
    assert "accelerator: intel-gaudi" in caught.value.remedy


def test_a_pool_has_devices_of_one_vendor() -> None:
    mixed = candidate("g4ad.xlarge") + candidate("g4dn.xlarge")
    assert problems([pool(candidates=mixed, accelerator="amd-v520")]) == [
        ("POOL-VENDOR", "gpu_pools[0].candidates")
    ]


def test_a_market_with_its_fields() -> None:
    (planned,) = pool_builders.plan([pool(market={"type": "spot", "max_price": "1.2"})], cloud="aws")["pools"]
    assert planned["market"] == {"type": "spot", "max_price": "1.2"}


@pytest.mark.parametrize(
    ("changes", "code", "path"),
    [
        ({"replica": 2}, "POOL-UNKNOWN-KEY", "replica"),
        ({"name": None}, "POOL-REQUIRED", "name"),
        ({"name": "T_4"}, "POOL-VALUE", "name"),
        ({"name": "a" * 40}, "POOL-NAME", "name"),
        ({"candidates": []}, "POOL-REQUIRED", "candidates"),
        ({"candidates": "g4dn.xlarge"}, "POOL-TYPE", "candidates"),
        ({"candidates": [{"instance_type": "g4dn.xlarge"}]}, "POOL-REQUIRED", "candidates[0].zones"),
        ({"candidates": candidate("g4dn.xlarge", "a", "a")}, "POOL-DUPLICATE", "candidates[0].zones"),
        ({"candidates": candidate("g4dn.xlarg")}, "POOL-INSTANCE-TYPE", "candidates[0].instance_type"),
        (
            {"candidates": candidate("Standard_NC4as_T4_v3")},
            "POOL-INSTANCE-TYPE",
            "candidates[0].instance_type",
        ),
        ({"candidates": candidate("g4ad.xlarge")}, "POOL-VENDOR", "candidates[0].instance_type"),
        ({"replicas": None}, "POOL-REQUIRED", "replicas"),
        ({"replicas": "two"}, "POOL-TYPE", "replicas"),
        ({"replicas": True}, "POOL-TYPE", "replicas"),
        ({"replicas": -1}, "POOL-VALUE", "replicas"),
        ({"min_replicas": 3}, "POOL-CONFLICT", "min_replicas"),
        ({"autoscale": {"min": 0, "max": 2}}, "POOL-CONFLICT", "autoscale"),
        (
            {"replicas": None, "autoscale": {"min": 1, "max": 2}, "min_replicas": 1},
            "POOL-CONFLICT",
            "min_replicas",
        ),
        ({"replicas": None, "autoscale": {"min": 1, "max": 2}, "mixed": True}, "POOL-CONFLICT", "autoscale"),
        (
            {
                "replicas": None,
                "autoscale": {"min": 0, "max": 2},
                "candidates": candidate("g4ad.xlarge"),
                "accelerator": "amd-v520",
            },
            "POOL-AUTOSCALE-ZERO",
            "autoscale.min",
        ),
        ({"replicas": None, "autoscale": {"min": 3, "max": 2}}, "POOL-CONFLICT", "autoscale.min"),
        (
            {
                "replicas": None,
                "autoscale": {"min": 0, "max": 2},
                "sharing": {"mps": {"replicas": 2, "rename": True}},
            },
            "POOL-AUTOSCALE-ZERO",
            "autoscale.min",
        ),
        ({"market": "spott"}, "POOL-VALUE", "market"),
        ({"market": {"type": "spot", "reservation": "cr-1"}}, "POOL-MARKET", "market.reservation"),
        ({"market": "capacity_block"}, "POOL-MARKET", "market.reservation"),
        ({"market": {"type": "on_demand", "max_price": "1"}}, "POOL-MARKET", "market.max_price"),
        ({"taints": [{"key": "a", "effect": "Never"}]}, "POOL-VALUE", "taints[0].effect"),
        ({"taints": [{"key": "a", "value": True, "effect": "NoSchedule"}]}, "POOL-TYPE", "taints[0].value"),
        ({"taints": [{"key": "a", "effect": "NoExecute"}]}, "POOL-TAINT", "taints[0].effect"),
        ({"taints": [TAINT, TAINT]}, "POOL-DUPLICATE", "taints[1]"),
        ({"labels": {"a": True}}, "POOL-LABEL", "labels.a"),
        ({"labels": {"a": 1}}, "POOL-LABEL", "labels.a"),
        ({"labels": {"a": "b/c"}}, "POOL-LABEL", "labels.a"),
        ({"labels": {"a b": "c"}}, "POOL-LABEL", "labels.a b"),
        ({"labels": {"cluster-api/accelerator": "x"}}, "POOL-LABEL", "labels.cluster-api/accelerator"),
        ({"accelerator": "nvidia.com/gpu"}, "POOL-VALUE", "accelerator"),
        ({"disk": {"type": "gp2", "iops": 3000}}, "POOL-DISK", "disk.iops"),
        ({"disk": {"type": "io2"}}, "POOL-DISK", "disk.iops"),
        ({"disk": {"size": 100}}, "POOL-UNKNOWN-KEY", "disk.size"),
        ({"tuning": "gpu-training"}, "POOL-NOT-YET", "tuning"),
        ({"cdi": True}, "POOL-NOT-YET", "cdi"),
        ({"driver": DRIVER | {"kernel_module_type": "closed"}}, "POOL-VALUE", "driver.kernel_module_type"),
        (
            {"driver": DRIVER | {"kernel_module_type": "open"}, "candidates": candidate("p3.2xlarge")},
            "POOL-DRIVER",
            "driver.kernel_module_type",
        ),
        ({"candidates": candidate("g4dn.xlarge") + candidate("g5g.xlarge")}, "POOL-ARCH", "candidates"),
        (
            {"candidates": candidate("g5g.xlarge"), "validate": {"image": "x", "image_archs": ["amd64"]}},
            "POOL-ARCH",
            "validate.image",
        ),
        ({"sharing": {"mig": {"slices": 7}}}, "POOL-GEOMETRY", "sharing.mig"),
        (
            {"candidates": candidate("p4de.24xlarge"), "sharing": {"mig": {"profile": "1g.5gb"}}},
            "POOL-GEOMETRY",
            "sharing.mig.profile",
        ),
        (
            {"candidates": candidate("p4d.24xlarge"), "sharing": {"mig": {"slices": 7}}},
            "POOL-NOT-YET",
            "sharing",
        ),
        ({"sharing": {"mig": {"slices": 7}, "mps": {"replicas": 2}}}, "POOL-CONFLICT", "sharing"),
        ({"sharing": {"mig": {}}}, "POOL-CONFLICT", "sharing.mig"),
        ({"sharing": {"mps": {"replicas": 1}}}, "POOL-VALUE", "sharing.mps.replicas"),
        (
            {"sharing": {"mps": {"replicas": 2, "rename": True}}, "quota": [{"namespace": "a", "gpus": 1}]},
            "POOL-QUOTA-RENAMED",
            "quota[0].gpus",
        ),
        ({"quota": [{"namespace": "a"}]}, "POOL-CONFLICT", "quota[0]"),
        (
            {"quota": [{"namespace": "a", "hard": {"nvidia.com/gpu": 1}}]},
            "QUOTA-KEY",
            "quota[0].hard.nvidia.com/gpu",
        ),
        (
            {"quota": [{"namespace": "a", "hard": {"limits.nvidia.com/gpu": 1}}]},
            "QUOTA-KEY",
            "quota[0].hard.limits.nvidia.com/gpu",
        ),
        (
            {"quota": [{"namespace": "a", "hard": {"requests.nvidia.com/gpu": "1.5"}}]},
            "POOL-TYPE",
            "quota[0].hard.requests.nvidia.com/gpu",
        ),
        ({"priority": [{"name": "x", "value": 2000000000}]}, "POOL-VALUE", "priority[0].value"),
        ({"validate": {"benchmark": "hpl"}}, "POOL-VALUE", "validate.benchmark"),
        (
            {
                "existing": {"node_selector": {"a": "b"}, "expected": {"nvidia.com/gpu": 1}},
                "candidates": None,
            },
            "POOL-CONFLICT",
            "replicas",
        ),
        (
            NOBODY | {"existing": {"node_selector": {}, "expected": {"nvidia.com/gpu": 1}}},
            "POOL-VALUE",
            "existing.node_selector",
        ),
        (
            NOBODY | {"existing": {"node_selector": {"a": "b"}, "expected": {}}},
            "POOL-VALUE",
            "existing.expected",
        ),
    ],
    ids=str,
)
def test_one_thing_wrong(changes: Data, code: str, path: str) -> None:
    assert problems([pool(**changes)]) == [(code, f"gpu_pools[0].{path}")]


@pytest.mark.parametrize(
    ("pools", "code", "path"),
    [
        ([pool(), pool()], "POOL-DUPLICATE", "[1].name"),
        (
            [existing(rack="r1"), {**existing(rack="r1", row="2"), "name": "b"}],
            "POOL-OVERLAP",
            "[1].existing.node_selector",
        ),
        (
            [pool(), existing(1, **t.cast("Data", {"nvidia.com/gpu.present": "true"}))],
            "POOL-OVERLAP",
            "[1].existing.node_selector",
        ),
        ([pool(cdi=True), pool(name="b", cdi=False)], "POOL-CLUSTER-WIDE", "[1].cdi"),
        (
            [
                pool(priority=[{"name": "x", "value": 1}]),
                pool(name="b", priority=[{"name": "x", "value": 2}]),
            ],
            "POOL-CONFLICT",
            "[1].priority[0]",
        ),
        (
            [
                pool(quota=[{"namespace": "a", "hard": {"requests.memory": "1Gi"}}]),
                pool(name="b", quota=[{"namespace": "a", "hard": {"requests.memory": "2Gi"}}]),
            ],
            "POOL-CONFLICT",
            "[1].quota[0].hard.requests.memory",
        ),
    ],
)
def test_pools_that_contradict_each_other(pools: list[Data], code: str, path: str) -> None:
    assert (code, f"gpu_pools{path}") in problems(pools)


def test_pools_with_drivers_of_their_own() -> None:
    other = DRIVER | {"version": "580.95.05"}
    same = pool_builders.plan([pool(driver=DRIVER), pool(name="b", driver=DRIVER)], cloud="aws")
    assert same["stack"] == {"backend": "clusterpolicy", "driver": DRIVER}
    apart = pool_builders.plan(
        [pool(driver=DRIVER), pool(name="b", driver=other), pool(name="c")], cloud="aws"
    )
    assert apart["stack"] == {"backend": "nvidiadriver", "driver": {}}
    assert [group.get("driver") for group in apart["groups"]] == [DRIVER, other, None]
    assert apart["groups"][0]["gpu_models"] == ["T4"]


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
    assert "the pools offer 4 nvidia.com/gpu, the quotas together let 3 be used" in remark
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
            NOBODY | {"existing": {"node_selector": {"a": "b"}, "expected": {"nvidia.com/mig-1g.5gb": 7}}},
            "existing.expected.nvidia.com/mig-1g.5gb",
        ),
    ],
)
def test_what_only_a_device_plugin_does_is_refused_where_pods_claim(changes: Data, path: str) -> None:
    assert problems([pool(**changes)], backend="dra") == [("POOL-DRA", f"gpu_pools[0].{path}")]


def test_mig_strategies_of_two_pools_must_agree() -> None:
    one = pool(candidates=candidate("p4d.24xlarge"), sharing={"mig": {"slices": 7}})
    assert ("POOL-CLUSTER-WIDE", "gpu_pools[1].sharing.mig.strategy") in problems(
        [one, {**one, "name": "b", "sharing": {"mig": {"layout": {"1g.5gb": 7}}}}]
    )


@pytest.mark.parametrize(
    "apart", [[pool(), existing(rack="r1")], [existing(rack="r1"), {**existing(rack="r2"), "name": "b"}]]
)
def test_pools_on_different_nodes(apart: list[Data]) -> None:
    assert len(pool_builders.plan(apart, cloud="aws")["pools"]) == 2


def scaled(least: int = 0, most: int = 2, **more: t.Any) -> Data:
    return pool(replicas=None, autoscale={"min": least, "max": most}, **more)


def test_the_autoscaler_must_know_the_label() -> None:
    assert problems([scaled()], accelerator_limits=["nvidia-a100"]) == [
        ("POOL-ACCELERATOR", "gpu_pools[0].accelerator")
    ]
    assert pool_builders.plan([scaled()], cloud="aws", accelerator_limits=["nvidia-t4"])["pools"]


def test_a_scaled_pool_starts_with_its_minimum_and_may_have_no_nodes() -> None:
    plan = pool_builders.plan([scaled(quota=[{"namespace": "a", "gpus": 1}])], cloud="aws")
    (planned,) = plan["pools"]
    assert (planned["replicas"], planned["min_replicas"], planned["autoscale"]) == (
        0,
        0,
        {"min": 0, "max": 2},
    )
    assert [one["min_nodes"] for one in [*plan["groups"], *plan["validations"]]] == [0, 0]
    assert plan["expected_labels"][0]["count"] == 0
    assert "offer 2 nvidia.com/gpu" in plan["remarks"][0]
    assert pool_builders.plan([planned], cloud="aws") == plan | {"remarks": plan["remarks"]}


def test_bare_metal_must_say_what_a_host_is_made_of() -> None:
    kind = candidate("hgx", gpus=8, gpu_model="H100")
    kind[0] |= {"zones": [], "baremetal": {"host_selector": {"gpu": "h100"}}}
    assert problems([scaled(candidates=kind)], cloud="baremetal") == [
        ("POOL-AUTOSCALE-ZERO", "gpu_pools[0].candidates[0].vcpus")
    ]
    assert pool_builders.plan(
        [scaled(candidates=[kind[0] | {"vcpus": 128, "memory_gib": 1024}])], cloud="baremetal"
    )["pools"]
    assert pool_builders.plan([scaled(least=1, candidates=kind)], cloud="baremetal")["pools"]


def test_everything_is_told_at_once() -> None:
    found = problems(
        [pool(replicas="x", labels={"a": False}), pool(name="b", candidates=candidate("g4dn.xlarg"))],
        name="pools",
    )
    assert found == [
        ("POOL-TYPE", "pools[0].replicas"),
        ("POOL-LABEL", "pools[0].labels.a"),
        ("POOL-INSTANCE-TYPE", "pools[1].candidates[0].instance_type"),
    ]
    with pytest.raises(InputError) as caught:
        pool_builders.plan([pool(replicas="x", labels={"a": False})], cloud="aws")
    assert caught.value.code == "POOL-INVALID"
    assert all(
        text in caught.value.message
        for text in ("POOL-TYPE gpu_pools[0].replicas", "POOL-LABEL gpu_pools[0].labels.a")
    )


@pytest.mark.parametrize(
    ("raw", "path"),
    [({"name": "x"}, "gpu_pools"), ("x", "gpu_pools"), (["x"], "gpu_pools[0]"), ([None], "gpu_pools[0]")],
)
def test_a_description_of_another_shape(raw: t.Any, path: str) -> None:
    assert problems(raw)[0] == ("POOL-TYPE", path)


def test_the_nearest_name_is_offered() -> None:
    with pytest.raises(InputError, match=r"gpu_pools\[0\].*g4dn\.xlarg is not a known") as caught:
        pool_builders.plan([pool(candidates=candidate("g4dn.xlarg"))], cloud="aws")
    assert "g4dn.xlarge" in caught.value.remedy


def test_a_known_prefix_leaves_more_room_for_the_name() -> None:
    name = "a" * 30
    assert pool_builders.plan([pool(name=name)], cloud="aws", prefix="demo-x7k2p")["pools"][0]["name"] == name


def test_a_task_s_own_options_are_named_without_a_list() -> None:
    with pytest.raises(InputError) as caught:
        pool_builders.single(pool(taints=[{"key": "a", "effect": "NoExecute"}]), "aws")
    assert caught.value.facts["problems"][0]["path"] == "taints[0].effect"
