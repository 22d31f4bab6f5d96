"""gpu_pools: every way to get a description wrong, and how it is told."""

from __future__ import annotations

import math
import re
import typing as t

import pytest
from unit import pool_builders
from unit.pools.builders import DRIVER, NOBODY, TAINT, Data, candidate, existing, pool, problems

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import InputError
from ansible_collections.accelerators.openshift.plugins.module_utils._core.input import Problems, read_map
from ansible_collections.accelerators.openshift.plugins.module_utils._pools import plan
from ansible_collections.accelerators.openshift.plugins.module_utils._pools.schema import POOL

SPLIT: t.Final = {"replicas": 2}
N1: t.Final[Data] = {"instance_type": "n1-standard-4", "zones": ["a"]}
TWICE: t.Final[Data] = {
    **N1,
    "instance_type": "n1-standard-4+nvidia-tesla-t4:1",
    "gcp": {"gpus": {"type": "nvidia-tesla-t4"}},
}
GDS: t.Final = {"enabled": True, "version": "2.20.5", "repository": "nvcr.io/nvidia", "image": "nvidia-fs"}


def test_the_nearest_types_in_number_and_memory_are_offered_and_they_are_nvidia_s() -> None:
    with pytest.raises(InputError) as caught:
        pool_builders.plan([pool(candidates=candidate("dl1.24xlarge"))], cloud="aws")
    assert caught.value.remedy == (
        "Use another instance_type: g7.48xlarge, p3dn.24xlarge, p4d.24xlarge. To create such nodes anyway, "
        "set accelerator: intel-gaudi."
    )


def test_storage_beside_a_driver_needs_no_word_about_modules() -> None:
    assert pool_builders.plan([pool(driver=DRIVER | {"gds": GDS})], cloud="aws")["pools"]


def test_default_requests_may_be_small_and_a_hook_is_switched() -> None:
    quota = [{"namespace": "a", "gpus": 1, "limit_range": {"memory": "2Gi", "cpu": "500m"}}]
    priority = [{"name": "x", "value": 1, "preemption_policy": "PreemptLowerPriority"}]
    plan = pool_builders.plan([pool(quota=quota, priority=priority, pre_drain_hook=True)], cloud="aws")
    assert plan["quotas"][0]["limit_range"] == {"cpu": "500m", "memory": "2Gi"}


def test_a_planned_pool_that_somebody_changed_is_checked_again() -> None:
    planned = pool_builders.plan([pool()], cloud="aws")["pools"][0]
    with pytest.raises(InputError) as caught:
        pool_builders.plan([{**planned, "min_replicas": 3}], cloud="aws")
    assert caught.value.code == "POOL-TOO-MANY"


@pytest.mark.parametrize(
    ("key", "value"),
    [
        *(("disk", {"size_gib": 100}), ("labels", {"a": "b"}), ("provider_spec_patch", {"a": 1})),
        *(("autoscale", {"min": 1, "max": 2}), ("market", "spot"), ("source_machine_set", ["a"])),
        *((key, True) for key in ("mixed", "node_role", "pre_drain_hook")),
        *(("accelerator", "a"), ("min_replicas", 1)),
    ],
)
def test_what_makes_machines_is_none_of_existing_nodes(key: str, value: t.Any) -> None:
    assert ("POOL-CONFLICT", f"gpu_pools[0].{key}") in problems([{**existing(a="b"), key: value}])


def test_who_has_pools_in_an_inventory_is_told_how_to_play_on_it() -> None:
    with pytest.raises(InputError) as caught:
        pool_builders.plan([], cloud="aws")
    assert caught.value.code == "POOL-NONE"
    assert "-e gpu_clusters=" in caught.value.remedy


def test_a_pool_has_devices_of_one_vendor() -> None:
    mixed = candidate("g4ad.xlarge") + candidate("g4dn.xlarge")
    assert problems([pool(candidates=mixed, accelerator="amd-v520")]) == [
        ("POOL-MIXED", "gpu_pools[0].candidates")
    ]


