"""Azure: sizes, zones that are numbers, disks, the spot market and reserved groups."""

from __future__ import annotations

import typing as t

import pytest
from unit import pool_builders
from unit.pool_builders import Data, built, problems

from ansible_collections.accelerators.openshift.plugins.module_utils._platforms import registry as platforms

IMAGE: t.Final = {
    "offer": "",
    "publisher": "",
    "resourceID": "/resourceGroups/g/images/i",
    "sku": "",
    "version": "",
}
SOURCE: t.Final[Data] = {
    "apiVersion": "machine.openshift.io/v1beta1",
    "kind": "AzureMachineProviderSpec",
    "metadata": {"creationTimestamp": None},
    "acceleratedNetworking": True,
    "credentialsSecret": {"name": "azure-cloud-credentials", "namespace": "openshift-machine-api"},
    "userDataSecret": {"name": "worker-user-data"},
    "image": IMAGE,
    "location": "eastus",
    "managedIdentity": "demo-identity",
    "networkResourceGroup": "demo-rg",
    "osDisk": {
        "diskSettings": {"ephemeralStorageLocation": "Local"},
        "cachingType": "ReadOnly",
        "diskSizeGB": 64,
        "managedDisk": {
            "diskEncryptionSet": {"id": "/des"},
            "securityProfile": {"diskEncryptionSet": {}},
            "storageAccountType": "StandardSSD_LRS",
        },
        "osType": "Linux",
    },
    "publicIP": False,
    "publicLoadBalancer": "demo",
    "resourceGroup": "demo-rg",
    "subnet": "demo-worker-subnet",
    "tags": {"team": "infra"},
    "vmSize": "Standard_D4s_v3",
    "vnet": "demo-vnet",
    "zone": "1",
    "availabilitySet": "theirs",
    "spotVMOptions": {},
    "securityProfile": {"encryptionAtHost": True, "settings": {"securityType": "TrustedLaunch"}},
}
GROUP: t.Final = (
    "/subscriptions/s/resourceGroups/g/providers/Microsoft.Compute/capacityReservationGroups/a100"
)


def pool(
    instance_type: str = "Standard_NC24ads_A100_v4", zones: t.Sequence[str] = ("1",), **more: t.Any
) -> Data:
    return {
        "name": "p",
        "candidates": [{"instance_type": instance_type, "zones": list(zones)}],
        "replicas": 1,
        **more,
    }


def value(zone: str = "1", image: str = "", source: Data | None = None, **more: t.Any) -> Data:
    return built("azure", pool(**more), source or SOURCE, zone, image)


def test_the_copy_of_a_worker() -> None:
    found = value()
    kept = (
        "image",
        "vnet",
        "subnet",
        "publicLoadBalancer",
        "managedIdentity",
        "tags",
        "location",
        "resourceGroup",
        "networkResourceGroup",
        "credentialsSecret",
    )
    assert {key: found[key] for key in kept} == {key: SOURCE[key] for key in kept}
    assert (found["vmSize"], found["zone"], found["acceleratedNetworking"]) == (
        "Standard_NC24ads_A100_v4",
        "1",
        True,
    )
    assert not {"availabilitySet", "spotVMOptions", "metadata"} & set(found)
    assert found["securityProfile"] == {"encryptionAtHost": True}
    disk = {"diskEncryptionSet": {"id": "/des"}, "storageAccountType": "StandardSSD_LRS"}
    assert found["osDisk"] == {"osType": "Linux", "diskSizeGB": 128, "managedDisk": disk}
    assert platforms.unknown_fields(platforms.PLATFORMS["Azure"], SOURCE) == []


def test_a_size_in_any_spelling_is_called_as_azure_does() -> None:
    (planned,) = pool_builders.plan([pool("nc24ads_a100_v4")], cloud="azure")["pools"]
    assert planned["candidates"][0]["instance_type"] == "Standard_NC24ads_A100_v4"
    assert value(instance_type="nc24ads_a100_v4")["vmSize"] == "Standard_NC24ads_A100_v4"


def test_a_region_without_zones() -> None:
    assert "zone" not in value(zones=[], zone="", source={**SOURCE, "zone": ""})


def test_a_size_without_accelerated_networking() -> None:
    assert "acceleratedNetworking" not in value(instance_type="Standard_NC6s_v3")
    assert "acceleratedNetworking" not in value(azure={"accelerated_networking": False})


@pytest.mark.parametrize(
    ("market", "fields"),
    [
        ("spot", {"spotVMOptions": {}}),
        ({"type": "spot", "max_price": "0.75"}, {"spotVMOptions": {"maxPrice": "750m"}}),
        ({"type": "spot", "max_price": "2"}, {"spotVMOptions": {"maxPrice": "2"}}),
        ({"type": "on_demand", "reservation": GROUP}, {"capacityReservationGroupID": GROUP}),
    ],
)
def test_markets(market: t.Any, fields: Data) -> None:
    assert fields.items() <= value(market=market).items()


