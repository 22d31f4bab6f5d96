"""From a worker machine set to the sets of a GPU pool."""

from __future__ import annotations

import typing as t
from dataclasses import replace

import pytest
from unit import pool_builders
from unit.machines.builders import (
    TAINTS,
    WORKER,
    Data,
    cluster,
    drafted,
    lived,
    machine,
    params,
    plan,
    worker,
)

from ansible_collections.accelerators.openshift.plugins.module_utils._machines import (
    candidates,
    drift,
    machine_set,
    plan as machine_plan,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._machines.machine import SET
from ansible_collections.accelerators.openshift.plugins.module_utils._nodes.taints import STARTUP_TAINT
from ansible_collections.accelerators.openshift.plugins.module_utils._platforms.platform import Wanted
from ansible_collections.accelerators.openshift.plugins.module_utils._platforms.registry import (
    PLATFORMS,
    unknown_fields,
)

AWS = PLATFORMS["AWS"]
_POOL: t.Final = {
    "name": "t4",
    "candidates": [{"instance_type": "g4dn.xlarge", "zones": ["us-east-2a"]}],
    "replicas": 1,
}


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
    assert set(manifest) == {"apiVersion", "kind", "metadata", "spec"}


def test_the_instance_is_the_worker_s_but_for_type_and_disk() -> None:
    (manifest,) = plan(
        taints=TAINTS, labels={"team": "ml"}, disk={"size_gib": 200, "iops": 6000}
    ).manifests.values()
    provider = manifest["spec"]["template"]["spec"]["providerSpec"]["value"]
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
    assert planned.warnings == [
        (
            "Unknown fields of the machine set demo-x7k2p-worker-us-east-2a were not copied: "
            "blockDevices[0].ebs.turbo, fancy."
        )
    ]
    assert "turbo" not in str(planned.manifests)
    assert "fancy" not in machine_set.provider_of(next(iter(planned.manifests.values())))
    assert unknown_fields(AWS, machine_set.provider_of(worker())) == []


def test_an_existing_set_keeps_its_image() -> None:
    live = lived(plan())
    newer = worker(ami={"id": "ami-newer"})
    again = plan([newer, *live])
    assert again.manifests["demo-x7k2p-t4-us-east-2a"] == plan().manifests["demo-x7k2p-t4-us-east-2a"]
    assert again.warnings == []


def test_an_existing_set_needs_no_reference() -> None:
    live = lived(plan())
    assert plan(live, replicas=2).replicas == {"demo-x7k2p-t4-us-east-2a": 2}


def test_what_only_new_machines_get_is_told() -> None:
    (remark,) = plan([worker(), *lived(plan())], disk={"size_gib": 500}, market="spot").warnings
    assert "blockDevices, spotMarketOptions changed" in remark
    assert plan(lived(plan(replicas=0)), replicas=0, disk={"size_gib": 500}).warnings == []


def test_zones_that_are_given_up() -> None:
    workers = [worker("us-east-2a"), worker("us-east-2b")]
    live = lived(plan(workers, zones=["us-east-2a", "us-east-2b"], replicas=2))
    assert plan([*workers, *live]).surplus == ["demo-x7k2p-t4-us-east-2b"]


def test_an_image_lifts_the_architecture() -> None:
    (manifest,) = plan(instance_type="g5g.xlarge", image="ami-arm").manifests.values()
    assert machine_set.provider_of(manifest)["ami"] == {"id": "ami-arm"}


def test_a_patch_is_merged_last() -> None:
    (manifest,) = plan(provider_spec_patch={"placementGroupName": "pg", "tags": None}).manifests.values()
    provider = manifest["spec"]["template"]["spec"]["providerSpec"]["value"]
    assert provider["placementGroupName"] == "pg"
    assert "tags" not in provider


@pytest.mark.parametrize(
    ("instance_type", "words"),
    [
        ("p4d.24xlarge", "one Elastic Fabric Adapter of 4:"),
        ("p4de.24xlarge", "one Elastic Fabric Adapter of 4:"),
        ("p5e.48xlarge", "one Elastic Fabric Adapter of 32:"),
        ("p5.48xlarge", "one Elastic Fabric Adapter of 32:"),
        ("p6-b200.48xlarge", "one Elastic Fabric Adapter:"),
    ],
)
def test_what_is_really_got_of_the_fabric_is_said(instance_type: str, words: str) -> None:
    (remark,) = plan(instance_type=instance_type, aws={"efa": True}).warnings
    assert words in remark


def test_without_efa_and_with_all_of_it_nothing_is_said() -> None:
    assert plan(instance_type="p4d.24xlarge").warnings == []
    for size in (8, 12, 16, 24, 48):
        assert plan(instance_type=f"g6.{size}xlarge", aws={"efa": True}).warnings == []


def test_the_set_of_another_candidate_keeps_its_name() -> None:
    live = [worker(), *lived(plan(replicas=0))]
    for size, number in (("2xlarge", 2), ("4xlarge", 3)):
        pool = drafted(params(instance_type=f"g4dn.{size}"))
        made = machine_plan.plan(cluster(), pool, candidates.start(pool, []).shares, live, params())
        assert list(made.manifests) == [f"demo-x7k2p-t4-us-east-2a-{number}"]
        live += lived(made)


def test_machines_that_a_search_added_and_that_have_no_instance() -> None:
    (live_set,) = lived(plan(replicas=2))
    held = [candidates.Held("demo-x7k2p-t4-us-east-2a", "g4dn.xlarge", "us-east-2a", 1, "")]
    machines = [machine(phase) for phase in ("Provisioning", "Failed", "Provisioned", "Running")]
    for each in machines:
        each["metadata"]["labels"][SET] = "demo-x7k2p-t4-us-east-2a"
    found = machine_plan.too_many(held, [live_set], [*machines, machine("Provisioning")])
    assert [each["status"]["phase"] for each in found] == ["Provisioning", "Failed"]
    live_set["spec"]["replicas"] = 1
    assert machine_plan.too_many(held, [live_set], machines) == []
    empty = [replace(held[0], replicas=0)]
    assert machine_plan.too_many(empty, [], machines) == []


def test_the_role_label_can_be_left_out() -> None:
    (manifest,) = plan(node_role=False).manifests.values()
    labels = manifest["spec"]["template"]["spec"]["metadata"]["labels"]
    assert "node-role.kubernetes.io/gpu" not in labels
    assert labels["accelerators.openshift/pool"] == "t4"


def test_a_pool_names_the_set_to_copy_and_wins_over_the_option() -> None:
    other = worker("us-east-2a")
    other["metadata"]["name"] = "demo-x7k2p-other-us-east-2a"
    other["spec"]["template"]["spec"]["providerSpec"]["value"]["tags"] = [{"name": "copied", "value": "yes"}]
    pool = {
        "name": "t4",
        "candidates": [{"instance_type": "g4dn.xlarge", "zones": ["us-east-2a"]}],
        "replicas": 1,
        "source_machine_set": ["demo-x7k2p-other-us-east-2a"],
    }
    made = plan([worker("us-east-2a"), other], pool=pool, source_machine_set=["demo-x7k2p-worker-us-east-2a"])
    (manifest,) = made.manifests.values()
    value = manifest["spec"]["template"]["spec"]["providerSpec"]["value"]
    assert value["tags"] == [{"name": "copied", "value": "yes"}]


def test_machines_of_a_gated_pool_come_closed_and_no_node_has_to_stay_so() -> None:
    gated = pool_builders.plan(
        [{**_POOL, "taints": TAINTS, "validate": {"gate": True}}], cloud="aws", prefix="demo-x7k2p"
    )["pools"][0]
    planned = plan(pool=gated, instance_type=None, zones=None)
    ((name, manifest),) = planned.manifests.items()
    assert manifest["spec"]["template"]["spec"]["taints"] == [*TAINTS, STARTUP_TAINT]
    assert planned.taints(name) == TAINTS
    (plain,) = plan(taints=TAINTS).manifests.values()
    (found,) = drift.of_set(plain, manifest)
    assert found["field"] == f"taints.{STARTUP_TAINT['key']}:NoSchedule", (
        "a run says what the pool's gate changes"
    )