@pytest.mark.parametrize(
    ("changes", "code", "path"),
    [
        ({"replica": 2}, "POOL-UNKNOWN-KEY", "replica"),
        (
            {"quota": [{"namespace": "team-a", "gpus": 1}, {"namespace": "team-a", "gpus": 2}]},
            "POOL-DUPLICATE",
            "quota[1].namespace",
        ),
        (
            {
                "quota": [
                    {"namespace": "team-a", "gpus": 1},
                    {"namespace": "team-a", "gpus": 2, "name": "gpu-quota"},
                ]
            },
            "POOL-DUPLICATE",
            "quota[1].namespace",
        ),
        ({"quota": [{"namespace": "kube-system", "gpus": 1}]}, "QUOTA-NAMESPACE", "quota[0].namespace"),
        (
            {"quota": [{"namespace": "openshift-nfd", "gpus": 1}]},
            "QUOTA-NAMESPACE",
            "quota[0].namespace",
        ),
        ({"priority": [{"name": "system-gpu", "value": 1}]}, "POOL-CLASS", "priority[0].name"),
        ({"name": None}, "POOL-REQUIRED", "name"),
        ({"name": "T_4"}, "POOL-VALUE", "name"),
        ({"name": "a" * 40}, "POOL-NAME", "name"),
        ({"name": "worker"}, "POOL-NAME", "name"),
        ({"name": "infra"}, "POOL-NAME", "name"),
        ({"name": "master"}, "POOL-NAME", "name"),
        ({"candidates": []}, "POOL-REQUIRED", "candidates"),
        ({"candidates": "g4dn.xlarge"}, "POOL-TYPE", "candidates"),
        ({"candidates": [{"instance_type": "g4dn.xlarge"}]}, "POOL-REQUIRED", "candidates[0].zones"),
        ({"candidates": candidate("g4dn.xlarge", "a", "a")}, "POOL-DUPLICATE", "candidates[0].zones"),
        ({"candidates": [{"zones": ["a"]}]}, "POOL-REQUIRED", "candidates[0].instance_type"),
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
        ({"min_replicas": 3}, "POOL-TOO-MANY", "min_replicas"),
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
        ({"replicas": None, "autoscale": {"min": 3, "max": 2}}, "POOL-TOO-MANY", "autoscale.min"),
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
        ({"market": {"type": "spot", "reservation": "cr-1"}}, "POOL-CONFLICT", "market.reservation"),
        ({"market": "capacity_block"}, "POOL-MARKET", "market.reservation"),
        ({"quota": [{"namespace": "team-a", "gpus": "many"}]}, "POOL-TYPE", "quota[0].gpus"),
        (
            {"quota": [{"namespace": "a", "hard": {"memory": "8Gib"}}]},
            "QUOTA-QUANTITY",
            "quota[0].hard.memory",
        ),
        ({"quota": [{"namespace": "a", "hard": {"cpu": ""}}]}, "QUOTA-QUANTITY", "quota[0].hard.cpu"),
        ({"quota": [{"namespace": "a", "hard": {"pods": "²"}}]}, "QUOTA-QUANTITY", "quota[0].hard.pods"),
        ({"quota": [{"namespace": "a", "hard": {"cpu": math.nan}}]}, "QUOTA-QUANTITY", "quota[0].hard.cpu"),
        ({"quota": [{"namespace": "a", "hard": {"cpu": -0.5}}]}, "QUOTA-QUANTITY", "quota[0].hard.cpu"),
        ({"quota": [{"namespace": "a", "hard": {"gpus": 4}}]}, "QUOTA-KEY", "quota[0].hard.gpus"),
        ({"quota": [{"namespace": "a", "hard": {}}]}, "POOL-EITHER", "quota[0]"),
        (
            {"quota": [{"namespace": "a", "gpus": 1, "limit_range": {"cpu": "0"}}]},
            "QUOTA-LIMIT-RANGE",
            "quota[0].limit_range.cpu",
        ),
        ({"quota": [{"namespace": "team-a", "hard": 4}]}, "POOL-TYPE", "quota[0].hard"),
        (
            {"quota": [{"namespace": "team-a", "hard": {"requests.nvidia/gpu": 4}}]},
            "QUOTA-KEY",
            "quota[0].hard.requests.nvidia/gpu",
        ),
        ({"market": {"type": "on_demand", "max_price": "1"}}, "POOL-CONFLICT", "market.max_price"),
        ({"taints": [{"key": "a", "effect": "Never"}]}, "POOL-VALUE", "taints[0].effect"),
        ({"taints": [{"key": "a", "value": True, "effect": "NoSchedule"}]}, "POOL-TYPE", "taints[0].value"),
        ({"taints": [{"key": "a", "effect": "NoExecute"}]}, "POOL-TAINT", "taints[0].effect"),
        ({"taints": [TAINT, TAINT]}, "POOL-DUPLICATE", "taints[1]"),
        ({"labels": {"a": True}}, "POOL-LABEL", "labels.a"),
        (
            {"candidates": [{"instance_type": "g4dn.xlarge", "zones": ["us-east-2a"]}] * 2},
            "POOL-DUPLICATE",
            "candidates[1]",
        ),
        ({"labels": {"a": 1}}, "POOL-LABEL", "labels.a"),
        ({"labels": {"a": "b/c"}}, "POOL-LABEL", "labels.a"),
        ({"labels": {"a b": "c"}}, "POOL-LABEL", "labels.a b"),
        ({"labels": {"cluster-api/accelerator": "x"}}, "POOL-LABEL-TAKEN", "labels.cluster-api/accelerator"),
        ({"accelerator": "nvidia.com/gpu"}, "POOL-VALUE", "accelerator"),
        ({"disk": {"type": "gp2", "iops": 3000}}, "POOL-DISK", "disk.iops"),
        ({"disk": {"type": "io2"}}, "POOL-DISK", "disk.iops"),
        ({"disk": {"size": 100}}, "POOL-UNKNOWN-KEY", "disk.size"),
        ({"tuning": "gpu-training"}, "POOL-TYPE", "tuning"),
        ({"tuning": {"profil": "training"}}, "POOL-UNKNOWN-KEY", "tuning.profil"),
        ({"cdi": True}, "POOL-UNKNOWN-KEY", "cdi"),
        ({"driver": DRIVER | {"kernel_module_type": "closed"}}, "POOL-VALUE", "driver.kernel_module_type"),
        ({"driver": DRIVER | {"version": "v595.91.07"}}, "POOL-VALUE", "driver.version"),
        ({"driver": DRIVER | {"repository": "https://nvcr.io/nvidia"}}, "POOL-VALUE", "driver.repository"),
        ({"driver": DRIVER | {"image": "driver:595"}}, "POOL-VALUE", "driver.image"),
        ({"validate": {"image": "foo bar"}}, "POOL-VALUE", "validate.image"),
        ({"driver": {"version": "595.91.07"}}, "POOL-REQUIRED", "driver.repository"),
        (
            {"driver": {"version": "595.91.07", "repository": "nvcr.io/nvidia"}},
            "POOL-REQUIRED",
            "driver.image",
        ),
        ({"market": {}}, "POOL-REQUIRED", "market.type"),
        ({"provider_spec_patch": {1: "a"}}, "POOL-TYPE", "provider_spec_patch"),
        ({"pre_drain_hook": 7}, "POOL-TYPE", "pre_drain_hook"),
        ({"disk": {"size_gib": 15}}, "POOL-VALUE", "disk.size_gib"),
        ({"disk": {"size_gib": 65537}}, "POOL-VALUE", "disk.size_gib"),
        ({"driver": {"gds": {"enabled": True, "version": "2.17"}}}, "POOL-REQUIRED", "driver.gds.repository"),
        ({"driver": {"rdma": True}}, "POOL-TYPE", "driver.rdma"),
        ({"driver": {"rdma": {"enable": True}}}, "POOL-UNKNOWN-KEY", "driver.rdma.enable"),
        ({"driver": {"env": [{"name": "A"}]}}, "POOL-REQUIRED", "driver.env[0].value"),
        ({"driver": {"env": [{"name": "A", "value": "1"}] * 2}}, "POOL-DUPLICATE", "driver.env[1]"),
        (
            {"driver": {"use_precompiled": True, "gdrcopy": {"enabled": True}}},
            "POOL-CONFLICT",
            "driver.use_precompiled",
        ),
        (
            {"driver": {"kernel_module_type": "proprietary", "gds": GDS}},
            "POOL-DRIVER",
            "driver.gds",
        ),
        (
            {
                "driver": DRIVER | {"version": "580.173.02", "kernel_module_type": "open"},
                "candidates": candidate("p3.2xlarge"),
            },
            "POOL-DRIVER",
            "driver.kernel_module_type",
        ),
        ({"driver": DRIVER, "candidates": candidate("p3.2xlarge")}, "POOL-DRIVER", "driver.version"),
        ({"candidates": candidate("g4dn.xlarge") + candidate("g5g.xlarge")}, "POOL-MIXED", "candidates"),
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
            {"sharing": {"mig": {"layout": {"1g.5gb": 1}}}, "quota": [{"namespace": "a", "gpus": 1}]},
            "POOL-GEOMETRY",
            "sharing.mig",
        ),
        ({"sharing": {"mig": {"slices": 7}, "mps": {"replicas": 2}}}, "POOL-EITHER", "sharing"),
        ({"sharing": {"mig": {}}}, "POOL-EITHER", "sharing.mig"),
        ({"sharing": {"mps": {"replicas": 1}}}, "POOL-VALUE", "sharing.mps.replicas"),
        (
            {
                "candidates": candidate("p4d.24xlarge"),
                "sharing": {"mig": {"layout": {"1g.5gb": 2, "2g.10gb": 2}}},
                "quota": [{"namespace": "a", "gpus": 1}],
            },
            "POOL-QUOTA-RENAMED",
            "quota[0].gpus",
        ),
        ({"quota": [{"namespace": "a"}]}, "POOL-EITHER", "quota[0]"),
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
            "POOL-EMPTY",
            "existing.node_selector",
        ),
        (
            NOBODY | {"existing": {"node_selector": {"a": "b"}, "expected": {}}},
            "POOL-EMPTY",
            "existing.expected",
        ),
    ],
    ids=str,
)
def test_one_thing_wrong(changes: Data, code: str, path: str) -> None:
    assert problems([pool(**changes)]) == [(code, f"gpu_pools[0].{path}")]


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"candidates": candidate("g4dn.12xlarge", gpus=2)}, "candidates[0].gpus: has 2 GPUs, and g4dn.12x"),
        (
            {"candidates": candidate("g4dn.xlarg")},
            "candidates[0].instance_type: g4dn.xlarg is not a known GPU instance type on aws. Did you mean "
            "g4dn.xlarge or g4dn.8xlarge or g4dn.4xlarge? If",
        ),
        (
            {"candidates": candidate("Standard_NC4as_T4_v3")},
            "candidates[0].instance_type: Standard_NC4as_T4_v3 is a type of azure, not on aws. Did you mean "
            "p3.2xlarge or p3.8xlarge or p3.16xlarge? If",
        ),
        (
            {"candidates": candidate("g4ad.xlarge"), "accelerator": "amd-v520", "sharing": {"mps": SPLIT}},
            "sharing.mps: does not go with V520 devices (amd): NVIDIA's operator cannot share them. Remove",
        ),
        (
            {"candidates": candidate("g4dn.xlarge") + candidate("g4ad.xlarge"), "accelerator": "amd-v520"},
            "candidates: mixes devices of amd and nvidia in one pool. Make one pool for each vendor, each",
        ),
        (
            {"candidates": candidate("g5g.xlarge") + candidate("g4dn.xlarge")},
            "candidates: mixes amd64 and arm64 instance types in one pool. Make one pool for each "
            "architecture,",
        ),
        (
            {"candidates": candidate("g5g.xlarge"), "validate": {"image": "x", "image_archs": ["amd64"]}},
            "validate.image: the image is for amd64, but g5g.xlarge is arm64. Set validate.image of the pool "
            "to an image for arm64, or use another instance_type.",
        ),
        ({"autoscale": {"min": 0, "max": 2}}, "autoscale: does not go with replicas: both set the number"),
        (
            {"replicas": None, "autoscale": {"min": 1, "max": 2}, "mixed": True},
            "autoscale: does not go with mixed: the autoscaler would choose among the instance types by its",
        ),
        (
            {"name": "a" * 40},
            "name: with zone us-east-2a the machine set's name would be longer than 57 characters. Use at "
            "most 38 ",
        ),
        (
            {"quota": [{"namespace": "a", "hard": {"limits.nvidia.com/gpu": 1}}]},
            "quota[0].hard.limits.nvidia.com/gpu: a quota cannot limit limits.nvidia.com/gpu: the API "
            "accepts this key and never enforces it: it counts only requests.*. Write",
        ),
        (
            {"provider_spec_patch": {"placement": {"availabilityZon": "a"}}},
            "provider_spec_patch.placement.availabilityZon: is not a field of this platform's machines; the "
            "API would ignore it. Did you mean availabilityZone? Correct it or",
        ),
        *(
            (
                {"provider_spec_patch": patch},
                f"provider_spec_patch.{field}: is set by {option} of the pool, which",
            )
            for patch, field, option in (
                ({"instanceType": "a"}, "instanceType", "instance_type"),
                ({"placement": {"availabilityZone": "a"}}, "placement.availabilityZone", "zones"),
            )
        ),
        (
            {"validate": {"programs": ["matmul"], "image": "example.com/a:1"}},
            "validate.image: does not go with programs. Move it into an entry of `gpu_pools[0].validate.",
        ),
        (
            {"replicas": 1, "validate": {"programs": [{"program": "nccl", "nodes": 2}]}},
            "validate.programs[0].nodes: 2 is more than the 1 node of the pool. Set gpu_pools[0].validate.",
        ),
    ],
    ids=lambda value: value.partition(":")[0] if isinstance(value, str) else "",
)
def test_what_is_wrong_is_told_with_the_words_of_the_pool(changes: Data, said: str) -> None:
    assert told(pool(**changes)).startswith(f"gpu_pools[0].{said}")


