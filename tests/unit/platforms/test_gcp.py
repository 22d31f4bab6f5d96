"""Google Cloud: GPUs that are built in or attached, hosts that never migrate, disks, spot machines."""

from __future__ import annotations

import typing as t

import pytest
from unit import pool_builders
from unit.pool_builders import Data, built, problems

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import InputError
from ansible_collections.accelerators.openshift.plugins.module_utils._platforms import registry as platforms

BOOT: t.Final = {
    "autoDelete": True,
    "boot": True,
    "image": "projects/p/global/images/i",
    "labels": {"a": "b"},
    "sizeGb": 64,
    "type": "pd-balanced",
}
SOURCE: t.Final[Data] = {
    "apiVersion": "machine.openshift.io/v1beta1",
    "kind": "GCPMachineProviderSpec",
    "metadata": {"creationTimestamp": None},
    "canIPForward": False,
    "credentialsSecret": {"name": "gcp-cloud-credentials"},
    "userDataSecret": {"name": "worker-user-data"},
    "deletionProtection": True,
    "disks": [
        {"autoDelete": False, "boot": False, "image": "", "labels": None, "sizeGb": 10, "type": "pd-ssd"},
        BOOT,
    ],
    "machineType": "n2-standard-4",
    "networkInterfaces": [{"network": "demo-network", "subnetwork": "demo-worker-subnet"}],
    "projectID": "demo",
    "region": "us-central1",
    "serviceAccounts": [{"email": "a@b", "scopes": ["https://www.googleapis.com/auth/cloud-platform"]}],
    "shieldedInstanceConfig": {"secureBoot": "Enabled", "integrityMonitoring": "Enabled"},
    "tags": ["demo-worker"],
    "targetPools": ["theirs"],
    "onHostMaintenance": "Migrate",
    "preemptible": True,
    "restartPolicy": "Always",
    "confidentialCompute": "Enabled",
    "zone": "us-central1-b",
}
T4: t.Final = {"gpus": {"type": "nvidia-tesla-t4", "count": 2}}


def pool(instance_type: str = "g2-standard-8", **more: t.Any) -> Data:
    return {
        "name": "p",
        "candidates": [{"instance_type": instance_type, "zones": ["us-central1-a"]}],
        "replicas": 1,
        **more,
    }


def value(image: str = "", **more: t.Any) -> Data:
    return built("gcp", pool(**more), SOURCE, "us-central1-a", image)


def test_the_copy_of_a_worker() -> None:
    found = value()
    kept = (
        "networkInterfaces",
        "serviceAccounts",
        "tags",
        "projectID",
        "region",
        "userDataSecret",
        "credentialsSecret",
        "canIPForward",
    )
    assert {key: found[key] for key in kept} == {key: SOURCE[key] for key in kept}
    assert (found["machineType"], found["zone"], found["onHostMaintenance"]) == (
        "g2-standard-8",
        "us-central1-a",
        "Terminate",
    )
    foreign = {
        "gpus",
        "preemptible",
        "provisioningModel",
        "restartPolicy",
        "confidentialCompute",
        "deletionProtection",
        "targetPools",
        "metadata",
    }
    assert not foreign & set(found)
    assert found["disks"] == [{**BOOT, "sizeGb": 128}]
    assert found["shieldedInstanceConfig"] == {"integrityMonitoring": "Enabled"}
    assert platforms.unknown_fields(platforms.PLATFORMS["GCP"], SOURCE) == []


@pytest.mark.parametrize(
    "described",
    [{"instance_type": "n1-standard-8", "gcp": T4}, {"instance_type": "n1-standard-8+nvidia-tesla-t4:2"}],
    ids=["gcp.gpus", "name"],
)
def test_gpus_that_are_attached(described: Data) -> None:
    found = value(**described)
    assert (found["machineType"], found["gpus"], found["onHostMaintenance"]) == (
        "n1-standard-8",
        [{"type": "nvidia-tesla-t4", "count": 2}],
        "Terminate",
    )
    (planned,) = pool_builders.plan([pool(**described)], cloud="gcp")["pools"]
    assert (planned["expected"], planned["accelerator"]) == ({"nvidia.com/gpu": 2}, "nvidia-t4")
    assert platforms.PLATFORMS["GCP"].instance_type(found) == planned["candidates"][0]["instance_type"]


def test_nodes_are_known_by_the_machine_type_alone() -> None:
    candidates = [
        {"instance_type": "n1-standard-8", "zones": ["us-central1-a"], "gcp": T4},
        {"instance_type": "g2-standard-8", "zones": ["us-central1-a"]},
    ]
    groups = pool_builders.plan([pool(candidates=candidates)], cloud="gcp")["groups"]
    assert [group["node_selector"]["node.kubernetes.io/instance-type"] for group in groups] == [
        "n1-standard-8",
        "g2-standard-8",
    ]


@pytest.mark.parametrize(
    ("more", "fields", "absent"),
    [
        ({"market": "spot"}, {"provisioningModel": "Spot"}, "preemptible"),
        ({"market": "spot", "gcp": {"preemptible": True}}, {"preemptible": True}, "provisioningModel"),
        ({"gcp": {"restart_policy": "Always"}}, {"restartPolicy": "Always"}, "provisioningModel"),
    ],
    ids=str,
)
def test_markets(more: Data, fields: Data, absent: str) -> None:
    found = value(**more)
    assert fields.items() <= found.items()
    assert absent not in found