def test_disks() -> None:
    found = value(
        disk={"size_gib": 64, "type": "Premium_LRS"},
        azure={"ultra_disks": True, "data_disks": [{"name": "a", "size_gib": 8}]},
    )
    assert (found["osDisk"]["diskSizeGB"], found["osDisk"]["managedDisk"]["storageAccountType"]) == (
        64,
        "Premium_LRS",
    )
    assert found["ultraSSDCapability"] == "Enabled"
    (disk,) = found["dataDisks"]
    assert disk == {
        "nameSuffix": "a",
        "diskSizeGB": 8,
        "lun": 0,
        "cachingType": "ReadOnly",
        "managedDisk": {"storageAccountType": "Premium_LRS"},
        "deletionPolicy": "Delete",
    }
    assert "cachingType" in value(source={**SOURCE, "osDisk": {"cachingType": "ReadWrite"}})["osDisk"]


def test_images() -> None:
    assert value(image="/images/arm")["image"] == {**IMAGE, "resourceID": "/images/arm"}
    urn = {
        "publisher": "azureopenshift",
        "offer": "aro4",
        "sku": "aro_422",
        "version": "1.2.3",
        "resourceID": "",
    }
    assert value(image="azureopenshift:aro4:aro_422:1.2.3")["image"] == urn


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"zones": ["eastus-1"]}, ("POOL-ZONE", "candidates[0].zones")),
        ({"zones": [1]}, ("POOL-TYPE", "candidates[0].zones[0]")),
        ({"market": {"type": "capacity_block", "reservation": "cr-1"}}, ("POOL-MARKET", "market.type")),
        ({"market": "capacity_block"}, ("POOL-MARKET", "market.type")),
        ({"market": {"type": "on_demand", "reservation": "a100"}}, ("POOL-MARKET", "market.reservation")),
        ({"market": {"type": "spot", "reservation": GROUP}}, ("POOL-CONFLICT", "market.reservation")),
        (
            {"market": "spot", "provider_spec_patch": {"capacityReservationGroupID": GROUP}},
            ("POOL-CONFLICT", "provider_spec_patch.capacityReservationGroupID"),
        ),
        ({"disk": {"type": "UltraSSD_LRS"}}, ("POOL-DISK", "disk.type")),
        ({"disk": {"iops": 5000}}, ("POOL-DISK", "disk.iops")),
        ({"disk": {"size_gib": 40000}}, ("POOL-DISK", "disk.size_gib")),
        ({"zones": [], "azure": {"ultra_disks": True}}, ("POOL-DISK", "azure.ultra_disks")),
        (
            {"azure": {"data_disks": [{"name": "a", "size_gib": 8}, {"name": "a", "size_gib": 8}]}},
            ("POOL-DUPLICATE", "azure.data_disks"),
        ),
        (
            {"azure": {"data_disks": [{"name": "a/b", "size_gib": 8}]}},
            ("POOL-VALUE", "azure.data_disks[0].name"),
        ),
        (
            {"instance_type": "Standard_NC6s_v3", "azure": {"accelerated_networking": True}},
            ("POOL-FABRIC", "azure.accelerated_networking"),
        ),
        (
            {"provider_spec_patch": {"osDisk": {"diskSizeGb": 1}}},
            ("POOL-PROVIDER-FIELD", "provider_spec_patch.osDisk.diskSizeGb"),
        ),
        ({"instance_type": "Standard_NP10s"}, ("POOL-VENDOR", "candidates[0].instance_type")),
        ({"instance_type": "Standard_ND96isr_MI300X_v5"}, ("POOL-VENDOR", "candidates[0].instance_type")),
        (
            {"instance_type": "Standard_ND96isr_MI300X_v5", "accelerator": "nvidia-h100"},
            ("POOL-VENDOR", "candidates[0].instance_type"),
        ),
    ],
    ids=str,
)
def test_what_is_refused(changes: Data, problem: tuple[str, str]) -> None:
    assert problems("azure", pool(**changes)) == [problem]


def test_a_share_of_a_gpu_needs_another_driver() -> None:
    plan = pool_builders.plan([pool("Standard_NV6ads_A10_v5")], cloud="azure")
    (candidate,) = plan["pools"][0]["candidates"]
    assert (candidate["gpu_share"], candidate["gpu_memory_gib"], candidate["expected"]) == (
        "1/6",
        4,
        {"nvidia.com/gpu": 1},
    )
    assert "1/6 of its A10 as a vGPU: it needs NVIDIA's GRID guest driver" in plan["remarks"][0]


def test_another_vendor_s_devices_are_made_when_they_are_meant() -> None:
    plan = pool_builders.plan(
        [pool("Standard_ND96isr_MI300X_v5", accelerator="amd-mi300x"), {**pool(), "name": "q"}], cloud="azure"
    )
    assert plan["pools"][0]["expected"] == {"amd.com/gpu": 8}
    assert [group["name"] for group in plan["groups"]] == ["q"]
    assert [one["name"] for one in plan["validations"]] == ["q"]
    assert len(plan["expected_labels"]) == 1
    assert "MI300X devices (amd): the collection creates its nodes" in plan["remarks"][0]