def told(given: Data, cloud: str | None = "aws") -> str:
    """Return the message and the remedy of the only problem of a pool."""
    with pytest.raises(InputError) as caught:
        pool_builders.plan([given], cloud=cloud)
    assert len(caught.value.facts["problems"]) == 1
    return f"{caught.value.message} {caught.value.remedy}"


@pytest.mark.parametrize(
    ("cloud", "kind", "said"),
    [
        *(
            (
                cloud,
                {"instance_type": "big"},
                f"gpus: is required on {cloud}: big is {what}, and no catalogue has its GPUs. Set "
                "gpu_pools[0].candidates[0].gpus and gpu_pools[0].candidates[0].gpu_model.",
            )
            for cloud, what in (
                ("vsphere", "a template that has the GPUs"),
                ("other", "your own name for a kind of machine"),
            )
        ),
        ("gcp", N1, "instance_type: n1-standard-4 has no GPU. Attach GPUs with gcp.gpus, such as"),
        (
            "aws",
            N1,
            "instance_type: n1-standard-4 is not a known GPU instance type on aws. Did you mean p3.2xl",
        ),
        (
            "gcp",
            N1 | {"instance_type": "n1-standard-4+nvidia-tesla-t4:3"},
            "instance_type: 3 nvidia-tesla-t4 cannot be attached to n1-standard-4. Set "
            "gpu_pools[0].candidates[0].instance_type to what is allowed: 1, 2, 4.",
        ),
        (
            None,
            N1 | {"instance_type": "custom-4-2+nvidia-a100:1"},
            "instance_type: nvidia-a100 cannot be attached to a machine. Set "
            "gpu_pools[0].candidates[0].instance_type to what is allowed: nvidia-tesla-p100, "
            "nvidia-tesla-p4, nvidia-tesla-t4, nvidia-tesla-v100.",
        ),
        (
            None,
            {"instance_type": "g4dn.xlarg"},
            "instance_type: g4dn.xlarg is not a known GPU instance type. Did you mean g4dn.xlarge or "
            "g4dn.8xlarge or g4dn.4xlarge? If",
        ),
        (
            "gcp",
            N1 | {"gcp": {"gpus": {"type": "nvidia-tesla-t4", "count": 3}}},
            "gcp.gpus: 3 nvidia-tesla-t4 cannot be attached to n1-standard-4. Set "
            "gpu_pools[0].candidates[0].gcp.gpus to what is allowed: 1, 2, 4.",
        ),
        (
            "gcp",
            TWICE | {"gcp": {"gpus": {"type": "nvidia-tesla-p4"}}},
            "gcp.gpus: does not go with the name of the instance type, which attaches nvidia-tesla-t4:1",
        ),
        (
            "vsphere",
            {"instance_type": "big", "gpus": 1, "gpu_model": "MI300X"},
            "instance_type: big has MI300X devices (amd), which the NVIDIA GPU Operator does not drive. Use "
            "another instance_type: one with NVIDIA GPUs. To create such nodes anyway, set accelerator: "
            "amd-mi300x.",
        ),
        ("gcp", {"instance_type": "a2-highgpu-1g"}, "zones: is required on gcp. List the zones in which"),
        *(
            (
                cloud,
                {"instance_type": kind, "zones": [zone], "provider_spec_patch": {field: "a"}},
                f"provider_spec_patch.{field}: is set by {option} of the pool, which later steps read.",
            )
            for cloud, kind, zone, field, option in (
                ("azure", "Standard_NC4as_T4_v3", "1", "vmSize", "instance_type"),
                ("azure", "Standard_NC4as_T4_v3", "1", "zone", "zones"),
                ("gcp", "g2-standard-4", "us-central1-a", "zone", "zones"),
            )
        ),
    ],
    ids=lambda value: value if isinstance(value, str) and " " not in value else "",
)
def test_what_a_candidate_lacks_is_told_for_its_platform(cloud: str | None, kind: Data, said: str) -> None:
    assert told(pool(candidates=[kind]), cloud).startswith(f"gpu_pools[0].candidates[0].{said}")


