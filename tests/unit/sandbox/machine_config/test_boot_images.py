"""Which MachineSets get a new boot image."""

from __future__ import annotations

import typing as t

import pytest
from unit.sandbox.fake_api import World
from unit.sandbox.machine_config.builders import Data

from openshift_sandbox.stand_ins.machine_config.boot_images import BootImages

NAMESPACE = "openshift-machine-api"
GCP = "projects/rhcos-cloud/global/images/"


def booted(platform: str, value: Data, image: str = "new", **more: t.Any) -> Data:
    """Return the provider specification after an update to `image`."""
    world = World(
        BootImages(),
        cluster={"image_id": "ami-installed"},
        troubles=[{"type": "boot_image_update", "image": image}],
    )
    infrastructure = {
        "apiVersion": "config.openshift.io/v1",
        "kind": "Infrastructure",
        "metadata": {"name": "cluster"},
    }
    world.api.create(infrastructure | {"status": {"platformStatus": {"type": platform}}})
    metadata = {"name": "gpu", "namespace": NAMESPACE} | more
    spec = {"template": {"spec": {"providerSpec": {"value": value}}}}
    world.api.create(
        {
            "apiVersion": "machine.openshift.io/v1beta1",
            "kind": "MachineSet",
            "metadata": metadata,
            "spec": spec,
        }
    )
    world.settle()
    before = len(world.api.writes)
    world.settle(5)
    assert len(world.api.writes) == before
    return t.cast(
        Data,
        world.api.get("MachineSet", "gpu", NAMESPACE)["spec"]["template"]["spec"]["providerSpec"]["value"],
    )


class TestBootImages:
    def test_aws(self) -> None:
        value = {"ami": {"id": "ami-installed"}, "instanceType": "g4dn.xlarge"}
        assert booted("AWS", value, "ami-new") == {"ami": {"id": "ami-new"}, "instanceType": "g4dn.xlarge"}

    @pytest.mark.parametrize("ami", [{"id": "ami-of-my-own"}, {"filters": [{"name": "tag:Name"}]}])
    def test_an_image_of_somebody_else_stays(self, ami: Data) -> None:
        assert booted("AWS", {"ami": ami}, "ami-new") == {"ami": ami}

    def test_gcp_changes_the_boot_disk(self) -> None:
        disks = [{"boot": True, "image": f"{GCP}old", "sizeGb": 128}, {"boot": False, "image": f"{GCP}data"}]
        assert booted("GCP", {"disks": disks})["disks"] == [
            {"boot": True, "image": f"{GCP}new", "sizeGb": 128},
            disks[1],
        ]

    def test_gcp_leaves_a_custom_image(self) -> None:
        disks = [{"boot": True, "image": "projects/mine/global/images/x"}]
        assert booted("GCP", {"disks": disks})["disks"] == disks

    def test_azure_goes_to_the_marketplace(self) -> None:
        image = booted(
            "Azure",
            {
                "image": {
                    "resourceID": "/resourceGroups/x/gen2",
                    "offer": "",
                    "publisher": "",
                    "sku": "",
                    "version": "",
                }
            },
            "422.1.2",
        )["image"]
        assert (image["resourceID"], image["publisher"], image["version"], image["type"]) == (
            "",
            "azureopenshift",
            "422.1.2",
            "MarketplaceNoPlan",
        )

    def test_azure_leaves_confidential_machines(self) -> None:
        value = {
            "image": {"resourceID": "x"},
            "securityProfile": {"settings": {"securityType": "ConfidentialVM"}},
        }
        assert booted("Azure", value) == value

    def test_vsphere(self) -> None:
        assert booted("VSphere", {"template": "old"}) == {"template": "new"}

    def test_owned_sets_are_left_alone(self) -> None:
        owner = {"apiVersion": "v1", "kind": "ConfigMap", "name": "x", "uid": "x"}
        assert booted("AWS", {"ami": {"id": "ami-installed"}}, ownerReferences=[owner]) == {
            "ami": {"id": "ami-installed"}
        }

    def test_other_platforms_have_none(self) -> None:
        assert booted("OpenStack", {"image": "rhcos"}) == {"image": "rhcos"}
