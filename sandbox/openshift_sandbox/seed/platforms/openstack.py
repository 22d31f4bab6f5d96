# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the installer writes about OpenStack: provider specifications, addresses and names of servers."""

from __future__ import annotations

import typing as t

from openshift_sandbox.seed.names import identity
from openshift_sandbox.seed.platforms import flat_network

Object = dict[str, t.Any]

machine_set, address = flat_network.machine_set, flat_network.address
host_name, node_zone = flat_network.host_name, flat_network.node_zone

CREDENTIALS: t.Final = "openstack-cloud-credentials"
CLOUD: t.Final = "openstack"
RUNNING: t.Final = "ACTIVE"
VIPS: t.Final = {
    "apiServerInternalIPs": ["10.0.0.5"],
    "ingressIPs": ["10.0.0.7"],
    "machineNetworks": ["10.0.0.0/16"],
}


def provider_spec(cluster: Object, role: str, zone: str, instance_type: str) -> Object:
    name = cluster["infrastructure_name"]
    owned = f"openshiftClusterID={name}"
    return {
        "apiVersion": "machine.openshift.io/v1alpha1",
        "kind": "OpenstackProviderSpec",
        "metadata": {"creationTimestamp": None},
        **({"availabilityZone": zone} if zone else {}),
        "cloudName": CLOUD,
        "cloudsSecret": {"name": CREDENTIALS, "namespace": "openshift-machine-api"},
        "flavor": instance_type,
        "image": f"{name}-rhcos",
        "networks": [{"filter": {}, "subnets": [{"filter": {"name": f"{name}-nodes", "tags": owned}}]}],
        "securityGroups": [{"filter": {}, "name": f"{name}-{role}"}],
        "serverGroupName": f"{name}-{role}"
        if role == "master"
        else f"{name}-worker-{zone}"
        if zone
        else f"{name}-worker",
        "serverMetadata": {"Name": f"{name}-{role}", "openshiftClusterID": name},
        "tags": [owned],
        "trunk": True,
        "userDataSecret": {"name": f"{role}-user-data"},
    }


def platform_spec(cluster: Object) -> Object:
    return {"openstack": dict(VIPS)}


def platform_status(cluster: Object) -> Object:
    return {
        "openstack": VIPS
        | {
            "apiServerInternalIP": VIPS["apiServerInternalIPs"][0],
            "cloudName": CLOUD,
            "ingressIP": VIPS["ingressIPs"][0],
        }
    }


def machine_annotations(cluster: Object, name: str) -> dict[str, str]:
    return {"machine.openshift.io/instance-state": RUNNING} | {"openstack-resourceId": identity(name)}


def provider_status(cluster: Object, name: str, provider_id: str) -> None:
    """Return None: the provider keeps no status."""


def provider_id(cluster: Object, zone: str, name: str) -> str:
    return f"openstack:///{identity(name)}"


def node_labels(cluster: Object, zone: str) -> dict[str, str]:
    return {"topology.cinder.csi.openstack.org/zone": zone}