def test_gpus_that_no_label_tells_apart_are_not_mixed() -> None:
    big = {"instance_type": "big", "gpu_model": "T4"}
    given = pool(candidates=[big | {"gpus": 1}, big | {"instance_type": "bigger", "gpus": 2}], mixed=True)
    assert told(given, "vsphere") == (
        "gpu_pools[0].mixed: mixes different GPUs, which no label of a node tells apart here, in one pool. "
        "Make one pool for each candidate, each with its own candidates."
    )


def test_the_same_gpus_may_be_written_twice() -> None:
    assert pool_builders.plan([pool(candidates=[TWICE])], cloud="gcp")["pools"]


@pytest.mark.parametrize(
    ("pools", "code", "path", "said"),
    [
        ([pool(), pool()], "POOL-DUPLICATE", "[1].name", "t4 is listed twice, first at gpu_pools[0]."),
        (
            [existing(rack="r1"), {**existing(rack="r1", row="2"), "name": "b"}],
            "POOL-OVERLAP",
            "[1].existing.node_selector",
            "also matches the nodes of pool old (gpu_pools[0]).",
        ),
        *(
            (
                [pool(labels={"team": "a"}), existing(1, **t.cast("Data", {label: value}))],
                "POOL-OVERLAP",
                "[1].existing.node_selector",
                "also matches the nodes of pool t4 (gpu_pools[0]).",
            )
            for label, value in (
                ("node-role.kubernetes.io/worker", ""),
                ("kubernetes.io/arch", "amd64"),
                ("node.kubernetes.io/instance-type", "g4dn.xlarge"),
                ("cluster-api/accelerator", "nvidia-t4"),
                ("feature.node.kubernetes.io/pci-10de.present", "true"),
                ("nvidia.com/gpu.present", "true"),
                ("accelerators.openshift/pool", "t4"),
                ("team", "a"),
            )
        ),
        (
            [existing(rack="r1"), {**existing(rack="r1"), "name": "b"}],
            "POOL-OVERLAP",
            "[1].existing.node_selector",
            "also matches the nodes of pool old (gpu_pools[0]).",
        ),
        (
            [pool(accelerator="a"), existing(1, **t.cast("Data", {"cluster-api/accelerator": "a"}))],
            "POOL-OVERLAP",
            "[1].existing.node_selector",
            "also matches the nodes of pool t4 (gpu_pools[0]).",
        ),
        (
            [
                pool(priority=[{"name": "x", "value": 1}]),
                pool(name="b", priority=[{"name": "x", "value": 2}]),
            ],
            "POOL-DIFFERS",
            "[1].priority[0]",
            "the description differs from that at gpu_pools[0].priority[0], and priority class x has",
        ),
        (
            [
                pool(quota=[{"namespace": "a", "name": "gpu-quota", "hard": {"requests.memory": "1"}}]),
                pool(name="b", quota=[{"namespace": "a", "hard": {"requests.memory": "2Gi"}}]),
            ],
            "POOL-DIFFERS",
            "[1].quota[0].hard.requests.memory",
            "2Gi differs from 1 of gpu_pools[0].quota[0].hard.requests.memory, and the quota has",
        ),
        (
            [
                pool(name=name, candidates=candidate("p4d.24xlarge"), sharing={"mig": mig})
                for name, mig in (("a", {"slices": 7}), ("b", {"layout": {"1g.5gb": 7}}))
            ],
            "POOL-DIFFERS",
            "[1].sharing.mig.strategy",
            "'mixed' differs from 'single' of gpu_pools[0].sharing.mig.strategy, and the ClusterPolicy has",
        ),
    ],
)
def test_pools_that_contradict_each_other(pools: list[Data], code: str, path: str, said: str) -> None:
    with pytest.raises(InputError) as caught:
        pool_builders.plan(pools, cloud="aws")
    found = {(one["code"], one["path"]): one["message"] for one in caught.value.facts["problems"]}
    assert found[code, f"gpu_pools{path}"].startswith(said)


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


