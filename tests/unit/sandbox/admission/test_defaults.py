"""What the webhook fills in, and what it loses on the way."""

from __future__ import annotations

import copy

import pytest
from unit.sandbox.admission.builders import CONTEXT, INSTALLED, RESERVATION, SPECS, Data, machine_set

from openshift_sandbox.stand_ins.admission.platform import Verdict
from openshift_sandbox.stand_ins.admission.review import PLATFORMS, defaulted, validated


@pytest.mark.parametrize("platform", INSTALLED)
def test_what_the_installer_writes_stays_as_it_is(platform: str) -> None:
    value = SPECS[platform]
    made, problems = defaulted(PLATFORMS[platform], machine_set(copy.deepcopy(value)), CONTEXT)
    assert problems == []
    assert made["spec"]["template"]["spec"]["providerSpec"]["value"] == value | {"metadata": {}}


@pytest.mark.parametrize(
    ("platform", "value", "wanted"),
    [
        (
            "AWS",
            {},
            {
                "instanceType": "m5.large",
                "placement": {"region": "us-east-2"},
                "credentialsSecret": {"name": "aws-cloud-credentials"},
                "deviceIndex": 0,
            },
        ),
        (
            "Azure",
            {},
            {
                "vmSize": "Standard_D4s_V3",
                "vnet": "demo-x7k2p-vnet",
                "subnet": "demo-x7k2p-worker-subnet",
                "userDataSecret": {"name": "worker-user-data"},
            },
        ),
        (
            "Azure",
            {"credentialsSecret": {"name": "x"}},
            {"credentialsSecret": {"name": "x", "namespace": "openshift-machine-api"}},
        ),
        (
            "GCP",
            {"gpus": [{"type": "nvidia-tesla-t4"}]},
            {"gpus": [{"count": 1, "type": "nvidia-tesla-t4"}], "tags": ["demo-x7k2p-worker"]},
        ),
        ("VSphere", {}, {"userDataSecret": {"name": "worker-user-data"}, "snapshot": "", "template": ""}),
        (
            "Nutanix",
            {},
            {"credentialsSecret": {"name": "nutanix-credentials"}, "gpus": None, "failureDomain": None},
        ),
    ],
)
def test_what_is_filled_in(platform: str, value: Data, wanted: Data) -> None:
    made, problems = defaulted(PLATFORMS[platform], machine_set(value), CONTEXT)
    assert problems == []
    assert made["spec"]["template"]["spec"]["providerSpec"]["value"].items() >= wanted.items()


def test_an_unknown_field_of_a_new_set_is_lost_without_a_word() -> None:
    made, problems = defaulted(
        PLATFORMS["AWS"],
        machine_set(SPECS["AWS"] | {"capacityReservation": RESERVATION, "NetworkInterfaceType": "EFA"}),
        CONTEXT,
    )
    value = made["spec"]["template"]["spec"]["providerSpec"]["value"]
    assert problems == []
    assert "capacityReservation" not in value
    assert value["networkInterfaceType"] == "EFA"
    assert validated(PLATFORMS["AWS"], made, None, CONTEXT) == Verdict([], [])


def test_a_set_without_a_provider_specification() -> None:
    assert defaulted(PLATFORMS["GCP"], machine_set(None), CONTEXT)[1] == [
        "providerSpec.value: Required value: a value must be provided"
    ]


def test_a_disk_without_labels_gets_empty_ones() -> None:
    disk = {"boot": True, "autoDelete": True, "sizeGb": 200, "type": "pd-ssd", "image": "i"}
    made, problems = defaulted(PLATFORMS["GCP"], machine_set(SPECS["GCP"] | {"disks": [disk]}), CONTEXT)
    assert problems == []
    assert made["spec"]["template"]["spec"]["providerSpec"]["value"]["disks"] == [disk | {"labels": None}]
