"""The programs of a pool as users write them, and each wrong input with its path."""

from __future__ import annotations

import math
import typing as t

import pytest
from unit import pool_builders
from unit.engine import api_on
from unit.fake_server import FakeServer
from unit.pools.builders import NOBODY, Data, candidate, existing, pool, problems
from unit.remedies.case import checked

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import InputError
from ansible_collections.accelerators.openshift.plugins.modules import gpu_plan

OWN: t.Final = {
    "program": "own",
    "image": "example.com/bench:1",
    "script": "run",
    "figure": r"rate: ([0-9.]+)",
    "expected": 10,
}
A100: t.Final = candidate("p4d.24xlarge")


def with_programs(*programs: t.Any, **more: t.Any) -> Data:
    return pool(**{"validate": {"programs": list(programs)}, **more})


def told(given: Data) -> list[dict[str, str]]:
    with pytest.raises(InputError) as caught:
        pool_builders.plan([given], cloud="aws")
    found: list[dict[str, str]] = caught.value.facts["problems"]
    return found


def test_names_and_mappings_in_the_order_in_which_they_run() -> None:
    given = with_programs(
        {"program": "nccl", "nodes": 2}, "vectoradd", {"program": "dcgm", "level": 3}, "matmul"
    )
    (validation,) = pool_builders.plan([given], cloud="aws")["validations"]
    assert validation["programs"] == [
        {"program": "vectoradd"},
        {"program": "matmul"},
        {"program": "dcgm", "level": 3},
        {"program": "nccl", "nodes": 2},
    ]


def test_what_a_user_does_not_set_is_not_passed() -> None:
    (validation,) = pool_builders.plan([pool()], cloud="aws")["validations"]
    assert not {"programs", "tolerance", "on_failure", "gate"} & set(validation)
    given = with_programs(OWN, candidates=A100)
    given["validate"] |= {"tolerance": 0.05, "on_failure": "cordon"}
    (validation,) = pool_builders.plan([given], cloud="aws")["validations"]
    assert (validation["tolerance"], validation["on_failure"]) == (0.05, "cordon")
    assert validation["programs"][0]["expected"] == {"figure": 10.0}


AT: t.Final = "gpu_pools[0].validate.programs"


