# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Nodes, Machines and MachineSets as OpenShift's installer and the kubelets make them."""

from __future__ import annotations

import hashlib
import typing as t

from openshift_sandbox.hardware.instance_types import DESCRIPTION, InstanceType, described, instance_type
from openshift_sandbox.seed.platforms.registry import platform

Object = dict[str, t.Any]

MACHINE_NAMESPACE: t.Final = "openshift-machine-api"
MACHINE_API: t.Final = "machine.openshift.io/v1beta1"
CONTROL_PLANE_TAINT: t.Final = {"key": "node-role.kubernetes.io/master", "effect": "NoSchedule"}
ROLES: t.Final = {"master": ("control-plane", "master"), "both": ("control-plane", "master", "worker")}
UNKNOWN_HARDWARE: t.Final = InstanceType("unknown", 8, 32)


def node_manifest(
    cluster: Object,
    *,
    name: str,
    instance_type_name: str,
    zone: str,
    address: str,
    provider_id: str,
    role: str = "worker",
    machine: str | None = None,
    labels: t.Mapping[str, str] | None = None,
    taints: t.Sequence[Object] = (),
    description: str | None = None,
) -> Object:
    """Return a Node as its kubelet registers it, with its status: create it with POST.

    `cluster` is the scenario's map of that name.
    """
    hardware = (
        described(description) if description else instance_type(instance_type_name) or UNKNOWN_HARDWARE
    )
    annotations = _node_annotations(cluster, role, machine, description)
    standard = node_labels(cluster, name, instance_type_name, zone, role, hardware.arch)
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": {**standard, **(labels or {})}, "annotations": annotations},
        "spec": {
            **({"providerID": provider_id} if provider_id else {}),
            **({"taints": list(taints)} if taints else {}),
        },
        "status": node_status(cluster, hardware, name, address),
    }


def _node_annotations(
    cluster: Object, role: str, machine: str | None, description: str | None
) -> dict[str, str]:
    configuration = rendered(cluster, "worker" if role == "worker" else "master")
    return {
        "machineconfiguration.openshift.io/state": "Done",
        "machineconfiguration.openshift.io/currentConfig": configuration,
        "machineconfiguration.openshift.io/desiredConfig": configuration,
        **({DESCRIPTION: description} if description else {}),
        **({"machine.openshift.io/machine": f"{MACHINE_NAMESPACE}/{machine}"} if machine else {}),
    }


def node_labels(cluster: Object, name: str, kind: str, zone: str, role: str, arch: str) -> dict[str, str]:
    """Return the labels of a Node."""
    where = platform(cluster)
    node_zone = where.node_zone(cluster, zone)
    region = cluster["region"] if node_zone else ""
    standard = {
        "beta.kubernetes.io/arch": arch,
        "beta.kubernetes.io/instance-type": kind,
        "beta.kubernetes.io/os": "linux",
        "failure-domain.beta.kubernetes.io/region": region,
        "failure-domain.beta.kubernetes.io/zone": node_zone,
        "kubernetes.io/arch": arch,
        "kubernetes.io/hostname": name,
        "kubernetes.io/os": "linux",
        "node.kubernetes.io/instance-type": kind,
        "node.openshift.io/os_id": os_id(str(cluster["version"])),
        "topology.kubernetes.io/region": region,
        "topology.kubernetes.io/zone": node_zone,
    }
    known = {key: value for key, value in (standard | where.node_labels(cluster, zone)).items() if value}
    return {f"node-role.kubernetes.io/{one}": "" for one in ROLES.get(role, (role,))} | known


def os_id(version: str) -> str:
    """Return the name that RHCOS gives itself: RHEL, from OpenShift 4.19 on."""
    major, minor = version.split(".")[:2]
    return "rhel" if (int(major), int(minor)) >= (4, 19) else "rhcos"


def node_status(cluster: Object, hardware: InstanceType, name: str, address: str) -> Object:
    """Return the status of a Node: capacity, conditions, addresses, node info."""
    identity = hashlib.sha256(f"{cluster['infrastructure_name']}/{name}".encode()).hexdigest()
    kernel = str(cluster["kernel"])
    if hardware.arch != "amd64":
        kernel = kernel.replace("x86_64", "aarch64")
    capacity = {
        "cpu": str(hardware.vcpus),
        "memory": f"{hardware.memory_gib}Gi",
        "pods": "250",
        "ephemeral-storage": "125277164Ki",
    }
    reserved = {
        "cpu": f"{hardware.vcpus * 1000 - 500}m",
        "memory": f"{hardware.memory_gib * 1024 - 1126}Mi",
        "ephemeral-storage": "115455434152",
    }
    return {
        "capacity": capacity,
        "allocatable": capacity | reserved,
        "addresses": [
            {"type": "InternalIP", "address": address},
            {"type": "InternalDNS", "address": name},
            {"type": "Hostname", "address": name},
            {"type": "ExternalDNS", "address": "localhost"},  # the port of the simulated kubelets
        ],
        "nodeInfo": {
            "architecture": hardware.arch,
            "bootID": _uuid(identity),
            "containerRuntimeVersion": "cri-o://1.35.2-3.rhaos4.22.git8a1c3d5.el9",
            "kernelVersion": kernel,
            "kubeProxyVersion": "",
            "kubeletVersion": cluster["kubelet"],
            "machineID": identity[:32],
            "operatingSystem": "linux",
            "osImage": f"Red Hat Enterprise Linux CoreOS {cluster['ostree_version']} (Plow)",
            "systemUUID": _uuid(identity[::-1]),
        },
    }


