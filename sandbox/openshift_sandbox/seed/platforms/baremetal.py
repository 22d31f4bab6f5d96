# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the installer and the bare metal operator write: hosts, and the Machines that consume them."""

from __future__ import annotations

import hashlib
import typing as t

from openshift_sandbox.hardware.instance_types import DESCRIPTION, InstanceType, described
from openshift_sandbox.seed import names
from openshift_sandbox.seed.platforms.external import UNKNOWN

Object = dict[str, t.Any]

CREDENTIALS: t.Final = "metal3-ironic-password"
NAMESPACE: t.Final = "openshift-machine-api"
DEPLOY: t.Final = {"method": "install_coreos"}
HINTS: t.Final = {"deviceName": "/dev/nvme0n1"}
VIPS: t.Final = {
    "apiServerInternalIPs": ["192.168.111.5"],
    "ingressIPs": ["192.168.111.4"],
    "machineNetworks": ["192.168.111.0/24"],
}


def provider_spec(cluster: Object, role: str, zone: str, instance_type: str) -> Object:
    return {
        "apiVersion": "baremetal.cluster.k8s.io/v1alpha1",
        "kind": "BareMetalMachineProviderSpec",
        "metadata": {"creationTimestamp": None},
        "customDeploy": DEPLOY,
        "hostSelector": {},
        "image": {"checksum": "", "url": ""},
        "userData": {"name": f"{role}-user-data-managed"},
    }


def platform_spec(cluster: Object) -> Object:
    return {"baremetal": dict(VIPS)}


def platform_status(cluster: Object) -> Object:
    return {
        "baremetal": VIPS
        | {"apiServerInternalIP": VIPS["apiServerInternalIPs"][0], "ingressIP": VIPS["ingressIPs"][0]}
    }


def machine_annotations(cluster: Object, name: str) -> dict[str, str]:
    """Return the annotation that names the host of a Machine; nothing else names it."""
    mine = host_of(cluster, name)
    return {
        "machine.openshift.io/instance-state": state_of(mine),
        "metal3.io/BareMetalHost": f"{NAMESPACE}/{mine['name']}",
    }


def provider_status(cluster: Object, name: str, provider_id: str) -> None:
    """Return None: the provider keeps no status."""


def provider_id(cluster: Object, zone: str, name: str) -> str:
    """Return the providerID; it ends with the uid that the API server gave the host."""
    host = host_of(cluster, name)["name"]
    return (
        f"baremetalhost:///{NAMESPACE}/{host}/{cluster.get('host_uids', {}).get(host, names.identity(host))}"
    )


def provider_id_of(host: Object) -> str:
    """Return the providerID of a host as the API server has it."""
    metadata = host["metadata"]
    return f"baremetalhost:///{metadata['namespace']}/{metadata['name']}/{metadata['uid']}"


def machine_set(cluster: Object, zone: str) -> str:
    return f"{cluster['infrastructure_name']}-worker-0"


def address(cluster: Object, zone: str, number: int) -> str:
    """Return an address: the control plane first, then workers, in the order of their hosts."""
    return f"192.168.111.{number + 20}"


def host_name(cluster: Object, machine: str, address: str) -> str:
    return str(host_of(cluster, machine)["name"])


def node_zone(cluster: Object, zone: str) -> str:
    return zone


def node_labels(cluster: Object, zone: str) -> dict[str, str]:
    """Return no labels of type and zone: without a cloud nobody knows them."""
    return dict.fromkeys(UNKNOWN, "")


def consumers(cluster: Object) -> dict[str, str]:
    """Return the hosts of the Machines that were installed with the cluster, by Machine."""
    machines = [*names.control_plane(cluster), *names.members(cluster, machine_set(cluster, ""))]
    return dict(
        zip(
            machines,
            [
                one["name"]
                for role in ("master", "worker")
                for one in cluster["hosts"]
                if one.get("role") == role
            ],
            strict=True,
        )
    )


def host_of(cluster: Object, machine: str) -> Object:
    """Return the host of a Machine, as the scenario has it."""
    name = consumers(cluster)[machine]
    found: Object = next(one for one in cluster["hosts"] if one["name"] == name)
    return found


