# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the installer writes about Azure: provider specifications, addresses and instance names."""

from __future__ import annotations

import typing as t

Object = dict[str, t.Any]

CREDENTIALS: t.Final = "azure-cloud-credentials"
RUNNING: t.Final = "Running"


def platform_spec(cluster: Object) -> Object:
    return {"azure": {}}


def platform_status(cluster: Object) -> Object:
    group = resource_group(cluster)
    return {
        "azure": {
            "cloudName": "AzurePublicCloud",
            "resourceGroupName": group,
            "networkResourceGroupName": group,
        }
    }


def provider_spec(cluster: Object, role: str, zone: str, instance_type: str) -> Object:
    name, group = cluster["infrastructure_name"], resource_group(cluster)
    gallery = f"galleries/gallery_{name.replace('-', '_')}/images/{cluster['image_id']}/versions/latest"
    return {
        "acceleratedNetworking": True,
        "apiVersion": "machine.openshift.io/v1beta1",
        "credentialsSecret": {"name": CREDENTIALS, "namespace": "openshift-machine-api"},
        "diagnostics": {},
        "image": {
            "offer": "",
            "publisher": "",
            "resourceID": f"/resourceGroups/{group}/providers/Microsoft.Compute/{gallery}",
            "sku": "",
            "version": "",
        },
        **({"internalLoadBalancer": f"{name}-internal"} if role == "master" else {}),
        "kind": "AzureMachineProviderSpec",
        "location": cluster["region"],
        "managedIdentity": f"{name}-identity",
        "metadata": {"creationTimestamp": None},
        "networkResourceGroup": group,
        "osDisk": {
            "diskSettings": {},
            "diskSizeGB": 128,
            "managedDisk": {
                "securityProfile": {"diskEncryptionSet": {}},
                "storageAccountType": "Premium_LRS",
            },
            "osType": "Linux",
        },
        "publicIP": False,
        "publicLoadBalancer": name,
        "resourceGroup": group,
        "subnet": f"{name}-{role}-subnet",
        "userDataSecret": {"name": f"{role}-user-data"},
        "vmSize": instance_type,
        "vnet": f"{name}-vnet",
        "zone": zone,
    }


def machine_annotations(cluster: Object, name: str) -> dict[str, str]:
    return {"machine.openshift.io/instance-state": RUNNING}


def provider_status(cluster: Object, name: str, provider_id: str) -> Object:
    return {"metadata": {}, "vmId": virtual_machine(cluster, name), "vmState": RUNNING}


def provider_id(cluster: Object, zone: str, name: str) -> str:
    return f"azure://{virtual_machine(cluster, name)}"


def virtual_machine(cluster: Object, name: str) -> str:
    """Return the id of the resource."""
    group = f"/subscriptions/{cluster['subscription']}/resourceGroups/{resource_group(cluster)}"
    return f"{group}/providers/Microsoft.Compute/virtualMachines/{name}"


def machine_set(cluster: Object, zone: str) -> str:
    return f"{cluster['infrastructure_name']}-worker-{cluster['region']}{zone}"


def address(cluster: Object, zone: str, number: int) -> str:
    return f"10.0.128.{number + 4}"


def host_name(cluster: Object, machine: str, address: str) -> str:
    return machine


def node_zone(cluster: Object, zone: str) -> str:
    return f"{cluster['region']}-{zone}"


def node_labels(cluster: Object, zone: str) -> dict[str, str]:
    return {"topology.disk.csi.azure.com/zone": node_zone(cluster, zone)}


def resource_group(cluster: Object) -> str:
    """Return the name of the resource group."""
    return f"{cluster['infrastructure_name']}-rg"