def machine_set(cluster: Object, name: str, provider_spec: Object, kind: str, replicas: int) -> Object:
    """Return a MachineSet."""
    infrastructure = cluster["infrastructure_name"]
    selected = {
        "machine.openshift.io/cluster-api-cluster": infrastructure,
        "machine.openshift.io/cluster-api-machineset": name,
    }
    return {
        "apiVersion": MACHINE_API,
        "kind": "MachineSet",
        "metadata": {
            "name": name,
            "namespace": MACHINE_NAMESPACE,
            "labels": {"machine.openshift.io/cluster-api-cluster": infrastructure},
            "annotations": scale_from_zero(cluster, kind),
        },
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": selected},
            "template": {
                "metadata": {"labels": selected | _role_labels("worker")},
                "spec": {"lifecycleHooks": {}, "metadata": {}, "providerSpec": {"value": provider_spec}},
            },
        },
        "status": {
            "replicas": replicas,
            "fullyLabeledReplicas": replicas,
            "readyReplicas": replicas,
            "availableReplicas": replicas,
            "observedGeneration": 1,
        },
    }


def scale_from_zero(cluster: Object, kind: str) -> dict[str, str]:
    """Return what the provider has told the autoscaler so far.

    On other platforms the stand-ins write it when they first see the MachineSet.
    """
    hardware = instance_type(kind)
    if hardware is None or cluster["platform"] not in {"AWS", "Azure", "GCP"}:
        return {}
    return {
        "capacity.cluster-autoscaler.kubernetes.io/labels": f"kubernetes.io/arch={hardware.arch}",
        "machine.openshift.io/GPU": str(hardware.gpus),
        "machine.openshift.io/memoryMb": str(hardware.memory_gib * 1024),
        "machine.openshift.io/vCPU": str(hardware.vcpus),
    }


def machine(
    cluster: Object, name: str, role: str, zone: str, kind: str, node: Object, owner: Object | None = None
) -> Object:
    """Return a Machine that is Running, with its Node."""
    where = platform(cluster)
    provider_id = node["spec"].get("providerID", "")
    provider_status = where.provider_status(cluster, name, provider_id)
    return {
        "apiVersion": MACHINE_API,
        "kind": "Machine",
        "metadata": {
            "name": name,
            "namespace": MACHINE_NAMESPACE,
            "annotations": where.machine_annotations(cluster, name),
            "finalizers": ["machine.machine.openshift.io"],
            "labels": _machine_labels(cluster, role, zone, kind, owner),
            **({"ownerReferences": [_owned_by(owner)]} if owner else {}),
        },
        "spec": {
            "lifecycleHooks": {},
            "metadata": {},
            "providerID": provider_id,
            "providerSpec": {"value": where.provider_spec(cluster, role, zone, kind)},
        },
        "status": {
            "phase": "Running",
            "nodeRef": {"kind": "Node", "name": node["metadata"]["name"]},
            "addresses": [one for one in node["status"]["addresses"] if one["type"] != "ExternalDNS"],
            **({"providerStatus": provider_status} if provider_status else {}),
        },
    }


def _machine_labels(cluster: Object, role: str, zone: str, kind: str, owner: Object | None) -> dict[str, str]:
    told = {"region": cluster["region"] if zone else "", "zone": zone, "instance-type": kind}
    labels: dict[str, str] = {
        "machine.openshift.io/cluster-api-cluster": cluster["infrastructure_name"],
        **_role_labels(role),
        **{f"machine.openshift.io/{key}": value for key, value in told.items() if value},
    }
    if owner:
        labels["machine.openshift.io/cluster-api-machineset"] = owner["metadata"]["name"]
    return labels


def _owned_by(machine_set: Object) -> Object:
    return {
        "apiVersion": MACHINE_API,
        "kind": "MachineSet",
        "name": machine_set["metadata"]["name"],
        "uid": machine_set["metadata"]["uid"],
        "controller": True,
        "blockOwnerDeletion": True,
    }


def rendered(cluster: Object, pool: str) -> str:
    """Return the name of the rendered MachineConfig of a pool."""
    digest = hashlib.sha256(f"{cluster['version']}/{pool}".encode()).hexdigest()
    return f"rendered-{pool}-{digest[:32]}"


def _role_labels(role: str) -> dict[str, str]:
    return {
        "machine.openshift.io/cluster-api-machine-role": role,
        "machine.openshift.io/cluster-api-machine-type": role,
    }


def _uuid(digest: str) -> str:
    return "-".join((digest[:8], digest[8:12], digest[12:16], digest[16:20], digest[20:32]))