@pytest.mark.parametrize(
    "raw", [{"name": "x"}, '[{"name": "x", "replicas": 2}]', "name=x", 3, None, "", {}, []], ids=repr
)
def test_a_value_that_is_no_list_is_one_problem_with_how_to_write_it(raw: t.Any) -> None:
    with pytest.raises(InputError) as caught:
        pool_builders.plan(raw, cloud="aws")
    assert len(caught.value.facts["problems"]) == 1
    assert "gpu_pools:\n  - name: training" in caught.value.remedy
    assert "-e @FILE" in caught.value.remedy


def test_what_stands_in_the_place_of_the_list_is_said() -> None:
    said = ("a mapping: each pool begins with a dash", "text (-e NAME=VALUE always", "the value 3")
    for raw, what in zip(({"name": "x"}, "x", 3), said, strict=True):
        with pytest.raises(InputError, match=re.escape(f"gpu_pools: must be a list of pools, not {what}")):
            pool_builders.plan(raw, cloud="aws")


def test_a_quota_counts_in_one_way() -> None:
    for numbers, given in ({}, "none"), ({"gpus": 1, "hard": {"requests.nvidia.com/gpu": 1}}, "both"):
        with pytest.raises(InputError, match=rf"hard \(names resources itself\), not {given}\.$"):
            pool_builders.plan([pool(quota=[{"namespace": "a", **numbers}])], cloud="aws")