@pytest.mark.parametrize(
    ("entry", "code", "path"),
    [
        ("matmull", "POOL-VALUE", "[0]"),
        ({"program": "hpl"}, "POOL-VALUE", "[0].program"),
        ({"level": 2}, "POOL-VALUE", "[0].program"),
        (7, "POOL-TYPE", "[0]"),
        ({"program": "matmul", "level": 2}, "POOL-UNKNOWN-KEY", "[0].level"),
        ({"program": "dcgm", "level": 0}, "POOL-VALUE", "[0].level"),
        ({"program": "dcgm", "level": 5}, "POOL-VALUE", "[0].level"),
        ({"program": "dcgm", "expected": {"x": 1}}, "POOL-UNKNOWN-KEY", "[0].expected"),
        ({"program": "nccl", "nodes": 0}, "POOL-VALUE", "[0].nodes"),
        ({"program": "nccl", "nodes": 3}, "POOL-TOO-MANY", "[0].nodes"),
        ({"program": "matmul", "types": ["fp4"]}, "POOL-VALUE", "[0].types[0]"),
        ({"program": "matmul", "types": ["fp8"]}, "POOL-VALUE", "[0].types"),
        ({"program": "matmul", "types": ["fp16", "bf16"]}, "POOL-VALUE", "[0].types"),
        ({"program": "matmul", "seconds": 0}, "POOL-VALUE", "[0].seconds"),
        ({"program": "matmul", "seconds": 3601}, "POOL-VALUE", "[0].seconds"),
        ({"program": "nccl", "nodes": 1001}, "POOL-VALUE", "[0].nodes"),
        ({"program": "rdma", "network": "a", "nodes": 1}, "POOL-VALUE", "[0].nodes"),
        ("rdma", "POOL-REQUIRED", "[0].network"),
        ({"program": "rdma", "network": "a", "nodes": 4}, "POOL-VALUE", "[0].nodes"),
        ({"program": "rdma", "network": "a", "gpu_memory": 1}, "POOL-TYPE", "[0].gpu_memory"),
        ({"program": "matmul", "network": "a"}, "POOL-UNKNOWN-KEY", "[0].network"),
        ({"program": "matmul", "expected": {"fp16": 0}}, "POOL-VALUE", "[0].expected.fp16"),
        ({"program": "matmul", "expected": {"fp16": -1}}, "POOL-VALUE", "[0].expected.fp16"),
        ({"program": "matmul", "expected": {"fp16": True}}, "POOL-VALUE", "[0].expected.fp16"),
        ({"program": "matmul", "expected": {"fp16": "30"}}, "POOL-VALUE", "[0].expected.fp16"),
        ({"program": "matmul", "expected": {"fp16": math.nan}}, "POOL-VALUE", "[0].expected.fp16"),
        ({"program": "matmul", "expected": {"fp16": math.inf}}, "POOL-VALUE", "[0].expected.fp16"),
        ({"program": "matmul", "expected": {"fp61": 30}}, "POOL-VALUE", "[0].expected.fp61"),
        ({**OWN, "expected": {"tokens": 30}}, "POOL-VALUE", "[0].expected.tokens"),
        ({"program": "matmul", "expected": 30}, "POOL-TYPE", "[0].expected"),
        ({"program": "matmul", "tolerance": 0}, "POOL-VALUE", "[0].tolerance"),
        ({"program": "matmul", "tolerance": 1}, "POOL-VALUE", "[0].tolerance"),
        ({"program": "matmul", "image": "example.com/a:1:2"}, "POOL-VALUE", "[0].image"),
        ({"program": "matmul", "image": "example.com:5000/a"}, "POOL-VALUE", "[0].image"),
        ({**OWN, "image": "a"}, "POOL-VALUE", "[0].image"),
        ({key: value for key, value in OWN.items() if key != "image"}, "POOL-REQUIRED", "[0].image"),
        ({"program": "resnet50", "variant": "2020"}, "POOL-VALUE", "[0].variant"),
        ({**OWN, "expected": 0}, "POOL-VALUE", "[0].expected"),
        ({**OWN, "figure": "rate: [0-9.]+"}, "POOL-VALUE", "[0].figure"),
        ({**OWN, "figure": "(a)(b)"}, "POOL-VALUE", "[0].figure"),
        ({**OWN, "figure": "rate: ("}, "POOL-VALUE", "[0].figure"),
        ({key: value for key, value in OWN.items() if key != "script"}, "POOL-REQUIRED", "[0].script"),
        ({key: value for key, value in OWN.items() if key != "expected"}, "POOL-REQUIRED", "[0].expected"),
    ],
)
def test_a_wrong_entry_is_refused_with_its_path(entry: t.Any, code: str, path: str) -> None:
    assert problems([with_programs(entry)]) == [(code, f"{AT}{path}")]


def test_every_option_of_a_program_is_passed() -> None:
    def judged(figure: str) -> Data:
        return {"image": "example.com/a:1", "expected": {figure: 1.0}, "tolerance": 0.5}

    wanted: list[Data] = [
        *({"program": name, "image": "example.com/a:1"} for name in ("nvidia_smi", "vectoradd")),
        {
            "program": "matmul",
            **judged("bf16"),
            "seconds": 3600,
            "types": ["fp32", "tf32", "bf16", "fp16", "fp8"],
        },
        *({"program": "dcgm", "image": "example.com/a:1", "level": level} for level in (1, 4)),
        {"program": "nvbandwidth", **judged("host_to_device")},
        {"program": "nccl", **judged("loopback"), "nodes": 1000},
        *({"program": "resnet50", **judged("images"), "variant": variant} for variant in ("current", "2019")),
        *({"program": name, "seconds": 1} for name in ("gpu_burn", "trtexec")),
        {"program": "vllm", **judged("ttft"), "model": "m"},
        *({**OWN, "expected": judged("figure")["expected"], "better": way} for way in ("higher", "lower")),
        {**OWN, **judged("figure"), "name": "mine", "unit": "GB/s", "seconds": 3},
    ]
    many = with_programs(*wanted, candidates=candidate("p5.48xlarge"), replicas=1000)
    (validation,) = pool_builders.plan([many], cloud="aws")["validations"]
    assert validation["programs"] == wanted


