# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the installer writes about Google Cloud: provider specifications, addresses and instance names."""

from __future__ import annotations

import typing as t

Object = dict[str, t.Any]

CREDENTIALS: t.Final = "gcp-cloud-credentials"
RUNNING: t.Final = "RUNNING"
LONGEST_HOST: t.Final = 63


def platform_spec(cluster: Object) -> Object:
    return {"gcp": {}}


def platform_status(cluster: Object) -> Object:
    return {"gcp": {"projectID": cluster["project"], "region": cluster["region"]}}


def provider_spec(cluster: Object, role: str, zone: str, instance_type: str) -> Object:
    name, project = cluster["infrastructure_name"], cluster["project"]
    image = f"projects/rhcos-cloud/global/images/{cluster['image_id']}"
    account = {
        "email": f"{name}-{role[0]}@{project}.iam.gserviceaccount.com",
        "scopes": ["https://www.googleapis.com/auth/cloud-platform"],
    }
    return {
        "apiVersion": "machine.openshift.io/v1beta1",
        "canIPForward": False,
        "credentialsSecret": {"name": CREDENTIALS},
        "deletionProtection": False,
        "disks": [
            {
                "autoDelete": True,
                "boot": True,
                "image": image,
                "labels": None,
                "sizeGb": 128,
                "type": "pd-ssd",
            }
        ],
        "kind": "GCPMachineProviderSpec",
        "machineType": instance_type,
        "metadata": {"creationTimestamp": None},
        "networkInterfaces": [{"network": f"{name}-network", "subnetwork": f"{name}-{role}-subnet"}],
        "projectID": project,
        "region": cluster["region"],
        "serviceAccounts": [account],
        "shieldedInstanceConfig": {},
        "tags": [f"{name}-{role}"],
        "userDataSecret": {"name": f"{role}-user-data"},
        "zone": zone,
    }


def machine_annotations(cluster: Object, name: str) -> dict[str, str]:
    return {"machine.openshift.io/instance-state": RUNNING}


def provider_status(cluster: Object, name: str, provider_id: str) -> Object:
    return {"instanceId": name, "instanceState": RUNNING, "metadata": {}}


def provider_id(cluster: Object, zone: str, name: str) -> str:
    return f"gce://{cluster['project']}/{zone}/{name}"


def machine_set(cluster: Object, zone: str) -> str:
    return f"{cluster['infrastructure_name']}-worker-{zone.removeprefix(cluster['region'] + '-')}"


def address(cluster: Object, zone: str, number: int) -> str:
    return f"10.0.128.{number + 4}"


def host_name(cluster: Object, machine: str, address: str) -> str:
    """Return the name of the Node.

    A name that is too long for a host is cut at its first dot, as RHCOS does.
    """
    name = f"{machine}.c.{cluster['project']}.internal"
    return name if len(name) <= LONGEST_HOST else machine


def node_zone(cluster: Object, zone: str) -> str:
    return zone


def node_labels(cluster: Object, zone: str) -> dict[str, str]:
    return {"topology.gke.io/zone": zone}