def test_the_nearest_name_is_offered() -> None:
    with pytest.raises(InputError, match=r"gpu_pools\[0\].*g4dn\.xlarg is not a known") as caught:
        pool_builders.plan([pool(candidates=candidate("g4dn.xlarg"))], cloud="aws")
    assert "g4dn.xlarge" in caught.value.remedy


@pytest.mark.parametrize("number", [0, 1, 2])
def test_a_resized_pool_keeps_its_place_among_the_pools(number: int) -> None:
    pools = [pool(name=name) for name in ("a", "b", "c")]
    found = plan.resized(pools, "gpu_pools", {pools[number]["name"]: "3"})
    assert found == [one | ({"replicas": "3"} if one is pools[number] else {}) for one in pools]


@pytest.mark.parametrize(
    ("wanted", "code", "said"),
    [
        (
            "dmo",
            "POOL-UNKNOWN",
            "gpu_pools: has no pool dmo (did you mean demo?). It has demo, scaled, node.",
        ),
        (
            "scaled",
            "POOL-CONFLICT",
            "gpu_pools[1].autoscale: does not go with another number of nodes: the autoscaler decides",
        ),
        (
            "node",
            "POOL-CONFLICT",
            "gpu_pools[2].existing: does not go with another number of nodes: the pool consists of existing",
        ),
    ],
)
def test_a_pool_whose_number_is_not_ours_is_not_resized(wanted: str, code: str, said: str) -> None:
    pools = [pool(name="demo"), {"name": "scaled", "autoscale": {}}, {"name": "node", "existing": {}}, "text"]
    with pytest.raises(InputError) as caught:
        plan.resized(pools, "gpu_pools", {wanted: 3})
    assert caught.value.code == code
    assert caught.value.message.startswith(said)
    assert caught.value.remedy


