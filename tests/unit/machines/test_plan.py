"""From a worker machine set to the sets of a GPU pool."""

from __future__ import annotations

import copy
import typing as t
from pathlib import Path

import pytest
import yaml
from unit import pool_builders

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import AcceleratorError
from ansible_collections.accelerators.openshift.plugins.module_utils._machines import (
    candidates,
    machine_set,
    placement,
    plan as machine_plan,
    pool_options,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._machines.plan import MachinePlan
from ansible_collections.accelerators.openshift.plugins.module_utils._machines.pool_options import (
    GpuMachinesetParams,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._platforms import infrastructure
from ansible_collections.accelerators.openshift.plugins.module_utils._platforms.platform import Wanted
from ansible_collections.accelerators.openshift.plugins.module_utils._platforms.registry import (
    PLATFORMS,
    unknown_fields,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._pools.draft import Place
from ansible_collections.accelerators.openshift.plugins.module_utils._pools.model import Pool

Data = dict[str, t.Any]
WORKER = yaml.safe_load((Path(__file__).resolve().parents[1] / "fixtures/worker_machine_set.yml").read_text())
AWS = PLATFORMS["AWS"]
OURS = {"app.kubernetes.io/managed-by": "accelerators.openshift"}
TAINTS = [{"key": "nvidia.com/gpu", "value": "t4", "effect": "NoSchedule"}]


def worker(zone: str = "us-east-2a", **provider: t.Any) -> Data:
    one: Data = copy.deepcopy(WORKER)
    one["metadata"]["name"] = f"demo-x7k2p-worker-{zone}"
    value = one["spec"]["template"]["spec"]["providerSpec"]["value"]
    value["placement"]["availabilityZone"] = zone
    value.update(provider)
    return one


def cluster(platform: str = "AWS", topology: str = "HighlyAvailable") -> infrastructure.Infrastructure:
    return infrastructure.read(
        {
            "status": {
                "infrastructureName": "demo-x7k2p",
                "platformStatus": {"type": platform},
                "controlPlaneTopology": topology,
            }
        }
    )


def params(**changes: t.Any) -> Data:
    return {
        "name": "t4",
        "instance_type": "g4dn.xlarge",
        "zones": ["us-east-2a"],
        "replicas": 1,
        "labels": {},
        "taints": [],
        "disk": {},
        "market": "on_demand",
        "namespace": "openshift-machine-api",
        **changes,
    }


def drafted(options: Data, cloud: str | None = None, prefix: str | None = None) -> Pool:
    (pool,) = pool_options.draft(t.cast(GpuMachinesetParams, options)).pools(Place(cloud, prefix))
    return pool


def plan(
    live: list[Data] | None = None, on: infrastructure.Infrastructure | None = None, **changes: t.Any
) -> MachinePlan:
    options = params(**changes)
    on = on or cluster()
    pool = drafted(options, on.cloud, on.name)
    live = [worker()] if live is None else live
    return machine_plan.plan(
        on, pool, candidates.start(pool, machine_plan.held(on, pool, live)).shares, live, options
    )


def lived(planned: MachinePlan) -> list[Data]:
    """The planned sets as the cluster holds them after the apply."""
    sets = copy.deepcopy(list(planned.manifests.values()))
    for one in sets:
        one["metadata"]["labels"] |= OURS
    return sets


def code(**more: t.Any) -> str:
    with pytest.raises(AcceleratorError) as caught:
        plan(**more)
    assert caught.value.remedy
    return caught.value.code


def test_the_gpu_copy_of_a_worker_set() -> None:
    (manifest,) = plan(
        taints=TAINTS, labels={"team": "ml"}, disk={"size_gib": 200, "iops": 6000}
    ).manifests.values()
    name = "demo-x7k2p-t4-us-east-2a"
    template = manifest["spec"]["template"]
    selector = manifest["spec"]["selector"]["matchLabels"]
    assert manifest["metadata"] == {
        "name": name,
        "namespace": "openshift-machine-api",
        "labels": {
            "machine.openshift.io/cluster-api-cluster": "demo-x7k2p",
            "accelerators.openshift/pool": "t4",
        },
        "annotations": {"accelerators.openshift/candidate": "g4dn.xlarge"},
    }
    assert selector["machine.openshift.io/cluster-api-machineset"] == name
    assert selector.items() <= template["metadata"]["labels"].items()
    assert template["spec"]["metadata"]["labels"] == {
        "team": "ml",
        "accelerators.openshift/pool": "t4",
        "cluster-api/accelerator": "nvidia-t4",
        "node-role.kubernetes.io/gpu": "",
    }
    assert template["spec"]["taints"] == TAINTS
    provider = template["spec"]["providerSpec"]["value"]
    source = WORKER["spec"]["template"]["spec"]["providerSpec"]["value"]
    for key in (
        "ami",
        "subnet",
        "securityGroups",
        "iamInstanceProfile",
        "tags",
        "userDataSecret",
        "credentialsSecret",
        "placement",
    ):
        assert provider[key] == source[key], key
    assert provider["instanceType"] == "g4dn.xlarge"
    assert provider["blockDevices"] == [
        {
            "ebs": {
                "encrypted": True,
                "iops": 6000,
                "kmsKey": {"arn": ""},
                "volumeSize": 200,
                "volumeType": "gp3",
            }
        }
    ]
    assert not {"spotMarketOptions", "loadBalancers", "placementGroupName", "metadata"} & set(provider)
    assert set(manifest) == {"apiVersion", "kind", "metadata", "spec"}


@pytest.mark.parametrize(
    ("replicas", "zones", "counts"),
    [(3, "ab", [2, 1]), (2, "abc", [1, 1, 0]), (0, "ab", [0, 0]), (6, "abc", [2, 2, 2]), (1, "a", [1])],
)
def test_replicas_are_spread(replicas: int, zones: str, counts: list[int]) -> None:
    assert list(placement.spread(replicas, list(zones)).values()) == counts


def test_one_set_a_zone() -> None:
    planned = plan(
        [worker("us-east-2a"), worker("us-east-2b")], zones=["us-east-2b", "us-east-2a"], replicas=3
    )
    assert planned.replicas == {"demo-x7k2p-t4-us-east-2b": 2, "demo-x7k2p-t4-us-east-2a": 1}
    subnets = [
        machine_set.provider_of(one)["placement"]["availabilityZone"] for one in planned.manifests.values()
    ]
    assert subnets == ["us-east-2b", "us-east-2a"]


@pytest.mark.parametrize(
    ("market", "fields"),
    [
        ("on_demand", {}),
        (
            {"type": "on_demand", "reservation": "cr-0123456789abcdef0"},
            {"capacityReservationId": "cr-0123456789abcdef0"},
        ),
        ("spot", {"spotMarketOptions": {}}),
        ({"type": "spot", "max_price": "1.5"}, {"spotMarketOptions": {"maxPrice": "1.5"}}),
        (
            {"type": "capacity_block", "reservation": "cr-0123456789abcdef0"},
            {"marketType": "CapacityBlock", "capacityReservationId": "cr-0123456789abcdef0"},
        ),
    ],
)
def test_markets(market: t.Any, fields: Data) -> None:
    (manifest,) = plan(market=market).manifests.values()
    provider = machine_set.provider_of(manifest)
    assert {
        key: provider[key]
        for key in ("spotMarketOptions", "marketType", "capacityReservationId")
        if key in provider
    } == fields


@pytest.mark.parametrize(
    ("source", "disk", "ebs"),
    [
        ([], {}, {"encrypted": True, "volumeType": "gp3", "volumeSize": 120}),
        ([{"ebs": {"volumeSize": 64, "volumeType": "gp2"}}], {}, {"volumeSize": 120, "volumeType": "gp2"}),
        ([{"ebs": {"volumeSize": 64}}], {"size_gib": 100}, {"volumeSize": 100, "volumeType": "gp3"}),
        (
            [{"ebs": {"volumeSize": 300, "volumeType": "io1", "iops": 9000}}],
            {"type": "gp3"},
            {"volumeSize": 300, "volumeType": "gp3"},
        ),
    ],
)
def test_disks(source: list[Data], disk: Data, ebs: Data) -> None:
    provider = AWS.build({"blockDevices": source}, Wanted("g4dn.xlarge", "us-east-2a", disk))
    assert provider["blockDevices"] == [{"ebs": ebs}]


def test_unknown_fields_of_the_reference_are_told_and_not_copied() -> None:
    planned = plan([worker(fancy=1, blockDevices=[{"ebs": {"volumeSize": 120, "turbo": True}}])])
    assert planned.remarks == [
        "Machine set demo-x7k2p-worker-us-east-2a has fields that are not known and were not copied: blockDevices[0].ebs.turbo, fancy."
    ]
    assert "turbo" not in str(planned.manifests)
    assert "fancy" not in machine_set.provider_of(next(iter(planned.manifests.values())))
    assert unknown_fields(AWS, machine_set.provider_of(worker())) == []


def test_an_existing_set_keeps_its_image() -> None:
    live = lived(plan())
    newer = worker(ami={"id": "ami-newer"})
    again = plan([newer, *live])
    assert again.manifests["demo-x7k2p-t4-us-east-2a"] == plan().manifests["demo-x7k2p-t4-us-east-2a"]
    assert again.remarks == []


def test_an_existing_set_needs_no_reference() -> None:
    live = lived(plan())
    assert plan(live, replicas=2).replicas == {"demo-x7k2p-t4-us-east-2a": 2}


def test_what_only_new_machines_get_is_told() -> None:
    (remark,) = plan([worker(), *lived(plan())], disk={"size_gib": 500}, market="spot").remarks
    assert "blockDevices, spotMarketOptions changed" in remark
    assert plan(lived(plan(replicas=0)), replicas=0, disk={"size_gib": 500}).remarks == []


def test_zones_that_are_given_up() -> None:
    workers = [worker("us-east-2a"), worker("us-east-2b")]
    live = lived(plan(workers, zones=["us-east-2a", "us-east-2b"], replicas=2))
    assert plan([*workers, *live]).surplus == ["demo-x7k2p-t4-us-east-2b"]


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ({"zones": ["us-east-2z"]}, "MACH-NO-REFERENCE"),
        ({"live": []}, "MACH-NO-REFERENCE"),
        ({"reference": "nobody"}, "MACH-NO-REFERENCE"),
        ({"live": [worker("us-east-2b")], "reference": "demo-x7k2p-worker-us-east-2b"}, "MACH-NO-REFERENCE"),
        ({"instance_type": "g5g.xlarge"}, "MACH-ARCH"),
        ({"on": cluster("None")}, "MACH-NO-API"),
        ({"on": cluster("External")}, "MACH-NO-API"),
        ({"on": cluster(topology="External")}, "MACH-NO-API"),
        (
            {
                "on": cluster("PowerVS"),
                "instance_type": None,
                "candidates": [{"instance_type": "s922", "gpus": 1}],
            },
            "POOL-REQUIRED",
        ),
    ],
    ids=str,
)
def test_what_forbids_a_pool(more: Data, expected: str) -> None:
    assert code(**more) == expected


def test_an_image_lifts_the_architecture() -> None:
    (manifest,) = plan(instance_type="g5g.xlarge", image="ami-arm").manifests.values()
    assert machine_set.provider_of(manifest)["ami"] == {"id": "ami-arm"}


def test_zones_with_a_reference_are_named() -> None:
    with pytest.raises(AcceleratorError, match="us-east-2z") as caught:
        plan([worker("us-east-2a"), worker("us-east-2c")], zones=["us-east-2z"])
    assert "us-east-2a, us-east-2c" in caught.value.remedy


def test_a_reference_that_would_do_is_named() -> None:
    with pytest.raises(AcceleratorError) as caught:
        plan(reference="nobody")
    assert (
        caught.value.remedy == "Leave reference out, or name one of the zone: demo-x7k2p-worker-us-east-2a."
    )


def test_gpu_and_infrastructure_sets_are_no_reference() -> None:
    infra = worker()
    infra["spec"]["template"]["spec"]["taints"] = [{"key": "infra", "effect": "NoSchedule"}]
    gpu = worker()
    gpu["spec"]["template"]["spec"]["metadata"]["labels"] = {"cluster-api/accelerator": "nvidia-t4"}
    assert code(live=[infra, gpu, *lived(plan(name="other"))]) == "MACH-NO-REFERENCE"


def test_a_foreign_set_is_left_alone() -> None:
    live = lived(plan())
    del live[0]["metadata"]["labels"]["app.kubernetes.io/managed-by"]
    assert code(live=live) == "MACH-FOREIGN"


def test_another_instance_type_is_never_written_over() -> None:
    assert code(live=[worker(), *lived(plan())], instance_type="g4dn.2xlarge") == "POOL-DRIFT"


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


def test_a_patch_is_merged_last() -> None:
    (manifest,) = plan(provider_spec_patch={"placementGroupName": "pg", "tags": None}).manifests.values()
    provider = manifest["spec"]["template"]["spec"]["providerSpec"]["value"]
    assert provider["placementGroupName"] == "pg"
    assert "tags" not in provider


def test_a_misspelt_field_of_a_patch_never_reaches_the_api() -> None:
    with pytest.raises(AcceleratorError) as caught:
        plan(provider_spec_patch={"capacityReservationID": "cr-0123456789abcdef0"})
    assert caught.value.code == "POOL-PROVIDER-FIELD"
    assert "capacityReservationId" in caught.value.remedy


def test_a_mirrored_set_is_not_ours_to_write() -> None:
    (mine,) = lived(plan())
    mine["spec"]["authoritativeAPI"] = "ClusterAPI"
    with pytest.raises(AcceleratorError) as caught:
        plan([mine])
    assert caught.value.code == "MACH-MIRRORED"