def test_the_nearest_name_of_an_unknown_program_is_said() -> None:
    (problem,) = told(with_programs("matmull"))
    assert "matmul" in f"{problem['message']} {problem['remedy']}"


@pytest.mark.parametrize("value", [[], "matmul", {"matmul": 1}])
def test_programs_are_a_list_with_entries(value: t.Any) -> None:
    assert problems([pool(validate={"programs": value})]) == [("POOL-TYPE", AT)]


def test_one_program_is_not_in_the_list_twice() -> None:
    assert problems([with_programs("matmul", "matmul")]) == [("POOL-DUPLICATE", AT)]


@pytest.mark.parametrize("key", ["benchmark", "image"])
def test_programs_and_the_old_keys_exclude_each_other(key: str) -> None:
    given = with_programs("vectoradd")
    given["validate"][key] = "matmul"
    assert ("POOL-CONFLICT", f"gpu_pools[0].validate.{key}") in problems([given])


def test_a_program_of_ones_own_needs_its_options() -> None:
    for name in ("own", "rdma"):
        assert problems([pool(validate={"benchmark": name})]) == [
            ("POOL-VALUE", "gpu_pools[0].validate.benchmark")
        ]


@pytest.mark.parametrize("value", [0, 1, -0.1, "much", True])
def test_a_tolerance_is_a_share(value: t.Any) -> None:
    assert problems([pool(validate={"tolerance": value})]) == [
        ("POOL-VALUE", "gpu_pools[0].validate.tolerance")
    ]


def test_types_fit_the_gpus_of_the_pool() -> None:
    assert problems([with_programs({"program": "matmul", "types": ["fp8"]}, candidates=A100)]) == [
        ("POOL-VALUE", f"{AT}[0].types")
    ]
    for kind in ("p3.2xlarge", "g4dn.xlarge"):
        old = with_programs({"program": "matmul", "types": ["tf32"]}, candidates=candidate(kind))
        assert problems([old]) == [("POOL-VALUE", f"{AT}[0].types")]
    burned = with_programs({"program": "gpu_burn", "seconds": 60})
    assert pool_builders.plan([burned], cloud="aws")["validations"]
    good = with_programs({"program": "matmul", "types": ["tf32", "bf16"]}, candidates=A100)
    assert pool_builders.plan([good], cloud="aws")["validations"]


@pytest.mark.parametrize(
    ("models", "lacking"),
    [
        ("P100 P4 M60 T4", ["tf32", "bf16", "fp8"]),
        ("A10 A10G A16 A2 A30 A40", ["fp8"]),
        ("L4 L40S H100", []),
    ],
)
def test_types_that_a_generation_of_gpus_lacks(models: str, lacking: list[str]) -> None:
    types = {"program": "matmul", "types": ["tf32", "bf16", "fp16", "fp32", "fp8"]}
    for model in models.split():
        kind = candidate("of-mine", gpus=1, gpu_model=model)
        given = with_programs(types, candidates=kind)
        found = [one["message"] for one in told(given)] if lacking else []
        those = ", ".join(f"{one} ({model})" for one in lacking)
        assert found == ([f"the GPUs of the pool do not have {those}."] if lacking else [])


