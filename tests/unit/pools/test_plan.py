"""gpu_pools: what follows from a sound description."""

from __future__ import annotations

import typing as t
from pathlib import Path

import pytest
import yaml
from unit import pool_builders
from unit.pools.builders import DRIVER, TAINT, Data, candidate, existing, pool

from ansible_collections.accelerators.openshift.plugins.module_utils._catalogue.overrides import extended
from ansible_collections.accelerators.openshift.plugins.module_utils._nodes.taints import (
    FAILED_TOLERATION,
    STARTUP_TOLERATION,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._platforms.registry import BY_KEY
from ansible_collections.accelerators.openshift.plugins.module_utils._pools import (
    draft as pool_draft,
    plan as pool_plan,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._pools.draft import Place

# A list is a playbook, which says what it needs by itself, and a mapping with a plugin is an inventory.
EXAMPLES = sorted(
    path
    for path in (Path(__file__).resolve().parents[3] / "examples").rglob("*.yml")
    if isinstance(content := yaml.safe_load(path.read_text()), dict) and "plugin" not in content
)


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
    common = {"accelerator": "nvidia-t4", "expected": {"nvidia.com/gpu": 1}}
    facts = {"gpu_model": "T4", "gpus_per_node": 1, "gpu_memory_gib": 16, "gpu_share": "1"}
    machine = {"instance_type": "g4dn.xlarge", "zones": ["us-east-2a"], "vcpus": 4, "memory_gib": 16}
    kind = {"arch": "amd64", "vendor": "nvidia", "driver": "datacenter", "mig_capable": False}
    empty: Data = {"quota": [], "priority": [], "autoscale": {}, "disk": {}, "sharing": {}, "tuning": {}}
    counts = {"replicas": 2, "min_replicas": 2, "existing": False, "mixed": False, "labels": {"team": "ml"}}
    assert planned == {
        **empty,
        **common,
        **counts,
        "name": "t4",
        "candidates": [{**common, **facts, **machine, **kind}],
        "market": {"type": "on_demand"},
        "node_selector": {"accelerators.openshift/pool": "t4"},
        "taints": [TAINT, other, {"key": "x", "effect": "PreferNoSchedule"}],
        "validate": {"benchmark": "vectoradd"},
    }
    assert plan["tolerations"] == [
        {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"},
        {"key": "team", "operator": "Equal", "value": "ml", "effect": "NoSchedule"},
        {"key": "x", "operator": "Exists", "effect": "PreferNoSchedule"},
    ]
    selected = {"node_selector": planned["node_selector"], "min_nodes": 2}
    group = {"name": "t4", "expected": {"nvidia.com/gpu": 1}, **selected}
    assert plan["groups"] == [{**group, "gpu_models": ["T4"]}]
    more = {"tolerations": plan["tolerations"], "benchmark": "vectoradd", "image": "", "claims": False}
    assert plan["validations"] == [{**group, **more}]
    assert plan["expected_labels"] == [
        {"labels": {"feature.node.kubernetes.io/pci-10de.present": "true"}, **selected}
    ]


def test_types_with_other_numbers_of_gpus_are_groups_of_their_own() -> None:
    kinds = candidate("g4dn.xlarge") + candidate("g4dn.12xlarge")
    found = pool_builders.plan([pool(mixed=True, candidates=kinds)], cloud="aws")["groups"]
    assert [(*group["node_selector"].values(), *group["expected"].values()) for group in found] == [
        *(("t4", "g4dn.xlarge", 1), ("t4", "g4dn.12xlarge", 4))
    ]


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
    assert "only namespaces without a quota can use the other 1" in plan["remarks"][0]


def test_old_gpus_without_a_driver_of_their_own_are_told_before_a_machine_is_bought() -> None:
    old = pool(candidates=candidate("p3.2xlarge"))
    (remark,) = pool_builders.plan([old], cloud="aws")["remarks"]
    assert "names no driver, and 580 is the last branch with a driver for V100 GPUs" in remark
    assert "driver: {version: 580." in remark
    last = DRIVER | {"version": "580.173.02"}
    assert pool_builders.plan([old | {"driver": last}], cloud="aws")["remarks"] == []


def test_devices_that_the_usual_driver_does_not_serve_are_told() -> None:
    kinds = candidate("Standard_NV6ads_A10_v5", "1") + candidate("Standard_NV36ads_A10_v5", "1")
    needs = "its A10 as a vGPU: it needs NVIDIA's GRID guest driver and a licence"
    assert pool_builders.plan([pool(candidates=kinds, mixed=True)], cloud="azure")["remarks"] == [
        f"gpu_pools: Standard_NV6ads_A10_v5 of pool t4 has 1/6 of {needs}",
        f"gpu_pools: Standard_NV36ads_A10_v5 of pool t4 has {needs}",
    ]


def test_a_type_is_known_before_the_platform_is() -> None:
    assert pool_builders.plan([pool()])["pools"] == pool_builders.plan([pool()], cloud="aws")["pools"]


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
        [
            {
                "platform": "aws",
                "instance_type": "p9.48xlarge",
                "gpus": 8,
                "gpu_model": "L4",
                "gpu_share": "1/4",
            }
        ]
    )
    (planned,) = pool_builders.plan([pool(candidates=candidate("p9.48xlarge"))], cloud="aws", catalogue=own)[
        "pools"
    ]
    assert (planned["candidates"][0]["gpu_share"], planned["candidates"][0]["driver"]) == ("1/4", "grid")
    assert pool_builders.plan([planned], cloud="aws")["pools"] == [planned]


def test_a_market_with_its_fields() -> None:
    (planned,) = pool_builders.plan([pool(market={"type": "spot", "max_price": "1.2"})], cloud="aws")["pools"]
    assert planned["market"] == {"type": "spot", "max_price": "1.2"}


def test_a_pool_may_choose_only_the_kernel_modules() -> None:
    plan = pool_builders.plan([pool(driver={"kernel_module_type": "open"})], cloud="aws")
    assert plan["stack"] == {"backend": "clusterpolicy", "driver": {"kernel_module_type": "open"}}


def test_what_a_pool_has_run_beside_its_driver_needs_an_nvidia_driver() -> None:
    more = {"rdma": {"enabled": True}, "env": [{"name": "A", "value": "1"}]}
    plan = pool_builders.plan([pool(driver=more), pool(name="b", driver=more)], cloud="aws")
    assert plan["stack"] == {"backend": "clusterpolicy", "driver": more}
    beside = more | {"gds": {"enabled": True}, "gdrcopy": {"enabled": True}}
    plan = pool_builders.plan([pool(driver=beside), pool(name="b", driver=beside)], cloud="aws")
    assert plan["stack"] == {"backend": "nvidiadriver", "driver": {}}
    assert [group["driver"] for group in plan["groups"]] == [beside, beside]


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


@pytest.mark.parametrize(
    "apart", [[pool(), existing(rack="r1")], [existing(rack="r1"), {**existing(rack="r2"), "name": "b"}]]
)
def test_pools_on_different_nodes(apart: list[Data]) -> None:
    assert len(pool_builders.plan(apart, cloud="aws")["pools"]) == 2


def test_a_known_prefix_leaves_more_room_for_the_name() -> None:
    name = "a" * 30
    assert pool_builders.plan([pool(name=name)], cloud="aws", prefix="demo-x7k2p")["pools"][0]["name"] == name


def test_nothing_waits_for_nodes_of_a_pool_without_machines_and_operands_still_tolerate_it() -> None:
    pools = pool_draft.single(pool(taints=[TAINT])).pools(Place("aws"))
    whole, less = (pool_plan.assemble(pools, incomplete=names).outputs for names in ((), ("t4",)))
    assert [one["min_nodes"] for one in whole["groups"] + whole["validations"]] == [2, 2]
    assert [one["min_nodes"] for one in less["groups"] + less["validations"]] == [0, 0]
    assert [one["min_nodes"] for one in less["expected_labels"]] == [0]
    assert less["tolerations"] == whole["tolerations"]
    assert less["quotas"] == whole["quotas"]


@pytest.mark.parametrize(
    ("queues", "pools"),
    [
        ([{"name": "q", "pools": [{"name": "a", "gpus": 2}, {"name": "b"}]}], {"a", "b"}),
        ([{"pools": "a"}, "text", {"pools": [1, {"name": "c"}]}], {"c"}),
        ("text", set()),
        (None, set()),
    ],
)
def test_pools_of_queues_are_found_in_what_nobody_has_checked(queues: t.Any, pools: set[str]) -> None:
    assert pool_plan.given_away(queues) == pools


def test_quotas_do_not_warn_of_what_queues_give_away() -> None:
    described = {
        "name": "training",
        "candidates": [{"instance_type": "g4dn.xlarge", "zones": ["us-east-2a"]}],
        "replicas": 2,
        "quota": [{"namespace": "team-a", "gpus": 1}],
    }
    pools = pool_plan.draft([described]).pools(Place("aws", None, None))
    assert pool_plan.assemble(pools).warnings == (
        "gpu_pools: the pools offer 2 nvidia.com/gpu, but the quotas allow only 1 in total: only namespaces "
        "without a quota can use the other 1",
    )
    enough = described | {"quota": [{"namespace": name, "gpus": 1} for name in ("a", "b")]}
    assert pool_plan.assemble(pool_plan.draft([enough]).pools(Place("aws", None, None))).warnings == ()
    assert pool_plan.assemble(pools, given={"training"}).warnings == ()


def test_operands_and_validations_come_onto_nodes_that_are_closed_to_others() -> None:
    gated = pool(validate={"gate": True, "on_failure": "taint"})
    plan = pool_builders.plan([gated, pool(name="b")], cloud="aws")
    ours = [STARTUP_TOLERATION, FAILED_TOLERATION]
    assert plan["tolerations"][-2:] == ours
    (first, second) = plan["validations"]
    assert (first["gate"], first["tolerations"][-2:]) == (True, ours)
    assert "gate" not in second
    assert STARTUP_TOLERATION not in second["tolerations"]
    assert plan["pools"][0]["taints"] == [], "no pod of a user is told to tolerate it"
