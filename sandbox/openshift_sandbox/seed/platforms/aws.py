# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the installer writes about AWS: provider specifications, addresses and instance names."""

from __future__ import annotations

import hashlib
import typing as t

Object = dict[str, t.Any]

CREDENTIALS: t.Final = "aws-cloud-credentials"
RUNNING: t.Final = "running"


def platform_spec(cluster: Object) -> Object:
    return {"aws": {}}


def platform_status(cluster: Object) -> Object:
    tags = [
        {"key": key, "value": value} for key, value in sorted((cluster.get("resource_tags") or {}).items())
    ]
    return {"aws": {"region": cluster["region"], **({"resourceTags": tags} if tags else {})}}


def provider_spec(cluster: Object, role: str, zone: str, instance_type: str) -> Object:
    name = cluster["infrastructure_name"]
    return {
        "apiVersion": "machine.openshift.io/v1beta1",
        "kind": "AWSMachineProviderConfig",
        "metadata": {"creationTimestamp": None},
        "ami": {"id": cluster["image_id"]},
        "blockDevices": [
            {
                "ebs": {
                    "encrypted": True,
                    "iops": 0,
                    "kmsKey": {"arn": ""},
                    "volumeSize": 120,
                    "volumeType": "gp3",
                }
            }
        ],
        "capacityReservationId": "",
        "credentialsSecret": {"name": CREDENTIALS},
        "deviceIndex": 0,
        "iamInstanceProfile": {"id": f"{name}-{role}-profile"},
        "instanceType": instance_type,
        "metadataServiceOptions": {},
        "placement": {"availabilityZone": zone, "region": cluster["region"]},
        "securityGroups": [
            _filter(f"{name}-node"),
            _filter(f"{name}-lb" if role == "worker" else f"{name}-controlplane"),
        ],
        "subnet": _filter(f"{name}-subnet-private-{zone}"),
        "tags": [{"name": f"kubernetes.io/cluster/{name}", "value": "owned"}],
        "userDataSecret": {"name": f"{role}-user-data"},
    }


def machine_annotations(cluster: Object, name: str) -> dict[str, str]:
    return {"machine.openshift.io/instance-state": RUNNING}


def provider_status(cluster: Object, name: str, provider_id: str) -> Object:
    return {"instanceId": provider_id.rpartition("/")[2], "instanceState": RUNNING}


def provider_id(cluster: Object, zone: str, name: str) -> str:
    return f"aws:///{zone}/i-0{hashlib.sha256(name.encode()).hexdigest()[:16]}"


def machine_set(cluster: Object, zone: str) -> str:
    return f"{cluster['infrastructure_name']}-worker-{zone}"


def address(cluster: Object, zone: str, number: int) -> str:
    return f"10.0.{64 * cluster['zones'].index(zone)}.{number + 4}"


def host_name(cluster: Object, machine: str, address: str) -> str:
    return f"ip-{address.replace('.', '-')}.{cluster['region']}.compute.internal"


def node_zone(cluster: Object, zone: str) -> str:
    return zone


def node_labels(cluster: Object, zone: str) -> dict[str, str]:
    return {"topology.ebs.csi.aws.com/zone": zone}


def _filter(value: str) -> Object:
    return {"filters": [{"name": "tag:Name", "values": [value]}]}