def test_nodes_that_work_together_are_at_most_those_of_the_pool() -> None:
    most = {"min": 0, "max": 4}
    entry = {"program": "nccl", "nodes": 4}
    assert pool_builders.plan([with_programs(entry, replicas=None, autoscale=most)], cloud="aws")
    assert problems([with_programs({**entry, "nodes": 5}, replicas=None, autoscale=most)]) == [
        ("POOL-TOO-MANY", f"{AT}[0].nodes")
    ]
    described = {**existing(1, pool="a"), "validate": {"programs": [entry]}}
    assert pool_builders.plan([described], cloud="aws"), "nobody knows how many nodes there are"
    assert "replicas" in NOBODY


def test_a_pool_without_nodes_may_have_any_program() -> None:
    assert pool_builders.plan([with_programs("vectoradd", replicas=0)], cloud="aws")


def test_a_path_has_the_place_where_the_user_wrote_the_program() -> None:
    given = with_programs(
        "matmull", "nccl", {"program": "nccl", "nodes": 5}, {"program": "matmul", "types": ["fp8"]}
    )
    assert problems([given]) == [
        ("POOL-VALUE", f"{AT}[0]"),
        ("POOL-TOO-MANY", f"{AT}[2].nodes"),
        ("POOL-VALUE", f"{AT}[3].types"),
    ]


NETWORKS: t.Final = [
    {
        "name": name,
        "kind": "sriov",
        "pools": [pool_name],
        "namespaces": ["gpu-validation"],
        "ipam": {"type": "none"},
        "sriov": {"vfs": 4, "interfaces": [f"{name}np0"]},
    }
    for name, pool_name in (("fast", "mine"), ("other", "theirs"))
]


def planned(*programs: t.Any) -> Data:
    pools = [
        existing(2, pool="a") | {"name": "mine", "validate": {"programs": list(programs)}},
        existing(2, pool="b") | {"name": "theirs"},
    ]
    given = {"pools": pools, "platform": "baremetal", "networks": NETWORKS}
    plan: Data = gpu_plan.ensure(api_on(FakeServer()), checked("gpu_plan", given))["plan"]
    return plan


def test_programs_over_a_network() -> None:
    plan = planned({"program": "rdma", "network": "fast"}, {"program": "nccl", "nodes": 2, "network": "fast"})
    assert plan["validations"][0]["programs"] == [
        {"program": "rdma", "network": "fast", "nodes": 2},
        {"program": "nccl", "nodes": 2, "network": "fast"},
    ]
    assert plan["attachments"][0] == {
        "name": "fast",
        "kind": "sriov",
        "namespaces": ["gpu-validation"],
        "annotation": "fast",
        "resources": {"openshift.io/fast": 1},
    }


@pytest.mark.parametrize("name", ["other", "nobody"])
def test_a_network_that_the_pool_does_not_have(name: str) -> None:
    with pytest.raises(InputError) as caught:
        planned({"program": "rdma", "network": name})
    (problem,) = caught.value.facts["problems"]
    assert problem["path"] == "gpu_pools[0].validate.programs[0].network"
    assert "The pool has fast." in problem["message"]


def test_mistakes_of_networks_and_pools_are_told_together() -> None:
    pools = [existing(2, pool="a") | {"name": "mine", "replicaz": 1}]
    networks = [NETWORKS[0] | {"pool": "mine", "mtu": "big"}]
    given = {"pools": pools, "platform": "baremetal", "networks": networks}
    with pytest.raises(InputError) as caught:
        gpu_plan.ensure(api_on(FakeServer()), checked("gpu_plan", given))
    told = {problem["path"]: problem["remedy"] for problem in caught.value.facts["problems"]}
    assert list(told) == ["gpu_networks[0].pool", "gpu_networks[0].mtu", "gpu_pools[0].replicaz"]
    assert told["gpu_networks[0].mtu"] == "In gpu_networks, write gpu_networks[0].mtu as a whole number."
    assert told["gpu_networks[0].pool"].endswith("docs/networks.md describes those of gpu_networks.")
    assert told["gpu_pools[0].replicaz"].endswith("docs/pools.md describes those of gpu_pools.")