@pytest.mark.parametrize("pools", [[], {"name": "demo"}, "demo"])
def test_what_is_no_list_of_pools_is_left_to_the_draft(pools: t.Any) -> None:
    assert plan.resized(pools, "gpu_pools", {"demo": 3}) is pools


def test_a_task_s_own_options_are_named_without_a_list() -> None:
    with pytest.raises(InputError) as caught:
        pool_builders.single(pool(taints=[{"key": "a", "effect": "NoExecute"}]), "aws")
    assert caught.value.facts["problems"][0]["path"] == "taints[0].effect"


@pytest.mark.parametrize("name", ["nvidia/gpu", "nvida.com/gpu", "gpu", "nvidia.com/", "/gpu", "a.com/b/c"])
def test_devices_that_no_node_can_offer(name: str) -> None:
    asked = {"node_selector": {"a": "b"}, "expected": {name: 8}}
    assert problems([{"name": "old", "existing": asked}]) == [
        ("POOL-VALUE", f"gpu_pools[0].existing.expected.{name}")
    ]


@pytest.mark.parametrize("gpus", [2, 4])
def test_a_number_of_gpus_that_the_type_does_not_have(gpus: int) -> None:
    wrong = [{**candidate("g4dn.xlarge")[0], "gpus": gpus}]
    assert problems([pool(candidates=wrong)]) == [("POOL-GPUS", "gpu_pools[0].candidates[0].gpus")]
    right = [{**candidate("g4dn.xlarge")[0], "gpus": 1}]
    planned = pool_builders.plan([pool(candidates=right)], cloud="aws")["pools"][0]
    assert planned["expected"] == {"nvidia.com/gpu": 1}