@pytest.mark.parametrize(
    ("instance_type", "disk", "kind"),
    [
        ("g2-standard-8", {}, "pd-balanced"),
        ("g2-standard-8", {"type": "pd-ssd"}, "pd-ssd"),
        ("a4-highgpu-8g", {}, "hyperdisk-balanced"),
        ("g4-standard-48", {}, "hyperdisk-balanced"),
        ("a3-highgpu-8g", {"type": "hyperdisk-balanced"}, "hyperdisk-balanced"),
    ],
)
def test_a_disk_that_the_machine_boots_from(instance_type: str, disk: Data, kind: str) -> None:
    (found,) = value(instance_type=instance_type, disk=disk)["disks"]
    assert found["type"] == kind


def test_shielded_and_another_image() -> None:
    found = value(
        "projects/p/global/images/arm",
        gcp={"shielded": {"secure_boot": True, "vtpm": True, "integrity_monitoring": False}},
    )
    asked = {
        "secureBoot": "Enabled",
        "virtualizedTrustedPlatformModule": "Enabled",
        "integrityMonitoring": "Disabled",
    }
    assert (found["shieldedInstanceConfig"], found["disks"][0]["image"]) == (
        asked,
        "projects/p/global/images/arm",
    )


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"gcp": T4}, ("POOL-CONFLICT", "gcp.gpus")),
        ({"instance_type": "n1-standard-8"}, ("POOL-NO-GPUS", "candidates[0].instance_type")),
        (
            {"instance_type": "n1-standard-8+nvidia-tesla-t4:3"},
            ("POOL-ATTACHED", "candidates[0].instance_type"),
        ),
        (
            {"instance_type": "n1-standard-8+nvidia-tesla-t4:1", "gcp": T4},
            ("POOL-CONFLICT", "candidates[0].gcp.gpus"),
        ),
        (
            {"instance_type": "n1-standard-8", "gcp": {"gpus": {"type": "nvidia-tesla-t4", "count": 3}}},
            ("POOL-ATTACHED", "candidates[0].gcp.gpus"),
        ),
        (
            {"instance_type": "n1-standard-8", "gcp": {"gpus": {"type": "nvidia-tesla-a100"}}},
            ("POOL-ATTACHED", "candidates[0].gcp.gpus"),
        ),
        ({"market": {"type": "on_demand", "reservation": "r"}}, ("POOL-MARKET", "market.reservation")),
        ({"market": {"type": "capacity_block", "reservation": "r"}}, ("POOL-MARKET", "market.type")),
        ({"market": "capacity_block"}, ("POOL-MARKET", "market.type")),
        ({"market": {"type": "spot", "max_price": "1"}}, ("POOL-MARKET", "market.max_price")),
        ({"market": "spot", "gcp": {"restart_policy": "Always"}}, ("POOL-CONFLICT", "gcp.restart_policy")),
        ({"gcp": {"preemptible": True}}, ("POOL-CONFLICT", "gcp.preemptible")),
        ({"gcp": {"shielded": {"vtpm": False}}}, ("POOL-CONFLICT", "gcp.shielded.integrity_monitoring")),
        ({"disk": {"type": "gp3"}}, ("POOL-DISK", "disk.type")),
        ({"disk": {"type": "hyperdisk-balanced"}}, ("POOL-DISK", "disk.type")),
        ({"instance_type": "a4-highgpu-8g", "disk": {"type": "pd-ssd"}}, ("POOL-DISK", "disk.type")),
        ({"disk": {"throughput_mib": 200}}, ("POOL-DISK", "disk.throughput_mib")),
        (
            {"provider_spec_patch": {"onHostMaintenance": "Migrate"}},
            ("POOL-CONFLICT", "provider_spec_patch.onHostMaintenance"),
        ),
        ({"provider_spec_patch": {"gpus": []}}, ("POOL-PROVIDER-VALUE", "provider_spec_patch.gpus")),
        (
            {"provider_spec_patch": {"provisioningModel": "Spot"}},
            ("POOL-PROVIDER-VALUE", "provider_spec_patch.provisioningModel"),
        ),
        (
            {"provider_spec_patch": {"confidentialCompute": "Enabled"}},
            ("POOL-CONFLICT", "provider_spec_patch.confidentialCompute"),
        ),
        (
            {"provider_spec_patch": {"onHostMaintenence": "Terminate"}},
            ("POOL-PROVIDER-FIELD", "provider_spec_patch.onHostMaintenence"),
        ),
    ],
    ids=str,
)
def test_what_is_refused(changes: Data, problem: tuple[str, str]) -> None:
    assert problems("gcp", pool(**changes)) == [problem]


def test_the_same_machine_with_different_devices_is_two_pools() -> None:
    zones = ["us-central1-a"]
    candidates = [
        {"instance_type": f"n1-standard-8+nvidia-tesla-t4:{count}", "zones": zones} for count in (1, 2)
    ]
    assert problems("gcp", pool(candidates=candidates)) == [("POOL-MIXED", "candidates")]


def test_allowed_numbers_are_told() -> None:
    with pytest.raises(InputError, match="cannot be attached to n1-standard-8") as caught:
        pool_builders.plan(
            [pool("n1-standard-8", gcp={"gpus": {"type": "nvidia-tesla-t4", "count": 3}})], cloud="gcp"
        )
    assert caught.value.remedy.endswith("to what is allowed: 1, 2, 4.")