def state_of(wanted: Object) -> str:
    """Return the provisioning state of a host."""
    return {"master": "externally provisioned", "worker": "provisioned"}.get(
        wanted.get("role", ""), "available"
    )


def hosts(cluster: Object) -> list[Object]:
    """Return all BareMetalHosts."""
    machines = {host: machine for machine, host in consumers(cluster).items()}
    return [host(cluster, one, machines.get(one["name"])) for one in cluster["hosts"]]


def host(cluster: Object, wanted: Object, machine: str | None) -> Object:
    """Return a host that the operator has inspected.

    A host with a Machine was provisioned for it; the installer provisioned those of the control plane.
    """
    return {
        "apiVersion": "metal3.io/v1alpha1",
        "kind": "BareMetalHost",
        "metadata": {
            "name": wanted["name"],
            "namespace": NAMESPACE,
            "labels": (wanted.get("labels") or {})
            | ({"installer.openshift.io/role": "control-plane"} if wanted.get("role") == "master" else {}),
            "annotations": {DESCRIPTION: wanted["hardware"]},
        },
        "spec": _host_spec(cluster, wanted, machine),
        "status": status(cluster, wanted),
    }


def _host_spec(cluster: Object, wanted: Object, machine: str | None) -> Object:
    role = wanted.get("role")
    number = [one["name"] for one in cluster["hosts"]].index(wanted["name"]) + 1
    spec: Object = {
        "automatedCleaningMode": "metadata",
        "bmc": {
            "address": f"redfish-virtualmedia://192.168.112.{number}/redfish/v1/Systems/1",
            "credentialsName": f"{wanted['name']}-bmc-secret",
        },
        "bootMACAddress": mac(wanted["name"]),
        "bootMode": "UEFI",
        "hardwareProfile": "unknown",
        "online": machine is not None,
        "rootDeviceHints": HINTS,
    }
    if machine:
        spec["consumerRef"] = {
            "apiVersion": "machine.openshift.io/v1beta1",
            "kind": "Machine",
            "name": machine,
            "namespace": NAMESPACE,
        }
    if machine and role == "master":
        spec["externallyProvisioned"] = True
    elif machine:
        spec |= {
            "customDeploy": DEPLOY,
            "userData": {"name": "worker-user-data-managed", "namespace": NAMESPACE},
        }
    return spec


def status(cluster: Object, wanted: Object) -> Object:
    """Return what inspection finds: processors, memory, disks and network cards, but no GPUs."""
    name, state = wanted["name"], state_of(wanted)
    number = [one["name"] for one in cluster["hosts"]].index(name)
    return {
        "errorCount": 0,
        "errorMessage": "",
        "operationalStatus": "OK",
        "poweredOn": state != "available",
        "provisioningFailCount": 0,
        "hardwareProfile": "unknown",
        "hardware": _hardware(name, address(cluster, "", number), described(wanted["hardware"])),
        "provisioning": {
            "ID": names.identity(name),
            "bootMode": "UEFI",
            "rootDeviceHints": HINTS,
            "state": state,
        },
    }


def _hardware(name: str, ip: str, made_of: InstanceType) -> Object:
    return {
        "cpu": {
            "arch": "x86_64",
            "count": made_of.vcpus,
            "clockMegahertz": 2800,
            "model": "Intel(R) Xeon(R) Gold 6542Y",
        },
        "hostname": name,
        "nics": [
            {
                "name": "eno1",
                "mac": mac(name),
                "ip": ip,
                "model": "0x15b3 0x1017",
                "pxe": True,
                "speedGbps": 25,
            }
        ],
        "ramMebibytes": made_of.memory_gib * 1024,
        "storage": [
            {"name": HINTS["deviceName"], "sizeBytes": 1920383410176, "type": "NVME", "rotational": False}
        ],
        "systemVendor": {
            "manufacturer": "Example",
            "productName": "G2",
            "serialNumber": names.identity(name)[:8].upper(),
        },
    }


def mac(name: str) -> str:
    """Return the MAC address of a host."""
    digest = hashlib.sha256(name.encode()).hexdigest()
    return ":".join(["52", "54", "00", digest[:2], digest[2:4], digest[4:6]])
