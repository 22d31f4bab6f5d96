# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the installer writes about IBM Cloud VPC: provider specifications, addresses and server names."""

from __future__ import annotations

import hashlib
import typing as t

Object = dict[str, t.Any]

CREDENTIALS: t.Final = "ibmcloud-credentials"
RUNNING: t.Final = "running"
ACCOUNT: t.Final = "1e0a4f3b0d7c4c55a1b2c3d4e5f60718"
GROUPS: t.Final = {
    "master": ("cluster-wide", "openshift-net", "control-plane", "cp-internal"),
    "worker": ("cluster-wide", "openshift-net"),
}
SUBNET_ROLES: t.Final = {"master": "control-plane", "worker": "compute"}


def provider_spec(cluster: Object, role: str, zone: str, instance_type: str) -> Object:
    name = cluster["infrastructure_name"]
    groups = [f"{name}-sg-{group}" for group in GROUPS[role]]
    return {
        "apiVersion": "ibmcloudproviderconfig.openshift.io/v1beta1",
        "kind": "IBMCloudMachineProviderSpec",
        "metadata": {"creationTimestamp": None},
        "bootVolume": {"encryptionKey": ""},
        "credentialsSecret": {"name": CREDENTIALS},
        "image": f"{name}-rhcos",
        "primaryNetworkInterface": {
            "securityGroups": groups,
            "subnet": f"{name}-subnet-{SUBNET_ROLES[role]}-{zone}",
        },
        "profile": instance_type,
        "region": cluster["region"],
        "resourceGroup": name,
        "userDataSecret": {"name": f"{role}-user-data"},
        "vpc": f"{name}-vpc",
        "zone": zone,
    }


def platform_spec(cluster: Object) -> Object:
    return {"ibmcloud": {}}


def platform_status(cluster: Object) -> Object:
    crn = f"crn:v1:bluemix:public:internet-svcs:global:a/{ACCOUNT}:0f6c9a61-7a1e-4f6c-8e0b-3c2d1e0f9a8b::"
    return {
        "ibmcloud": {
            "location": cluster["region"],
            "resourceGroupName": cluster["infrastructure_name"],
            "cisInstanceCRN": crn,
            "providerType": "VPC",
        }
    }


def machine_annotations(cluster: Object, name: str) -> dict[str, str]:
    return {"machine.openshift.io/instance-state": RUNNING}


def provider_status(cluster: Object, name: str, provider_id: str) -> Object:
    return {"instanceId": provider_id.rpartition("/")[2], "instanceState": RUNNING}


def provider_id(cluster: Object, zone: str, name: str) -> str:
    identity = instance_id(hashlib.sha256(name.encode()).hexdigest())
    return f"ibm://{ACCOUNT}///{cluster['infrastructure_name']}/{identity}"


def instance_id(digest: str) -> str:
    """Return the id of a virtual server, made of a digest."""
    return f"0757_{digest[:8]}-{digest[8:12]}-{digest[12:16]}-{digest[16:20]}-{digest[20:32]}"


def machine_set(cluster: Object, zone: str) -> str:
    return f"{cluster['infrastructure_name']}-worker-{zone.removeprefix(cluster['region'] + '-')}"


def address(cluster: Object, zone: str, number: int) -> str:
    return f"10.{240 + cluster['zones'].index(zone)}.0.{number + 4}"


def host_name(cluster: Object, machine: str, address: str) -> str:
    return machine


def node_zone(cluster: Object, zone: str) -> str:
    return zone


def node_labels(cluster: Object, zone: str) -> dict[str, str]:
    return {}
