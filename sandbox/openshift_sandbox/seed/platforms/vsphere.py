# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the installer writes about vSphere: failure domains, provider specifications, names, addresses."""

from __future__ import annotations

import typing as t

from openshift_sandbox.seed.names import identity
from openshift_sandbox.seed.platforms import flat_network

Object = dict[str, t.Any]

machine_set, address = flat_network.machine_set, flat_network.address
host_name, node_zone = flat_network.host_name, flat_network.node_zone

CREDENTIALS: t.Final = "vsphere-cloud-credentials"
SERVER: t.Final = "vcenter.example.com"
NETWORK: t.Final = "ocp-machines"
UNTAGGED: t.Final = "cluster-1"
VIPS: t.Final = {
    "apiServerInternalIPs": ["10.0.0.2"],
    "ingressIPs": ["10.0.0.3"],
    "machineNetworks": ["10.0.0.0/16"],
}
GENERATED: t.Final = {
    "name": "generated-failure-domain",
    "region": "generated-region",
    "zone": "generated-zone",
}
"""The failure domain of a cluster without zones: no tag in vCenter, so no labels."""
CPUS: t.Final = 8
MEMORY_MIB: t.Final = 32768
NODE_TYPE: t.Final = "vsphere-vm.cpu-{cpus}.mem-{memory}gb.os-unknown"
RUNNING: t.Final = "poweredOn"


def failure_domains(cluster: Object) -> list[Object]:
    """Return the failure domains of the cluster."""
    named = [
        {"name": f"fd-{zone}", "region": cluster["region"], "zone": zone} for zone in cluster["zones"] if zone
    ] or [GENERATED]
    return [one | {"server": SERVER, "topology": _topology(cluster, one)} for one in named]


def failure_domain(cluster: Object, zone: str) -> Object:
    """Return the failure domain of a zone."""
    return next((one for one in failure_domains(cluster) if one["zone"] == zone), failure_domains(cluster)[0])


def provider_spec(cluster: Object, role: str, zone: str, instance_type: str) -> Object:
    """Return the provider specification. It contains the size, since there are no instance types."""
    domain = failure_domain(cluster, zone)
    topology = domain["topology"]
    return {
        "apiVersion": "machine.openshift.io/v1beta1",
        "kind": "VSphereMachineProviderSpec",
        "metadata": {"creationTimestamp": None},
        "credentialsSecret": {"name": CREDENTIALS},
        "dataDisks": [],
        "diskGiB": 120,
        "memoryMiB": MEMORY_MIB,
        "network": {"devices": [{"networkName": network} for network in topology["networks"]]},
        "numCPUs": CPUS,
        "numCoresPerSocket": CPUS,
        "snapshot": "",
        "tagIDs": [f"urn:vmomi:InventoryServiceTag:{identity(cluster['infrastructure_name'])}:GLOBAL"],
        "template": topology["template"],
        "userDataSecret": {"name": f"{role}-user-data"},
        "workspace": {
            "datacenter": topology["datacenter"],
            "datastore": topology["datastore"],
            "folder": topology["folder"],
            "resourcePool": topology["resourcePool"],
            "server": domain["server"],
        },
    }


def platform_spec(cluster: Object) -> Object:
    vcenters = [
        {
            "server": SERVER,
            "port": 443,
            "datacenters": sorted({one["topology"]["datacenter"] for one in failure_domains(cluster)}),
        }
    ]
    return {
        "vsphere": VIPS
        | {
            "failureDomains": failure_domains(cluster),
            "nodeNetworking": {"external": {}, "internal": {}},
            "vcenters": vcenters,
        }
    }


def platform_status(cluster: Object) -> Object:
    return {
        "vsphere": VIPS
        | {"apiServerInternalIP": VIPS["apiServerInternalIPs"][0], "ingressIP": VIPS["ingressIPs"][0]}
    }


def machine_annotations(cluster: Object, name: str) -> dict[str, str]:
    return {"machine.openshift.io/instance-state": RUNNING}


def provider_status(cluster: Object, name: str, provider_id: str) -> Object:
    return {"instanceId": provider_id.rpartition("/")[2], "instanceState": RUNNING}


def provider_id(cluster: Object, zone: str, name: str) -> str:
    return f"vsphere://{identity(name)}"


def node_labels(cluster: Object, zone: str) -> dict[str, str]:
    return node_type(CPUS, MEMORY_MIB // 1024)


def node_type(cpus: int, memory_gib: int) -> dict[str, str]:
    """Return labels with a type made of the size: it is no instance type that a Machine could ask for."""
    return dict.fromkeys(
        ("beta.kubernetes.io/instance-type", "node.kubernetes.io/instance-type"),
        NODE_TYPE.format(cpus=cpus, memory=memory_gib),
    )


def tags(value: Object) -> tuple[str, str]:
    """Return region and zone of a provider specification.

    They are tags on its datacenter and its compute cluster, with the same names.
    """
    workspace = value.get("workspace") or {}
    cell = (workspace.get("resourcePool") or "").removesuffix("/Resources").rpartition("/")[2]
    return ("", "") if cell in {"", UNTAGGED} else (str(workspace.get("datacenter")), cell)


def _topology(cluster: Object, domain: Object) -> Object:
    """Return the topology: a datacenter is a region, a compute cluster a zone."""
    infrastructure, datacenter = cluster["infrastructure_name"], cluster["datacenter"]
    cell = domain["zone"] if domain is not GENERATED else UNTAGGED
    compute, (region, zone) = f"/{datacenter}/host/{cell}", (domain["region"], domain["zone"])
    return {
        "computeCluster": compute,
        "datacenter": datacenter,
        "datastore": f"/{datacenter}/datastore/{cell}-vsan",
        "folder": f"/{datacenter}/vm/{infrastructure}",
        "networks": [NETWORK],
        "resourcePool": f"{compute}/Resources",
        "template": f"/{datacenter}/vm/{infrastructure}/{infrastructure}-rhcos-{region}-{zone}",
    }
