# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the installer writes about Nutanix: failure domains, provider specifications, names, addresses."""

from __future__ import annotations

import typing as t

from openshift_sandbox.seed.names import identity
from openshift_sandbox.seed.platforms import flat_network

Object = dict[str, t.Any]

machine_set, address = flat_network.machine_set, flat_network.address
host_name, node_zone = flat_network.host_name, flat_network.node_zone

CREDENTIALS: t.Final = "nutanix-credentials"
PRISM_CENTRAL: t.Final = {"address": "prism-central.example.com", "port": 9440}
VIPS: t.Final = {"apiServerInternalIPs": ["10.0.0.2"], "ingressIPs": ["10.0.0.3"]}
CPUS: t.Final = 8
MEMORY: t.Final = "32768Mi"
RUNNING: t.Final = "COMPLETE"
NODE_TYPE: t.Final = "ahv-vm"


def failure_domain(zone: str) -> Object:
    """Return the failure domain of a zone: a Prism Element, the cluster that virtual machines run on."""
    return {
        "name": f"fd-{zone}",
        "cluster": {"type": "UUID", "uuid": identity(f"cluster/{zone}")},
        "subnets": [{"type": "UUID", "uuid": identity(f"subnet/{zone}")}],
    }


def provider_spec(cluster: Object, role: str, zone: str, instance_type: str) -> Object:
    """Return the provider specification. It contains the size, since there are no instance types."""
    domain = failure_domain(zone)
    return {
        "apiVersion": "machine.openshift.io/v1",
        "kind": "NutanixMachineProviderConfig",
        "metadata": {"creationTimestamp": None},
        "bootType": "",
        "categories": None,
        "cluster": domain["cluster"] | {"type": "uuid"},
        "credentialsSecret": {"name": CREDENTIALS},
        "dataDisks": None,
        "failureDomain": {"name": domain["name"]},
        "gpus": None,
        "image": {"type": "name", "name": f"{cluster['infrastructure_name']}-rhcos"},
        "memorySize": MEMORY,
        "project": {"type": ""},
        "subnets": [subnet | {"type": "uuid"} for subnet in domain["subnets"]],
        "systemDiskSize": "120Gi",
        "userDataSecret": {"name": f"{role}-user-data"},
        "vcpuSockets": CPUS,
        "vcpusPerSocket": 1,
    }


def platform_spec(cluster: Object) -> Object:
    elements = [
        {"name": zone, "endpoint": {"address": f"{zone}.example.com", "port": 9440}}
        for zone in cluster["zones"]
    ]
    return {
        "nutanix": {
            "failureDomains": [failure_domain(zone) for zone in cluster["zones"]],
            "prismCentral": PRISM_CENTRAL,
            "prismElements": elements,
        }
    }


def platform_status(cluster: Object) -> Object:
    return {
        "nutanix": VIPS
        | {"apiServerInternalIP": VIPS["apiServerInternalIPs"][0], "ingressIP": VIPS["ingressIPs"][0]}
    }


def machine_annotations(cluster: Object, name: str) -> dict[str, str]:
    return {"machine.openshift.io/instance-state": RUNNING} | {
        "machine.openshift.io/instance-power-state": "ON"
    }


def provider_status(cluster: Object, name: str, provider_id: str) -> Object:
    return {"vmUUID": provider_id.rpartition("/")[2]}


def provider_id(cluster: Object, zone: str, name: str) -> str:
    return f"nutanix://{identity(name)}"


def node_labels(cluster: Object, zone: str) -> dict[str, str]:
    return dict.fromkeys(("beta.kubernetes.io/instance-type", "node.kubernetes.io/instance-type"), NODE_TYPE)
