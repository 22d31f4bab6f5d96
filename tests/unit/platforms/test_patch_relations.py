# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The rules of the Machine API's webhook from both sides.

What it refuses of a pool's patch, our own check refuses first; what it lets pass, passes.
"""

from __future__ import annotations

import typing as t

import pytest
from unit import pool_builders
from unit.sandbox.admission.builders import GROUP, TAG, judged
from unit.sandbox.admission.cases.all_platforms import ACCEPTED, REFUSED

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import InputError
from ansible_collections.accelerators.openshift.plugins.module_utils._platforms import patch_values
from ansible_collections.accelerators.openshift.plugins.module_utils._platforms.registry import PLATFORMS

Data = dict[str, t.Any]
OWN: t.Final = {"gpus": 1, "gpu_model": "L40S", "gpu_memory_gib": 48}
CANDIDATES: t.Final[dict[str, Data]] = {
    "AWS": {"instance_type": "p4d.24xlarge", "zones": ["us-east-2a"]},
    "Azure": {"instance_type": "Standard_NC4as_T4_v3", "zones": ["1"]},
    "GCP": {"instance_type": "g2-standard-8", "zones": ["us-central1-a"]},
    "VSphere": {"instance_type": "rhcos-gpu", **OWN},
    "Nutanix": {"instance_type": "big", **OWN, "nutanix": {"gpus": [{"name": "Ada L40S"}]}},
}
HOSTED: t.Final = {
    "tenancy": "host",
    "host": {"affinity": "DedicatedHost", "dedicatedHost": {"id": "h-01234567"}},
}
DISK: t.Final = {"nameSuffix": "d", "diskSizeGB": 8, "lun": 0, "deletionPolicy": "Delete"}
NIC: t.Final = {"network": "n", "subnetwork": "s"}
# Beside those of the stand-in's own tests: (platform, patch that is accepted, patch that is refused).
PAIRS: t.Final[list[tuple[str, Data, Data]]] = [
    ("AWS", {"ami": {"id": "ami-1"}}, {"ami": None}),
    ("AWS", {"userDataSecret": {"name": "gpu"}}, {"userDataSecret": {"name": ""}}),
    ("AWS", {"placement": {"tenancy": "dedicated"}}, {"placement": {"tenancy": "Dedicated"}}),
    ("AWS", {"placement": HOSTED}, {"placement": {**HOSTED, "host": {"affinity": "Mine"}}}),
    (
        "AWS",
        {"placement": {"tenancy": "host", "host": {"affinity": "AnyAvailable"}}},
        {"placement": {"tenancy": "host", "host": {}}},
    ),
    (
        "AWS",
        {"placement": HOSTED},
        {"placement": {**HOSTED, "host": {"affinity": "AnyAvailable", "dedicatedHost": {"id": ""}}}},
    ),
    (
        "AWS",
        {"placementGroupName": "g", "placementGroupPartition": 1},
        {"placementGroupName": "g", "placementGroupPartition": -1},
    ),
    ("AWS", {"networkInterfaceType": "EFA"}, {"networkInterfaceType": "EFA2"}),
    (
        "AWS",
        {"metadataServiceOptions": {"authentication": "Required"}},
        {"metadataServiceOptions": {"authentication": "required"}},
    ),
    ("AWS", {"deviceIndex": 1}, {"deviceIndex": "1"}),
    (
        "AWS",
        {"blockDevices": [{"ebs": {"volumeType": "gp3", "throughputMib": 2000}}]},
        {"blockDevices": [{"ebs": {"volumeType": "gp3", "throughputMib": 2001}}]},
    ),
    ("Azure", {"vnet": "", "subnet": ""}, {"subnet": ""}),
    ("Azure", {"userDataSecret": {"name": "gpu"}}, {"userDataSecret": {"name": ""}}),
    (
        "Azure",
        {"image": {"resourceID": "/resourceGroups/g"}},
        {"image": {"resourceID": "/resourceGroups/g", "sku": "a"}},
    ),
    ("Azure", {"osDisk": {"diskSizeGB": 32767}}, {"osDisk": {"diskSizeGB": 32768}}),
    ("Azure", {"osDisk": {"cachingType": "ReadOnly"}}, {"osDisk": {"cachingType": "readonly"}}),
    (
        "Azure",
        {"osDisk": {"cachingType": "ReadOnly", "diskSettings": {"ephemeralStorageLocation": "Local"}}},
        {"osDisk": {"cachingType": "ReadOnly", "diskSettings": {"ephemeralStorageLocation": "Remote"}}},
    ),
    ("Azure", {"ultraSSDCapability": "Disabled"}, {"ultraSSDCapability": "enabled"}),
    ("Azure", {"capacityReservationGroupID": GROUP}, {"capacityReservationGroupID": "/subscriptions"}),
    ("Azure", {"dataDisks": [DISK]}, {"dataDisks": [{**DISK, "diskSizeGB": 3}]}),
    (
        "Azure",
        {"dataDisks": [DISK]},
        {"dataDisks": [{key: value for key, value in DISK.items() if key != "diskSizeGB"}]},
    ),
    ("Azure", {"dataDisks": [{**DISK, "lun": 63}]}, {"dataDisks": [{**DISK, "lun": 64}]}),
    ("Azure", {"dataDisks": [DISK, {**DISK, "lun": 1}]}, {"dataDisks": [DISK, DISK]}),
    (
        "Azure",
        {"dataDisks": [{**DISK, "deletionPolicy": "Detach"}]},
        {"dataDisks": [{**DISK, "deletionPolicy": "Keep"}]},
    ),
    (
        "Azure",
        {
            "dataDisks": [
                {**DISK, "managedDisk": {"storageAccountType": "UltraSSD_LRS"}, "cachingType": "None"}
            ]
        },
        {
            "dataDisks": [
                {**DISK, "managedDisk": {"storageAccountType": "UltraSSD_LRS"}, "cachingType": "ReadOnly"}
            ]
        },
    ),
    ("GCP", {"restartPolicy": "Never"}, {"restartPolicy": "never"}),
    ("GCP", {"networkInterfaces": [NIC]}, {"networkInterfaces": [{"network": "n"}]}),
    ("GCP", {"networkInterfaces": [NIC]}, {"networkInterfaces": [{"subnetwork": "s"}]}),
    ("GCP", {"disks": [{"type": "pd-balanced", "sizeGb": 128}]}, {"disks": []}),
    ("GCP", {"disks": [{"type": "pd-ssd", "sizeGb": 16}]}, {"disks": [{"type": "pd-ssd", "sizeGb": 15}]}),
    (
        "GCP",
        {"disks": [{"type": "hyperdisk-balanced", "sizeGb": 65536}]},
        {"disks": [{"type": "pd-ssd", "sizeGb": 65537}]},
    ),
    (
        "GCP",
        {"serviceAccounts": [{"email": "a", "scopes": ["s"]}]},
        {"serviceAccounts": [{"email": "", "scopes": ["s"]}]},
    ),
    (
        "GCP",
        {"serviceAccounts": [{"email": "a", "scopes": ["s"]}]},
        {"serviceAccounts": [{"email": "a", "scopes": []}]},
    ),
    *(
        ("GCP", {"shieldedInstanceConfig": {key: "Enabled"}}, {"shieldedInstanceConfig": {key: "On"}})
        for key in ("secureBoot", "integrityMonitoring")
    ),
    (
        "GCP",
        {
            "shieldedInstanceConfig": {
                "virtualizedTrustedPlatformModule": "Disabled",
                "integrityMonitoring": "Disabled",
            }
        },
        {"shieldedInstanceConfig": {"virtualizedTrustedPlatformModule": "No"}},
    ),
    ("VSphere", {"template": "rhcos-gpu-2"}, {"template": None}),
    ("VSphere", {"workspace": {"server": "vcenter2.example.com"}}, {"workspace": {"server": ""}}),
    ("VSphere", {"workspace": {"folder": "/dc/vm/gpu"}}, {"workspace": {"folder": "/dc/gpu"}}),
    ("VSphere", {"workspace": {"vmGroup": "g" * 80}}, {"workspace": {"vmGroup": "g" * 81}}),
    (
        "VSphere",
        {"network": {"devices": [{"networkName": "a"}] * 10}},
        {"network": {"devices": [{"networkName": "a"}] * 11}},
    ),
    (
        "VSphere",
        {"network": {"devices": [{"networkName": "a"}]}},
        {"network": {"devices": [{"networkName": ""}]}},
    ),
    ("VSphere", {"tagIDs": [TAG] * 10}, {"tagIDs": [TAG] * 11}),
    (
        "VSphere",
        {"dataDisks": [{"name": "d", "sizeGiB": 16384}]},
        {"dataDisks": [{"name": "d", "sizeGiB": 16385}]},
    ),
    (
        "VSphere",
        {"dataDisks": [{"name": "d", "sizeGiB": 1}] * 29},
        {"dataDisks": [{"name": "d", "sizeGiB": 1}] * 30},
    ),
    ("VSphere", {"dataDisks": [{"name": "d", "sizeGiB": 1}]}, {"dataDisks": [{"name": "d"}]}),
    ("VSphere", {"dataDisks": [{"name": "d", "sizeGiB": 1}]}, {"dataDisks": [{"sizeGiB": 1}]}),
    (
        "VSphere",
        {"dataDisks": [{"name": "d", "sizeGiB": 1, "provisioningMode": "Thick"}]},
        {"dataDisks": [{"name": "d", "sizeGiB": 1, "provisioningMode": "thick"}]},
    ),
    ("Nutanix", {"cluster": {"type": "name", "name": "c"}}, {"cluster": {"type": "name"}}),
    ("Nutanix", {"image": {"type": "uuid", "uuid": "1"}}, {"image": {"type": "uuid"}}),
    ("Nutanix", {"subnets": [{"type": "name", "name": "a"}]}, {"subnets": [{"type": "name"}]}),
    (
        "Nutanix",
        {"subnets": [{"type": "name", "name": "a"}, {"type": "name", "name": "b"}]},
        {"subnets": [{"type": "name", "name": "a"}] * 2},
    ),
    (
        "Nutanix",
        {"subnets": [{"type": "name", "name": str(one)} for one in range(32)]},
        {"subnets": [{"type": "name", "name": str(one)} for one in range(33)]},
    ),
    ("Nutanix", {"project": {"type": "name", "name": "p"}}, {"project": {"type": "name"}}),
    ("Nutanix", {"bootType": "UEFI"}, {"bootType": "uefi"}),
    ("Nutanix", {"categories": [{"key": "a", "value": "b"}]}, {"categories": [{"key": "", "value": "b"}]}),
    (
        "Nutanix",
        {"categories": [{"key": "a", "value": "b"}]},
        {"categories": [{"key": "a", "value": "b" * 65}]},
    ),
    (
        "Nutanix",
        {"categories": [{"key": "a" * 64, "value": "b"}]},
        {"categories": [{"key": "a" * 65, "value": "b"}]},
    ),
    ("Nutanix", {"categories": [{"key": "a", "value": "b"}]}, {"categories": [{"key": "a", "value": ""}]}),
    ("Nutanix", {"dataDisks": [{"diskSize": "1Gi"}]}, {"dataDisks": [{"diskSize": "512Mi"}]}),
    *(
        (name, {"credentialsSecret": {"name": "own"}}, {"credentialsSecret": {"name": ""}})
        for name in ("Azure", "GCP", "VSphere", "Nutanix")
    ),
    *(
        (name, {"userDataSecret": {"name": "own"}}, {"userDataSecret": {"name": ""}})
        for name in ("GCP", "VSphere", "Nutanix")
    ),
]
# What no patch may say, though the webhook lets it pass: every later step goes by what the pool says.
SAID_BY_THE_POOL: t.Final[list[tuple[str, Data]]] = [
    ("AWS", {"instanceType": "g4dn.xlarge"}),
    ("AWS", {"placement": {"availabilityZone": "us-east-2b"}}),
    ("Azure", {"vmSize": "Standard_NC8as_T4_v3"}),
    ("Azure", {"zone": "2"}),
    ("GCP", {"zone": "us-central1-b"}),
    ("GCP", {"machineType": "g2-standard-4"}),
]
# What the webhook refuses for the cluster's sake, which only the rehearsal of a new set tells: this cluster
# is published inside alone.
OF_THE_CLUSTER: t.Final = ({"publicIP": True},)
# What the webhook lets pass and we refuse: a pool says these itself, or the cloud would refuse the machine
# later.
STRICTER: t.Final[dict[str, set[str]]] = {"GCP": {"machineType", "gpus"}, "Azure": {"spotVMOptions"}}


def ours(platform: str, patch: Data) -> list[Data]:
    """The problems that our own check has with a pool of that patch, without any request."""
    pool = {
        "name": "training",
        "replicas": 1,
        "candidates": [{**CANDIDATES[platform], "provider_spec_patch": patch}],
    }
    try:
        pool_builders.plan([pool], cloud=PLATFORMS[platform].KEY)
    except InputError as exc:
        return list(exc.facts["problems"])
    return []


@pytest.mark.parametrize(
    ("platform", "patch"),
    [*((platform, patch) for platform, patch, _text in REFUSED), *((one[0], one[2]) for one in PAIRS)],
)
def test_what_the_webhook_refuses_is_refused_before_it_is_asked(platform: str, patch: Data) -> None:
    assert judged(platform, patch).errors
    found = ours(platform, patch)
    if patch in OF_THE_CLUSTER:
        assert found == []
        return
    assert {
        one["path"].partition("provider_spec_patch.")[2].partition(".")[0].partition("[")[0] for one in found
    } <= set(patch), found
    assert found
    assert all(one["remedy"] for one in found)


@pytest.mark.parametrize(("platform", "patch"), [*ACCEPTED, *((one[0], one[1]) for one in PAIRS)])
def test_what_it_lets_pass_passes_here_too(platform: str, patch: Data) -> None:
    assert judged(platform, patch).errors == []
    assert bool(ours(platform, patch)) == bool(STRICTER.get(platform, set()) & set(patch))


@pytest.mark.parametrize(("platform", "patch"), SAID_BY_THE_POOL)
def test_what_the_pool_says_is_not_patched(platform: str, patch: Data) -> None:
    (found,) = ours(platform, patch)
    assert judged(platform, patch).errors == []
    assert found["code"] in ("POOL-PROVIDER-VALUE", "POOL-PLATFORM")


@pytest.mark.parametrize(
    ("platform", "rule"),
    [(name, rule) for name in CANDIDATES for rule in patch_values.RULES[PLATFORMS[name].KEY]],
)
def test_every_rule_has_a_case(platform: str, rule: patch_values.Rule) -> None:
    """By the field; a rule that no patch breaks could be wrong for ever."""
    cases = [
        *((name, one) for name, one, _text in REFUSED),
        *((name, one) for name, _good, one in PAIRS),
        *SAID_BY_THE_POOL,
    ]
    refused = [one for name, one in cases if name == platform]
    values = [
        value
        for patch in refused
        for _path, value in patch_values._at(patch, rule.path.split("."), "", False)
    ]
    assert [value for value in values if not rule.holds(value)]