def test_a_gate_needs_machines_of_ours_and_devices_that_nodes_offer() -> None:
    assert problems([{**existing(rack="r1"), "validate": {"gate": True}}]) == [
        ("POOL-CONFLICT", "gpu_pools[0].validate.gate")
    ]
    cards = pool(candidates=candidate("g4ad.xlarge"), accelerator="amd-v520", validate={"gate": True})
    assert problems([cards]) == [("POOL-CONFLICT", "gpu_pools[0].validate.gate")]
    with pytest.raises(InputError) as caught:
        pool_builders.plan([pool(validate={"gate": True})], cloud="aws", backend="dra")
    assert [one["path"] for one in caught.value.facts["problems"]] == ["gpu_pools[0].validate.gate"]


def refused(keys: str, value: t.Any) -> bool:
    """Return whether a pool refuses this value. keys: from the pool to the value; LIST[] has one entry."""
    for key in reversed(keys.split()):
        value = {key.removesuffix("[]"): [value] if key.endswith("[]") else value}
    found = Problems()
    read_map(value, POOL, "", found)
    assert {one.code for one in found.found} <= {"POOL-VALUE", "POOL-REQUIRED"}
    return any(one.code == "POOL-VALUE" for one in found.found)


@pytest.mark.parametrize(
    ("keys", "low", "high"),
    [
        *(("replicas", 0, 1000), ("min_replicas", 0, 1000), ("spare", 0, 100000)),
        *(("autoscale min", 0, 1000), ("autoscale max", 1, 1000), ("quota[] gpus", 0, 100000)),
        *(("disk size_gib", 16, 65536), ("disk iops", 100, 256000), ("disk throughput_mib", 125, 2000)),
        *(("existing expected nvidia.com/gpu", 1, 1024), ("priority[] value", -2147483648, 1000000000)),
    ],
)
def test_numbers_have_bounds(keys: str, low: int, high: int) -> None:
    assert [refused(keys, number) for number in (low - 1, low, high, high + 1)] == [True, False, False, True]


@pytest.mark.parametrize(
    ("keys", "choices"),
    [
        ("taints[] effect", ("NoSchedule", "PreferNoSchedule", "NoExecute")),
        ("partition", ("hard", "soft")),
        ("driver kernel_module_type", ("auto", "open", "proprietary")),
        ("priority[] preemption_policy", ("PreemptLowerPriority", "Never")),
        ("validate on_failure", ("report", "taint", "cordon")),
        ("validate image_archs", (["amd64"], ["arm64"])),
    ],
)
def test_words_that_an_option_knows(keys: str, choices: tuple[t.Any, ...]) -> None:
    assert not any(refused(keys, word) for word in choices)
    assert refused(keys, ["other"] if isinstance(choices[0], list) else "other")


def test_what_each_part_of_a_pool_must_say() -> None:
    lists: Data = {key: [{}] for key in ("candidates", "taints", "quota", "priority")}
    found = Problems()
    read_map({**lists, "existing": {}, "autoscale": {}, "driver": {"env": [{}]}}, POOL, "", found)
    assert {one.path for one in found.found} == {
        "name",
        *("candidates[0].instance_type", "existing.node_selector", "existing.expected"),
        *("autoscale.min", "autoscale.max", "taints[0].key", "taints[0].effect"),
        *("driver.env[0].name", "driver.env[0].value"),
        *("quota[0].namespace", "priority[0].name", "priority[0].value"),
    }


def test_a_driver_with_everything_beside_it_is_read_whole() -> None:
    flags = {"use_precompiled": True, "rdma": {"enabled": True, "use_host_mofed": False}}
    whole = {"driver": {**DRIVER, **flags, "gds": GDS, "gdrcopy": GDS}}
    found = Problems()
    assert read_map({"name": "a", **whole}, POOL, "", found) == {"name": "a", **whole}
    assert not found.found
